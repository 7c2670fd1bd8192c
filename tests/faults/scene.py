"""A vault with records and a person's work in it, the write commands to try on it, and the judge of what became of it.

Every command runs in a child process through the real service, so that it can be killed, hang, or run as another user.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.errors import GitmemError
from gitmem.model.authority import Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options
from gitmem.wiring import make_vault, open_memory

from conftest import git

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
OP = parse_op_id("the-operation")
NEXT = parse_op_id("the-next-operation")
PATIENCE_S = 60
"""A child that has not ended by then hangs; none takes a tenth of it."""
TITLES = ("First finding", "Second finding", "Third finding")


@dataclass(frozen=True)
class Outcome:
    """How a child ended: ``done`` (with what it returned), ``refused`` (with the error's code), ``raw`` or ``hung``."""

    kind: str
    value: Any = None

    def __str__(self) -> str:
        return self.kind if self.kind in ("done", "hung") else f"{self.kind} {self.value}"


@dataclass(frozen=True)
class Scene:
    """Where the vault lies, and the paths and ids of its three records in the order of ``TITLES``."""

    root: Path
    records: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    @property
    def runtime(self) -> Path:
        return next((self.home / "runtime").iterdir())

    @property
    def notes(self) -> Path:
        return self.root / "notes"

    def open(self, **options: Any) -> Memory:
        settings = {"lock_wait_s": 0.2, "index_wait_s": 0.2, **options}
        return open_memory(str(self.home), str(self.home), str(self.vault), Options(**settings))

    def git(self, *args: str, check: bool = True) -> str:
        return git(self.vault, "-c", "safe.directory=*", *args, check=check)

    def files(self) -> dict[str, bytes]:
        """Return all of the work tree but ``.git``."""
        return {
            str(path.relative_to(self.vault)): path.read_bytes()
            for path in self.vault.rglob("*")
            if path.is_file() and ".git" not in path.relative_to(self.vault).parts
        }

    def porcelain(self) -> list[str]:
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def op_ids(self) -> list[str]:
        """Return the ids of the operations in the branch's history, newest first."""
        said = self.git("log", "--format=%(trailers:key=Gitmem-Op-Id,valueonly,separator=)")
        return [line for line in said.splitlines() if line]

    def person(self) -> dict[str, object]:
        """Return what is a person's here: bytes in the work tree, and entries in the staging area."""
        mine = ("mine.txt", "half.txt", "loose.txt", self.records[2])
        return {
            "files": {name: (self.vault / name).read_bytes() for name in mine},
            "staged": self.git("ls-files", "--stage", "--", *mine),
        }

    def leftovers(self) -> list[str]:
        odd = list(self.vault.rglob(".gitmem-*"))
        odd += [path for path in (self.vault / ".git").rglob("*") if path.name.startswith("gitmem-lock")]
        odd += list((self.vault / ".git").rglob("*.lock"))
        odd += list((self.vault / ".git").glob("index.*"))
        odd += list((self.vault / ".git/gitmem/journal").glob("*"))
        return sorted(str(path.relative_to(self.root)) for path in odd)


def build(root: Path) -> Scene:
    """Make the scene in the folder ``root``: three records, notes to import, and a person's open work.

    That is a staged file, a half-staged one, an untracked one, and edits of the second and the third record.
    """
    scene = Scene(root)
    (root / "notes/sub").mkdir(parents=True)
    for name in ("One", "Two", "sub/One"):
        (root / f"notes/{name}.md").write_text(f"# {name}\n\nText of {name}.\n")
    make_vault(str(scene.home), NewVault(Scope.WORKSPACE, path=str(scene.vault)), PERSON)
    with scene.open() as memory:
        made = [memory.observe(_draft(title), PERSON).records[0] for title in TITLES]
        memory.list(Filters())
    for path in [str(one.path) for one in made[1:]]:
        with open(scene.vault / path, "a") as file:
            file.write("\nA person's line.\n")
    (scene.vault / "mine.txt").write_text("staged\n")
    (scene.vault / "half.txt").write_text("staged half\n")
    scene.git("add", "mine.txt", "half.txt")
    (scene.vault / "half.txt").write_text("other half\n")
    (scene.vault / "loose.txt").write_text("not staged\n")
    return Scene(root, tuple(str(one.path) for one in made), tuple(str(one.id) for one in made))


def _draft(title: str) -> Draft:
    return Draft(title=title, body=f"What {title} says.", tags=("tool/pytest",), evidence=("run:make test",))


def _import(memory: Memory, scene: Scene) -> Receipt:
    receipt = memory.import_notes(str(scene.notes), PERSON, op_id=OP).receipt
    assert receipt is not None
    return receipt


WRITES: dict[str, Callable[[Memory, Scene], Receipt]] = {
    "observe": lambda memory, _scene: memory.observe(_draft("A new thing"), PERSON, OP),
    "edit": lambda memory, scene: memory.edit(scene.ids[0], RecordEdit(body="New text."), PERSON, OP),
    "promote": lambda memory, scene: memory.promote(scene.ids[0], PERSON, OP),
    "retire": lambda memory, scene: memory.retire(scene.ids[0], "outdated", PERSON, op_id=OP),
    "import": _import,
    "adopt": lambda memory, scene: memory.adopt([scene.records[1]], PERSON, OP),
}


def write_next(memory: Memory, _scene: Scene) -> Receipt:
    return memory.observe(_draft("The next thing"), PERSON, NEXT)


def run(scene: Scene, work: Callable[[Memory, Scene], Any], uid: int | None = None) -> Outcome:
    """Do ``work`` in a child process, as the user ``uid`` if one is given; returns how it ended."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child never comes back into this program
        pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            if uid is not None:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            os.write(writer, json.dumps(_work(scene, work)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return _await(pid, reader)
    finally:
        os.close(reader)


def _work(scene: Scene, work: Callable[[Memory, Scene], Any]) -> list[Any]:
    try:
        with scene.open() as memory:
            value = work(memory, scene)
        return ["done", {"op_id": value.op_id, "commit": value.commit} if isinstance(value, Receipt) else value]
    except GitmemError as error:
        return ["refused", error.code] if error.hint else ["raw", f"{error.code} without a hint"]
    except BaseException:
        return ["raw", traceback.format_exc()[-1500:]]


def _await(pid: int, reader: int) -> Outcome:
    deadline = time.monotonic() + PATIENCE_S
    said = b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return Outcome("hung")
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        said += chunk
    _pid, status = os.waitpid(pid, 0)
    return Outcome(*json.loads(said)) if said else Outcome("raw", f"the child died with status {status}")


def read_all(memory: Memory, scene: Scene) -> dict[str, dict[str, Any]]:
    """Return how each reading verb answers: its status, its codes, and the titles or paths that it names."""
    answers = {
        "status": memory.status(),
        "list": memory.list(Filters()),
        "search": memory.search("finding", Filters()),
        "show": memory.show(scene.ids[0]),
        "log": memory.log(),
        "check": memory.check(),
    }
    return {
        verb: {
            "status": found.status.value,
            "codes": sorted({problem.code for problem in found.diagnostics}),
            "rows": sorted({str(row.get("code", "")) for row in found.rows if row.get("severity") == "error"}),
            "titles": sorted(hit.record.title for hit in found.hits),
            "count": len(found.hits) + len(found.rows),
            "hint": bool(found.extra.get("hint")),
        }
        for verb, found in answers.items()
    }


def find_lies(answers: dict[str, dict[str, Any]]) -> list[str]:
    """Return where an answer looks whole and is not (INV-NEVER-SILENT), or says nothing about why it is not."""
    lies = []
    for verb, found in answers.items():
        fine = found["status"] in ("ok", "no-match")
        if not fine and not (found["codes"] and (found["hint"] or found["status"] == "degraded")):
            lies.append(f"{verb}: {found['status']} without a reason or a hint")
        if found["status"] in ("ok", "no-match", "degraded"):
            missing = verb in ("list", "search") and not set(TITLES[1:]) <= set(found["titles"])  # the first may retire
            missing = missing or (verb == "log" and found["count"] < 4)
            if missing and not found["codes"]:
                lies.append(f"{verb}: {found['status']}, but only {found['titles'] or found['count']}")
    return lies


def restore(template: Path, root: Path) -> None:
    """Put the folder ``root`` back to what ``template`` is; ``root`` itself may be a mount point."""
    for entry in root.iterdir() if root.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.copytree(template, root, symlinks=True, dirs_exist_ok=True)


def judge_operation(scene: Scene, before: dict[str, bytes], person: dict[str, object], said: Outcome, verb: str) -> str:
    """Check, once nothing stands in the way any more, that the operation is whole or was not (INV-OLD-OR-NEW).

    Runs the next commands first. Returns ``old`` or ``new``; raises ``AssertionError``.
    """
    next_read = run(scene, read_all)
    assert next_read.kind == "done", f"the next command: {next_read}"
    assert not find_lies(next_read.value), find_lies(next_read.value)
    assert next_read.value["check"]["rows"] == [], f"check: {next_read.value['check']}"
    assert scene.leftovers() == [], scene.leftovers()
    done = scene.op_ids().count(OP)
    if said.kind == "done":
        assert done == 1, "an operation was acknowledged and is not in history"
        assert said.value["commit"] == scene.git("rev-parse", "HEAD").strip(), "another commit was acknowledged"
    if done == 0:
        assert scene.files() == before, "the operation left something in the work tree"
    assert scene.person() == person, "a person's work was changed"
    again = run(scene, WRITES[verb])
    assert again.kind == "done", f"the same command again: {again}"
    assert said.kind != "done" or again.value["commit"] == said.value["commit"], "the retry made another commit"
    follow = run(scene, write_next)
    assert follow.kind == "done", f"the next operation: {follow}"
    ids = scene.op_ids()
    assert (ids.count(OP), ids.count(NEXT)) == (1, 1), ids
    assert scene.person() == person, "a person's work was changed"
    mine = {"A  mine.txt", "AM half.txt", "?? loose.txt", f" M {scene.records[2]}"}
    waiting = set() if verb == "adopt" else {f" M {scene.records[1]}"}
    assert set(scene.porcelain()) == mine | waiting, scene.porcelain()
    assert scene.git("fsck", "--strict", "--no-dangling") == ""
    assert scene.leftovers() == [], scene.leftovers()
    return "new" if done else "old"
