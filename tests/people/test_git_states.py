"""What a file of the vault may look like when an operation comes, and what comes of it: every state by every operation.

A refused operation changes nothing at all. One that is carried out leaves what a person has in the work tree and in the
staging area as it was. INV-PEOPLE-FIRST, INV-ALLOWLIST (docs/invariants.md).
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from gitmem.errors import GitmemError
from gitmem.model.authority import Actor
from gitmem.model.ids import RecordId
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory

from conftest import Desk, draft

ID = RecordId("m7k2q9m7k2q9")
NAME = "café-m7k2q9.md"
MINE = b"a line of mine\n"
State = Callable[[Desk, str], object]


def _write(desk: Desk, path: str, data: bytes) -> None:
    file = desk.repo / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def _has(desk: Desk, path: str) -> bytes:
    file = desk.repo / path
    return file.read_bytes() if file.exists() else b""


def _edit(desk: Desk, path: str) -> None:
    _write(desk, path, _has(desk, path) + MINE)


def _stage(desk: Desk, path: str) -> None:
    _edit(desk, path)
    desk.git("add", path)


def _half_stage(desk: Desk, path: str) -> None:
    _stage(desk, path)
    _edit(desk, path)


def _stage_and_put_back(desk: Desk, path: str) -> None:
    data = _has(desk, path)
    _stage(desk, path)
    _write(desk, path, data)


def _untrack(desk: Desk, path: str) -> None:
    desk.git("rm", "-q", "--cached", "--ignore-unmatch", path)
    _write(desk, path, _has(desk, path) or MINE)


def _ignore(desk: Desk, path: str) -> None:
    (desk.repo / ".git/info").mkdir(exist_ok=True)
    (desk.repo / ".git/info/exclude").write_text(f"{path}\n", encoding="utf-8")
    _write(desk, path, _has(desk, path) or MINE)


def _rename(desk: Desk, path: str) -> None:
    desk.git("mv", path, f"{path}.mine.md")


def _intend_to_add(desk: Desk, path: str) -> None:
    _untrack(desk, path)
    desk.git("add", "--intent-to-add", "--force", path)


def _make_executable(desk: Desk, path: str) -> None:
    file = desk.repo / path
    file.chmod(0o755)


def _make_link(desk: Desk, path: str) -> None:
    _write(desk, "promoted/elsewhere.txt", MINE)
    file = desk.repo / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(desk.repo / "promoted/elsewhere.txt")


def _make_folder(desk: Desk, path: str) -> None:
    (desk.repo / path).unlink(missing_ok=True)
    _write(desk, f"{path}/inside.txt", MINE)


def _other_case(desk: Desk, path: str) -> None:
    _write(desk, f"{os.path.dirname(path)}/{os.path.basename(path).upper()}", MINE)


def _other_form(desk: Desk, path: str) -> None:
    _write(desk, unicodedata.normalize("NFD", path), MINE)


STATES: dict[str, State] = {
    "clean": lambda _desk, _path: None,
    "edited": _edit,
    "staged": _stage,
    "half-staged": _half_stage,
    "staged, put back": _stage_and_put_back,
    "untracked": _untrack,
    "ignored": _ignore,
    "deleted": lambda desk, path: (desk.repo / path).unlink(),
    "deletion staged": lambda desk, path: desk.git("rm", "-q", path),
    "renamed": _rename,
    "intent-to-add": _intend_to_add,
    "executable": _make_executable,
    "executable, staged": lambda desk, path: (_make_executable(desk, path), desk.git("add", path)),
    "link": _make_link,
    "folder": _make_folder,
    "other case": _other_case,
    "other form": _other_form,
}
TARGET_TRACKED = (
    "clean",
    "edited",
    "staged",
    "half-staged",
    "deleted",
    "deletion staged",
    "renamed",
    "executable",
    "executable, staged",
)
"""What can only be said of a file that Git has: where none belongs, a person committed one of their own before."""


@dataclass(frozen=True)
class Operation:
    """One operation, and the path that the state is put at: the record's own, or the one where it is to come."""

    work: Callable[[Memory, str, Actor], object]
    at: Callable[[str], str]

    @property
    def is_target(self) -> bool:
        return self.at("x/y.md") != "x/y.md"


def _retired(path: str) -> str:
    month = path.split("/")[1]
    return f"retired/{month}/{os.path.basename(path)}"


OPERATIONS: dict[str, Operation] = {
    "observe": Operation(lambda memory, path, person: memory.observe(draft("Café"), person), lambda path: path),
    "edit": Operation(lambda memory, path, person: memory.edit(ID, RecordEdit(body="New."), person), lambda path: path),
    "promote": Operation(lambda memory, path, person: memory.promote(ID, person), lambda path: path),
    "promote to": Operation(
        lambda memory, path, person: memory.promote(path, person), lambda path: f"promoted/{os.path.basename(path)}"
    ),
    "retire": Operation(lambda memory, path, person: memory.retire(ID, "outdated", person), lambda path: path),
    "retire to": Operation(lambda memory, path, person: memory.retire(path, "outdated", person), _retired),
    "adopt": Operation(lambda memory, path, person: memory.adopt([path], person), lambda path: path),
    "adopt deletion to": Operation(lambda memory, path, person: memory.adopt([path], person), _retired),
}
_SOURCE = {
    "clean": "done",
    "edited": "dirty-path",
    "staged": "dirty-path",
    "half-staged": "dirty-path",
    "staged, put back": "dirty-path",
    "untracked": "dirty-path",
    "ignored": "done",  # Git has the file, so that being ignored says nothing
    "deleted": "no-such-record",
    "deletion staged": "no-such-record",
    "renamed": "dirty-path",
    "intent-to-add": "dirty-path",
    "executable": "done",  # notes are no programs: the mode on disk is not looked at
    "executable, staged": "dirty-path",
    "link": "no-such-record",
    "folder": "no-such-record",
    "other case": "done",  # names that gitmem made can't clash by chance; both files stay
    "other form": "done",
}
_TARGET = {
    "clean": "path-taken",
    "edited": "path-taken",
    "staged": "path-taken",
    "half-staged": "path-taken",
    "staged, put back": "path-taken",
    "untracked": "path-taken",
    "ignored": "path-taken",
    "deleted": "dirty-path",
    "deletion staged": "dirty-path",
    "renamed": "dirty-path",
    "intent-to-add": "path-taken",
    "executable": "path-taken",
    "executable, staged": "dirty-path",
    "link": "not-a-regular-file",
    "folder": "not-a-regular-file",
    "other case": "done",
    "other form": "done",
}
_ADOPT = {
    "clean": "nothing-to-adopt",
    "edited": "done",
    "staged": "done",
    "half-staged": "done",  # what is on disk; what was staged is kept in runtime/displaced
    "staged, put back": "nothing-to-adopt",  # what is staged alone is Git's to commit
    "untracked": "nothing-to-adopt",
    "ignored": "nothing-to-adopt",
    "deleted": "done",
    "deletion staged": "done",
    "renamed": "done",  # it lies elsewhere now: both together
    "intent-to-add": "nothing-to-adopt",
    "executable": "nothing-to-adopt",
    "executable, staged": "nothing-to-adopt",
    "link": "cannot-adopt",
    "folder": "cannot-adopt",
    "other case": "nothing-to-adopt",
    "other form": "nothing-to-adopt",
}
OUTCOMES = {
    "observe": _TARGET,
    "edit": _SOURCE,
    "promote": _SOURCE,
    "promote to": _TARGET,
    "retire": _SOURCE,
    "retire to": _TARGET,
    "adopt": _ADOPT,
    "adopt deletion to": _TARGET | {"link": "cannot-adopt", "folder": "cannot-adopt"},
}
"""What comes of each cell: ``done``, or the code of the error."""
CELLS = [(name, state) for name in OPERATIONS for state in STATES]


def snapshot(desk: Desk) -> dict[str, tuple[int, bytes]]:
    """Return mode and bytes of all that lies in the work tree."""
    found = {}
    for path in sorted(desk.repo.rglob("*")):
        inside = path.relative_to(desk.repo)
        info = path.lstat()
        if inside.parts[0] != ".git" and not stat.S_ISDIR(info.st_mode):
            data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(inside)] = (info.st_mode, data)
    return found


def seen_by_git(desk: Desk) -> tuple[str, str, str]:
    return (
        desk.git("ls-files", "-s"),
        desk.git("status", "--porcelain", "--untracked-files=all", "--ignored"),
        desk.git("rev-parse", "HEAD"),
    )


def prepare(desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch, name: str, state: str) -> tuple[str, str]:
    """Put ``state`` at the path that the operation meets; return the record's path, and that one."""
    monkeypatch.setattr("gitmem.service.draft.new_record_id", lambda: ID)
    operation = OPERATIONS[name]
    with desk.open() as memory:
        path = memory.observe(draft("Café"), person).records[0].path
    assert os.path.basename(path) == NAME
    at = operation.at(path)
    is_target = operation.is_target or name == "observe"
    if name == "observe":  # the very same operation again, on a vault that does not have the record
        desk.git("rm", "-q", path)
        desk.git("checkout", "-q", "HEAD~1", "--", "catalog.json", "INDEX.md")
        desk.git("commit", "-qm", "without the note")
    if is_target and state in TARGET_TRACKED:
        _write(desk, at, b"committed by a person\n")
        desk.git("add", at)
        desk.git("commit", "-qm", "a note of mine")
    STATES[state](desk, at)
    if name == "adopt deletion to":
        (desk.repo / path).unlink()
    with desk.open() as memory:
        memory.status()  # reading comes first: a catalog that is made only now would not be the operation's doing
    return path, at


def run(desk: Desk, person: Actor, name: str, path: str) -> str:
    try:
        with desk.open() as memory:
            receipt = OPERATIONS[name].work(memory, path, person)
    except GitmemError as error:
        return error.code
    return "done" if receipt.changed else "nothing"  # type: ignore[attr-defined]


def _without(entries: str, paths: set[str]) -> list[str]:
    """Return the lines of ``ls-files -s`` or ``status`` that are about none of ``paths``."""
    return [
        line for line in entries.splitlines() if not any(line.endswith((f" {path}", f"\t{path}")) for path in paths)
    ]


@pytest.mark.parametrize(("name", "state"), CELLS)
def test_inv_people_first_each_state_has_its_outcome_for_each_operation(
    desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch, name: str, state: str
) -> None:
    path, _at = prepare(desk, person, monkeypatch, name, state)
    files, (index, status, head) = snapshot(desk), seen_by_git(desk)
    assert run(desk, person, name, path) == OUTCOMES[name][state]
    assert desk.leftovers() == []
    if OUTCOMES[name][state] != "done":
        assert (snapshot(desk), seen_by_git(desk)) == (files, (index, status, head))
        return
    changed = set(desk.git("show", "--format=", "--name-only", "--no-renames", "HEAD").splitlines())
    assert desk.git("rev-parse", "HEAD~1") == head
    assert {one for one in changed if not os.path.basename(one).startswith(NAME)} <= {"INDEX.md", "catalog.json"}
    now, (new_index, new_status, _head) = snapshot(desk), seen_by_git(desk)
    assert {one: now[one] for one in now if one not in changed} == {
        one: files[one] for one in files if one not in changed
    }
    assert _without(new_index, changed) == _without(index, changed)
    assert new_status.splitlines() == _without(status, changed)  # its own files are clean, all else is as it was
    assert desk.git("fsck", "--strict", "--no-dangling") == ""


def test_another_spelling_of_a_persons_own_name_is_refused(desk: Desk, memory: Memory, person: Actor) -> None:
    _write(desk, "observations/Café.md", MINE)
    one = memory.adopt([], person).records[0]
    for twin in ("promoted/CAFÉ.md", unicodedata.normalize("NFD", "promoted/Café.md")):
        _write(desk, twin, MINE)
        before = (snapshot(desk), seen_by_git(desk))
        with pytest.raises(GitmemError) as refused:
            memory.promote(one.id, person)
        assert refused.value.code == "path-clash"
        assert (snapshot(desk), seen_by_git(desk)) == before
        (desk.repo / twin).unlink()
    memory.promote(one.id, person)
    desk.judge()


def test_inv_people_first_what_was_staged_of_an_adopted_note_is_kept(desk: Desk, memory: Memory, person: Actor) -> None:
    path = memory.observe(draft(), person).records[0].path
    _write(desk, path, _has(desk, path) + b"Staged.\n")
    desk.git("add", path)
    _write(desk, path, _has(desk, path).replace(b"Staged.\n", b"On disk.\n"))
    receipt = memory.adopt([path], person)
    kept = (desk.runtime / "displaced" / receipt.op_id / f"staged-{path.replace('/', '%2F')}").read_bytes()
    assert kept.endswith(b"Staged.\n")
    assert desk.git("show", f"HEAD:{path}").endswith("On disk.\n")
    assert [notice for notice in receipt.notices if "what was staged of" in notice] == list(receipt.notices)
    desk.judge()


def test_a_note_that_a_person_keeps_for_themselves_stays_so(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    (desk.repo / one.path).chmod(0o600)
    memory.edit(one.id, RecordEdit(body="New text."), person)
    assert (desk.repo / one.path).stat().st_mode & 0o777 == 0o600
    moved = memory.promote(one.id, person).records[0]
    assert (desk.repo / moved.path).stat().st_mode & 0o777 == 0o600
    desk.judge()


@pytest.mark.parametrize("place", [".gitignore", ".git/info/exclude"])
def test_an_ignored_note_is_taken_only_when_it_is_named(desk: Desk, memory: Memory, person: Actor, place: str) -> None:
    (desk.repo / ".git/info").mkdir(exist_ok=True)
    with (desk.repo / place).open("a") as ignored:
        ignored.write("mine.md\n")
    _write(desk, "observations/mine.md", MINE)
    if place == ".gitignore":
        desk.git("commit", "-qam", "ignore my notes")
    assert memory.adopt([], person).changed is False
    memory.observe(draft(), person)
    assert desk.git("ls-files", "observations/mine.md") == ""
    assert _has(desk, "observations/mine.md") == MINE
    memory.adopt(["observations/mine.md"], person)
    assert desk.git("show", "HEAD:observations/mine.md").endswith(MINE.decode())
    assert memory.check().rows == ()
    desk.judge()
