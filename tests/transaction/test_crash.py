"""Kill at every step of every kind of operation: old or new after the next command, and nothing left behind.

INV-OLD-OR-NEW, INV-ONE-COMMIT (docs/invariants.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import parse_op_id
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.transaction.ground import RECOVERY_STEPS, STEPS
from gitmem.transaction.receipts import iter_receipts
from gitmem.vault.layout import VaultLayout

from conftest import Desk, draft
from crash import run_killed

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
OP = parse_op_id("the-operation")


@dataclass(frozen=True)
class Case:
    """One operation to be killed: how to prepare, and what to do."""

    name: str
    work: Callable[[Memory, str, Path], object]


CASES = (
    Case("observe", lambda memory, _id, _notes: memory.observe(draft("A second thing"), PERSON, OP)),
    Case("edit", lambda memory, one, _notes: memory.edit(one, RecordEdit(body="New text."), PERSON, OP)),
    Case("promote", lambda memory, one, _notes: memory.promote(one, PERSON, OP)),
    Case("retire", lambda memory, one, _notes: memory.retire(one, "outdated", PERSON, op_id=OP)),
    Case("undo", lambda memory, _id, _notes: memory.undo(memory.log().rows[-2]["op_id"], PERSON, OP)),
    Case("import", lambda memory, _id, notes: memory.import_notes(str(notes), PERSON, op_id=OP)),
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    for name in ("One", "Two", "sub/One"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nText of {name}.\n", encoding="utf-8")
    return folder


def snapshot(desk: Desk) -> dict[str, bytes]:
    return {
        str(path.relative_to(desk.repo)): path.read_bytes()
        for path in desk.repo.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(desk.repo).parts
    }


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_inv_old_or_new_after_a_kill_before_each_step(desk: Desk, notes: Path, case: Case, step: str) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), PERSON).records[0].id
    before, commits = snapshot(desk), desk.commits()

    killed = run_killed(desk.open, step, lambda memory: case.work(memory, one, notes))
    assert killed or step == "write-next"

    with desk.open() as memory:
        assert memory.list(Filters()).status in ("ok", "no-match")  # any command at all comes next
    desk.judge()
    now = desk.commits()
    receipts = [receipt.op_id for receipt in iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime)))]
    if len(now) == len(commits):
        assert snapshot(desk) == before
        assert OP not in receipts
    else:
        assert len(now) == len(commits) + 1
        assert receipts.count(OP) == 1
    with desk.open() as memory:  # the same command again: done once, whatever came of the first
        case.work(memory, one, notes)
        assert not memory.check().rows
    desk.judge()
    assert len(desk.commits()) == len(commits) + 1
    receipts = [receipt.op_id for receipt in iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime)))]
    assert receipts.count(OP) == 1


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("again", RECOVERY_STEPS)
@pytest.mark.parametrize("step", ["write-next", "stage", "commit", "receipt", "index"])
def test_inv_old_or_new_when_recovery_is_killed_too(desk: Desk, step: str, again: str, nth: int) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), PERSON).records[0].id
    before, commits = snapshot(desk), desk.commits()
    assert run_killed(desk.open, step, lambda memory: memory.promote(one, PERSON, OP))
    run_killed(desk.open, again, lambda memory: memory.status(), nth)
    with desk.open() as memory:
        memory.status()
    desk.judge()
    assert [path for path in desk.repo.rglob("*") if path.name.endswith((".tmp", ".old", ".new"))] == []
    if step in ("write-next", "stage", "commit"):
        assert snapshot(desk) == before
    with desk.open() as memory:
        assert memory.promote(one, PERSON, OP).commit is not None
    desk.judge()
    assert len(desk.commits()) == len(commits) + 1


def test_inv_one_commit_when_recovery_itself_is_killed(desk: Desk) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), PERSON).records[0].id
    commits = desk.commits()
    assert run_killed(desk.open, "receipt", lambda memory: memory.promote(one, PERSON, OP))
    for _ in range(3):  # killed while it holds the locks, before it settles anything, again and again
        assert run_killed(desk.open, "marker", lambda memory: memory.status())
    with desk.open() as memory:
        assert memory.promote(one, PERSON, OP).commit is not None
    desk.judge()
    assert len(desk.commits()) == len(commits) + 1
