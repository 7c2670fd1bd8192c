"""What can happen to one file of a vault, and which files there are to happen to. For the corruption matrix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faults.scene import OP, PERSON, WRITES, Scene, build, read_all, run

from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault, run_doctor

from crash import Killer

NOBODY = 65534


def _write(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(mode)


def _flip(path: Path) -> None:
    """Flip a bit near the middle: in a text in a quotation mark, so that it is the same damage in each run."""
    data = path.read_bytes()
    place = len(data) // 2
    if b"\0" not in data and b'"' in data[place:]:
        place = data.index(b'"', place)
    _write(path, data[:place] + bytes([data[place] ^ 0x20 if data else 0x20]) + data[place + 1 :])


def _to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("something\n")


def _to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o644)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: _write(path, b""),
    "torn": lambda path: _write(path, path.read_bytes()[: path.stat().st_size // 2]),
    "flipped": _flip,
    "garbage": lambda path: _write(path, b"\x00\xffgarbage\n{[" * 40),
    "missing": lambda path: path.unlink(),
    "folder": _to_folder,
    "pipe": _to_pipe,
    "unreadable": lambda path: path.chmod(0),
}
"""``unreadable`` means something to others than root alone: run such a cell as ``NOBODY``."""


@dataclass(frozen=True)
class Target:
    """One file to damage: in which kind of vault (``base``, ``packed``, ``crashed``, ``sharded``), and where it is."""

    ground: str
    find: Callable[[Scene], Path]


def object_path(scene: Scene, revision: str) -> Path:
    """Return the loose file of the object that ``revision`` names."""
    found = scene.git("rev-parse", revision).strip()
    return scene.vault / ".git/objects" / found[:2] / found[2:]


def _git(name: str) -> Callable[[Scene], Path]:
    return lambda scene: scene.vault / ".git" / name


def _one(folder: Callable[[Scene], Path], pattern: str) -> Callable[[Scene], Path]:
    return lambda scene: sorted(folder(scene).glob(pattern))[0]


def _runtime(scene: Scene) -> Path:
    return scene.runtime


def _foreign_lock(scene: Scene) -> Path:
    path = scene.vault / ".git/index.lock"
    path.write_bytes(b"DIRC by somebody else")
    return path


def _catalog_log(scene: Scene) -> Path:
    path = scene.runtime / "catalog.sqlite-wal"
    path.write_bytes(b"7\x7f\x06\x82 left by a crash" * 40)
    return path


TARGETS: dict[str, Target] = {
    "blob": Target("base", lambda scene: object_path(scene, f"HEAD:{scene.records[0]}")),
    "tree": Target("base", lambda scene: object_path(scene, "HEAD^{tree}")),
    "subtree": Target("base", lambda scene: object_path(scene, "HEAD:observations")),
    "HEAD's commit": Target("base", lambda scene: object_path(scene, "HEAD")),
    "older commit": Target("base", lambda scene: object_path(scene, "HEAD~2")),
    "branch": Target("base", _git("refs/heads/main")),
    "packed-refs": Target("packed", _git("packed-refs")),
    "HEAD": Target("base", _git("HEAD")),
    "index": Target("base", _git("index")),
    "index.lock of another": Target("base", _foreign_lock),
    "journal": Target("crashed", _one(lambda scene: scene.vault / ".git", "gitmem/journal/*.json")),
    "receipts": Target("base", _one(_runtime, "receipts/*.jsonl")),
    "manifest.json": Target("base", lambda scene: scene.vault / "manifest.json"),
    "catalog.json": Target("base", lambda scene: scene.vault / "catalog.json"),
    "catalog shard": Target("sharded", _one(lambda scene: scene.vault, "catalog/*.json")),
    "INDEX.md": Target("base", lambda scene: scene.vault / "INDEX.md"),
    "search catalog": Target("base", lambda scene: scene.runtime / "catalog.sqlite"),
    "search catalog's log": Target("base", _catalog_log),
    "registry.json": Target("base", lambda scene: scene.home / "registry.json"),
    "vault lock": Target("base", _git("gitmem/lock")),
    "queue": Target("base", _git("gitmem/queue/0")),
    "displaced, waiting": Target("base", _one(lambda scene: scene.vault / ".git", "gitmem/displaced/*")),
    "pack": Target("packed", _one(lambda scene: scene.vault / ".git", "objects/pack/*.pack")),
    "pack index": Target("packed", _one(lambda scene: scene.vault / ".git", "objects/pack/*.idx")),
    "multi-pack index": Target("packed", _git("objects/pack/multi-pack-index")),
    "commit-graph": Target("packed", _git("objects/info/commit-graph")),
}


def build_grounds(root: Path, templates: Path) -> dict[str, Scene]:
    """Build each kind of vault in ``root``, and leave a copy of it under its name in ``templates``."""
    scenes = {"warm": _warm(root)}
    for name, prepare in (("base", _prepare), ("packed", _pack), ("crashed", _crash), ("sharded", _prepare)):
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        if name == "sharded":
            make_vault(
                str(root / "home"), NewVault(Scope.WORKSPACE, path=str(root / "vault"), catalog_shards=32), PERSON
            )
        scenes[name] = build(root)
        prepare(scenes[name])
        shutil.copytree(root, templates / name, symlinks=True)
    return scenes


def _warm(root: Path) -> Scene:
    """Load in this process what children need that may read nothing of it: they run as another user."""
    root.mkdir(exist_ok=True)
    scene = build(root)
    with scene.open() as memory:
        read_all(memory, scene)
        WRITES["observe"](memory, scene)
        memory.edit(scene.ids[0], RecordEdit(body="Warm."), PERSON)
    run_doctor(str(scene.home), str(scene.home), str(scene.vault))
    return scene


def _prepare(scene: Scene) -> None:
    """Leave a replaced file that waits for late writes, as each edit does."""
    with scene.open() as memory:
        memory.edit(scene.ids[0], RecordEdit(summary="As a summary."), PERSON)


def _pack(scene: Scene) -> None:
    _prepare(scene)
    scene.git("gc", "--quiet")
    scene.git("multi-pack-index", "write")
    scene.git("commit-graph", "write", "--reachable", "--changed-paths")


def _crash(scene: Scene) -> None:
    _prepare(scene)
    died = run(scene, _die_before_the_commit)
    assert died.kind == "raw", died
    assert list((scene.vault / ".git/gitmem/journal").glob("*.json"))


def _die_before_the_commit(_memory: Memory, scene: Scene) -> None:
    with scene.open(probe=Killer("inspect")) as memory:
        memory.edit(scene.ids[0], RecordEdit(body="Never committed."), PERSON, OP)
    raise AssertionError("the step was not reached")
