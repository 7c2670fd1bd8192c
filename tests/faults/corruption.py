"""One cell of the corruption matrix: damage one file, read and write, judge, put the good file back, judge again."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from faults.damage import DAMAGES, NOBODY, TARGETS
from faults.scene import NEXT, OP, PERSON, WRITES, Outcome, Scene, find_lies, read_all, restore, run, write_next

from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.transaction import displaced
from gitmem.wiring import run_doctor

READS = ("status", "list", "search", "check", "log")


class Cell(NamedTuple):
    """What came of it.

    ``said`` is ``STATUS LIST SEARCH CHECK LOG / OBSERVE EDIT``: the status of each read (one where all are alike, ``+``
    behind it where it names a problem), then ``done`` or the error's code. ``problems`` lists what must never be.
    """

    said: str
    problems: list[str]


def run_cell(template: Path, scene: Scene, target: str, damage: str) -> Cell:
    """Damage ``target`` in a fresh copy of ``template`` and try what a person would; see the module's docstring."""
    restore(template, scene.root)
    uid = NOBODY if damage == "unreadable" else None
    path = TARGETS[target].find(scene)
    good = scene.root.parent / "good"
    good.unlink(missing_ok=True)
    shutil.copy2(path, good)
    person = scene.person()
    DAMAGES[damage](path)
    if uid is not None:
        _give_away(scene.root, uid)
    broken = look(path)
    problems: list[str] = []
    reads = _try(scene, read_all, uid, problems, "reading")
    answers: dict[str, Any] = reads.value if reads.kind == "done" else {}
    problems += find_lies(answers)
    _try(scene, _doctor, uid, problems, "doctor")
    tree = snapshot(scene, path)
    observed = _try(scene, write_next, uid, problems, "observe")
    if observed.kind == "refused" and snapshot(scene, path) != tree:
        problems.append("observe was refused and wrote something")
    tree = snapshot(scene, path)
    edited = _try(scene, _edit, uid, problems, "edit")
    if edited.kind == "refused" and snapshot(scene, path) != tree:
        problems.append("edit was refused and wrote something")
    if uid is not None:
        _give_away(scene.root, os.getuid())
    if look(path) == broken:
        _put_back(path, good, target)
    try:
        _judge(scene, person, target, observed, edited)
    except AssertionError as error:
        problems.append(f"with the good file back: {error}")
    return Cell(_tell(reads, answers, observed, edited), problems)


def look(path: Path) -> tuple[int, bytes]:
    """Return what lies at ``path``: its kind and mode, and its bytes if it is a file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return 0, b""
    return mode, path.read_bytes() if stat.S_ISREG(mode) else b""


def snapshot(scene: Scene, damaged: Path) -> dict[str, tuple[int, bytes]]:
    """Return the work tree, the branch and the staging area, without the damaged file."""
    found = [path for path in scene.vault.rglob("*") if ".git" not in path.relative_to(scene.vault).parts]
    found += [scene.vault / ".git" / name for name in ("HEAD", "refs/heads/main", "packed-refs", "index")]
    return {str(path): look(path) for path in found if path != damaged and damaged not in path.parents}


def _try(
    scene: Scene, work: Callable[[Memory, Scene], Any], uid: int | None, problems: list[str], what: str
) -> Outcome:
    done = run(scene, _impatient(work), uid)
    if done.kind not in ("done", "refused"):
        problems.append(f"{what}: {done}")
    return done


def _impatient(work: Callable[[Memory, Scene], Any]) -> Callable[[Memory, Scene], Any]:
    def without_waiting(memory: Memory, scene: Scene) -> Any:
        displaced.WAIT_NS = 0  # in the child alone: replaced files are looked at now, not in ten seconds
        return work(memory, scene)

    return without_waiting


def _doctor(_memory: Memory, scene: Scene) -> int:
    return len(run_doctor(str(scene.home), str(scene.home), str(scene.vault)).rows)


def _edit(memory: Memory, scene: Scene) -> Any:
    return memory.edit(scene.ids[0], RecordEdit(body="Edited while something was broken."), PERSON)


def _put_back(path: Path, good: Path, target: str) -> None:
    mode = look(path)[0]
    if stat.S_ISDIR(mode):
        shutil.rmtree(path)
    elif mode:
        path.unlink()
    if target != "index.lock of another":  # to be mended by taking it away
        shutil.copy2(good, path)


def _judge(scene: Scene, person: dict[str, Any], target: str, observed: Outcome, edited: Outcome) -> None:
    reads = run(scene, read_all)
    assert reads.kind == "done", reads
    assert not find_lies(reads.value), find_lies(reads.value)
    for verb in READS:
        assert reads.value[verb]["status"] in ("ok", "no-match"), (verb, reads.value[verb])
    if target == "journal":  # nobody knows what was under way; its files wait as a person's do, and are reported
        scene.git("checkout", "--quiet", "HEAD", "--", scene.records[0])
        for name in scene.leftovers():
            path = scene.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    again = run(scene, write_next)
    assert again.kind == "done", f"observe: {again}"
    assert observed.kind != "done" or again.value["commit"] == observed.value["commit"], "done twice"
    follow = run(scene, WRITES["retire"])
    assert follow.kind == "done", f"retire: {follow}"
    ids = scene.op_ids()
    assert ids.count(NEXT) == 1, ids
    assert ids.count(OP) == 1, ids
    if edited.kind == "done":
        assert scene.git("rev-list", "HEAD").split().count(edited.value["commit"]) == 1, "an acknowledged edit is gone"
    assert scene.git("log", "--format=%s").count("observe: ") == 4, "an earlier operation is gone"
    now = scene.person()
    if target == "index":  # what was staged was in the damaged file
        now["staged"] = person["staged"]
    assert now == person, "a person's work was changed"
    assert scene.git("fsck", "--strict", "--no-dangling") == ""
    assert scene.leftovers() == [], scene.leftovers()


def _tell(reads: Outcome, answers: dict[str, Any], observed: Outcome, edited: Outcome) -> str:
    found = [answers[verb] for verb in READS if answers]
    read = [one["status"] + ("+" if one["codes"] or one["rows"] else "") for one in found] or [_code(reads)]
    return f"{' '.join(read[:1] if len(set(read)) == 1 else read)} / {_code(observed)} {_code(edited)}"


def _code(outcome: Outcome) -> str:
    return outcome.value if outcome.kind == "refused" else outcome.kind


def _give_away(root: Path, uid: int) -> None:
    os.chown(root, uid, uid)
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            os.chown(os.path.join(folder, name), uid, uid, follow_symlinks=False)
