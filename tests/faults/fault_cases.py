"""The operations that the fault matrix breaks. To add one: a ``Case`` in ``CASES``, with a vault and what to do in it.

Every vault holds records in each state, and what a person left lying there: one file staged and edited again since,
one record edited, one file nobody added. Whatever happens, these must stay as they are.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitmem.model import ids
from gitmem.model.authority import Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.vault import Options
from gitmem.transaction import maintain
from gitmem.wiring import make_vault, open_memory

from conftest import git

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
OP = parse_op_id("the-operation")


@dataclass(frozen=True)
class Ground:
    """A home, a vault, notes to bring in; always at the same place, so that copies of it are whole."""

    root: Path
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> str:
        return str(self.root / "home")

    @property
    def repo(self) -> Path:
        return self.root / "vault"

    @property
    def notes(self) -> str:
        return str(self.root / "notes")

    @property
    def runtime(self) -> Path:
        return next((self.root / "home" / "runtime").iterdir())

    def open(self) -> Memory:
        return open_memory(self.home, self.home, str(self.repo), Options(lock_wait_s=2, index_wait_s=0.2))

    def git(self, *args: str, check: bool = True) -> str:
        return git(self.repo, *args, check=check)


@dataclass(frozen=True)
class Case:
    """One operation. ``prepare`` alters the common vault, ``work`` does the operation and returns its receipt.

    ``makes_vault`` says that there is no vault before it, ``has_op_id`` that ``OP`` names its commit. ``later`` are
    files that the operation sees to after its commit, so that a kill may leave them as they were. ``clears_litter``
    says that the operation, done once more, removes whatever a kill left in the repository.
    """

    name: str
    work: Callable[[Memory, Ground], Receipt | None]
    prepare: Callable[[Ground], None] = lambda _ground: None
    has_op_id: bool = True
    makes_vault: bool = False
    later: tuple[str, ...] = ()
    clears_litter: bool = False


def seed(attempt: int = 1) -> None:
    """Make random ids the same in every run, so that what a run writes can be compared byte for byte.

    Each kind of id has a row of its own: recovery draws names for its locks too, and must not shift those of records.
    Only the ids of operations differ between attempts, as nobody names those of ``init`` and of repairs. What the
    vault is made with is attempt 0, and shares no id with what comes after.
    """
    rows: dict[str, random.Random] = {}

    def draw(count: int) -> bytes:
        asks = sys._getframe(2).f_code.co_name  # new_record_id, new_op_id, take_lock …
        row = rows.setdefault(asks, random.Random(f"{asks} {attempt if asks == 'new_op_id' else attempt > 0}"))
        return row.randbytes(count)

    ids.random_bytes = draw


def do(case: Case, ground: Ground, attempt: int = 1) -> dict[str, Any]:
    """Do the operation and return its receipt as far as it matters."""
    seed(attempt)
    if case.makes_vault:
        receipt: Receipt | None = make_vault(ground.home, NewVault(Scope.WORKSPACE, path=str(ground.repo)), PERSON)[1]
    else:
        with ground.open() as memory:
            receipt = case.work(memory, ground)
    assert receipt is not None
    return {"commit": receipt.commit, "changed": receipt.changed, "notices": list(receipt.notices)}


def make_common(ground: Ground, *, alone: bool = False) -> None:
    """Make the vault that operations work on; ``alone`` leaves out what a person left in it."""
    seed(0)
    make_vault(ground.home, NewVault(Scope.WORKSPACE, path=str(ground.repo)), PERSON)
    with ground.open() as memory:
        for name in ("first", "second", "third", "fourth"):
            draft = Draft(title=f"The {name}", body=f"Text of the {name}.", tags=("tool/git",), evidence=("run:make",))
            ground.ids[name] = memory.observe(draft, PERSON).records[0].id
        ground.ids["limit"] = memory.declare(Draft(title="A limit", kind=Kind.BOUNDARY), PERSON).records[0].id
        memory.promote(ground.ids["second"], PERSON)
        memory.retire(ground.ids["third"], "outdated", PERSON)
        memory.list(_every())
    notes = Path(ground.notes)
    (notes / "sub").mkdir(parents=True)
    for name in ("One", "Two", "sub/One"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nText of {name}.\n", encoding="utf-8")
    if not alone:
        _leave_things(ground)


def _leave_things(ground: Ground) -> None:
    (ground.repo / "plan.txt").write_text("a plan\n")
    ground.git("add", "plan.txt")
    (ground.repo / "plan.txt").write_text("a plan, and more of it\n")
    (ground.repo / "loose.txt").write_text("not added\n")
    _edit(next((ground.repo / "baseline").glob("a-limit-*.md")), "A person's words.\n")


def _edit(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def _every() -> Any:
    from gitmem.service.query import Filters

    return Filters()


def _person_commits(ground: Ground) -> None:
    _edit(next(ground.repo.glob("observations/*/the-fourth-*.md")), "Committed with Git.\n")
    (ground.repo / "observations/a-new-one.md").write_text("---\ngitmem_id: 0123456789ab\ntitle: New\n---\nText.\n")
    ground.git("add", "observations")
    ground.git("commit", "--quiet", "--only", "observations", "--message", "by hand")


def _person_moves_things(ground: Ground) -> None:
    _edit(next(ground.repo.glob("observations/*/the-first-*.md")), "More.\n")
    next(ground.repo.glob("promoted/the-second-*.md")).unlink()
    fourth = next(ground.repo.glob("observations/*/the-fourth-*.md"))
    (ground.repo / "promoted/deep").mkdir()
    fourth.rename(ground.repo / "promoted/deep" / fourth.name)
    (ground.repo / "observations/brand new.md").write_text("A new note.\n")


def _views_are_wrong(ground: Ground) -> None:
    (ground.repo / "INDEX.md").write_text("# mine now\n")
    ground.git("commit", "--quiet", "--only", "INDEX.md", "--message", "by hand")
    (ground.repo / "catalog.json").write_text("{}\n")


def _observe(memory: Memory, _ground: Ground) -> Receipt:
    return memory.observe(Draft(title="Another thing", body="Its text.", evidence=("run:make",)), PERSON, OP)


def _undo(memory: Memory, op: str) -> Receipt:
    """Take back the first operation of that kind."""
    return memory.undo([row["op_id"] for row in memory.log(limit=None).rows if row["op"] == op][-1], PERSON, OP)


def _undo_before(ground: Ground) -> None:
    with ground.open() as memory:
        memory.undo(next(row["op_id"] for row in memory.log(limit=None).rows if row["op"] == "retire"), PERSON)


def _observe_and_pack(memory: Memory, ground: Ground) -> Receipt:
    """Observe where so many loose objects seem to lie there that the end of the operation packs some."""
    usual, maintain.count_loose = maintain.count_loose, lambda _repo: 1 << 20
    try:
        return _observe(memory, ground)
    finally:
        maintain.count_loose = usual


def _maintain(memory: Memory, _ground: Ground) -> Receipt:
    """Pack all, write the commit graph, and let the catalog grow as if it were a large one."""
    usual, maintain.GROWTH = maintain.GROWTH, {1: (1, 32)}
    try:
        return memory.maintain(PERSON)[0]
    finally:
        maintain.GROWTH = usual


def _observe_three(memory: Memory, _ground: Ground) -> Receipt:
    drafts = [Draft(title=f"Line {number}", body="Its text.", evidence=("run:make",)) for number in (1, 2, 3)]
    return memory.observe_all(drafts, PERSON, OP)


CASES = {
    case.name: case
    for case in (
        Case("observe", _observe),
        Case("observe-alone", _observe),
        Case("declare", lambda memory, _g: memory.declare(Draft(title="A goal", kind=Kind.GOAL), PERSON, OP)),
        Case("edit-body", lambda memory, g: memory.edit(g.ids["first"], RecordEdit(body="New text."), PERSON, OP)),
        Case("edit-title", lambda memory, g: memory.edit(g.ids["second"], RecordEdit(title="Renamed"), PERSON, OP)),
        Case("promote", lambda memory, g: memory.promote(g.ids["first"], PERSON, OP)),
        Case("retire", lambda memory, g: memory.retire(g.ids["first"], "outdated", PERSON, op_id=OP)),
        Case(
            "supersede",
            lambda memory, g: memory.retire(g.ids["first"], "replaced", PERSON, g.ids["fourth"], op_id=OP),
        ),
        Case("restore", lambda memory, g: memory.restore(g.ids["third"], PERSON, OP)),
        Case("undo-retire", lambda memory, _g: _undo(memory, "retire")),
        Case("undo-observe", lambda memory, _g: _undo(memory, "observe")),
        Case("redo", lambda memory, _g: _undo(memory, "undo"), _undo_before),
        Case("batch", _observe_three),
        Case(
            "retire-two",
            lambda memory, g: memory.retire_all([g.ids["first"], g.ids["fourth"]], "old", PERSON, op_id=OP),
        ),
        Case("observe-packing", _observe_and_pack),
        Case("maintain", _maintain, has_op_id=False, clears_litter=True),
        Case("adopt", lambda memory, _g: memory.adopt((), PERSON, OP), _person_moves_things),
        Case("import", lambda memory, g: memory.import_notes(g.notes, PERSON, op_id=OP).receipt),
        Case(
            "repair",
            lambda memory, _g: memory.repair_views(PERSON),
            _views_are_wrong,
            has_op_id=False,
            later=("catalog.json",),
        ),
        Case("after-commit", _observe, _person_commits),
        Case("init-new", lambda _memory, _g: None, has_op_id=False, makes_vault=True),
        Case(
            "init-empty",
            lambda _memory, _g: None,
            lambda g: g.repo.mkdir(),
            has_op_id=False,
            makes_vault=True,
        ),
    )
}
