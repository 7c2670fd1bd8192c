"""The search catalog follows gitmem's own operations: the next read meets what they wrote as known."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.catalog import own
from gitmem.catalog.database import Database
from gitmem.catalog.query import Filters as CatalogFilters
from gitmem.catalog.query import list_private_paths, list_rows
from gitmem.catalog.reconcile import Report
from gitmem.catalog.vocabulary import count_tags
from gitmem.clock import SystemClock
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.reading import ask
from gitmem.vault.scan import StableReader

from conftest import Desk, draft


class LaterClock(SystemClock):
    """Ten seconds ahead of the files: what was just written is settled, whatever the ticks of this machine are."""

    def time_ns(self) -> int:
        return super().time_ns() + 10**10

    def file_time_ns(self) -> int:
        return super().file_time_ns() + 10**10


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the notes that reconciliations read, as they are read."""
    paths: list[str] = []
    read = StableReader.__call__

    def note_and_read(self: StableReader, path: str) -> bytes:
        paths.append(path)
        return read(self, path)

    monkeypatch.setattr(StableReader, "__call__", note_and_read)
    return paths


@pytest.fixture
def filled(desk: Desk, agent: Actor, tmp_path: Path) -> Iterator[Memory]:
    with desk.open() as memory:
        memory.vault.clock = LaterClock()
        for title in ("One heron", "Two herons", "Three herons"):
            memory.observe(draft(title), agent)
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes/brought.md").write_text("A bittern.\n")
        (desk.repo / "promoted").mkdir(exist_ok=True)
        (desk.repo / "promoted/edited.md").write_text("A crane.\n")
        look(memory)
        yield memory


def look(memory: Memory) -> Report:
    return ask(memory.vault, lambda _database, report: report)


def tell(memory: Memory) -> list[object]:
    def question(database: Database, report: Report) -> list[object]:
        tags = count_tags(database, CatalogFilters())
        return [list_rows(database), tags, list_private_paths(database), report.problems]

    return ask(memory.vault, question)


def ids(memory: Memory) -> list[str]:
    return [hit.record.id for hit in memory.list(Filters()).hits]


VERBS: dict[str, Callable[[Memory, Actor, Path], object]] = {
    "observe": lambda memory, actor, _: memory.observe(draft("Four herons"), actor),
    "declare": lambda memory, actor, _: memory.declare(Draft("Never", "Ever.", Kind.BOUNDARY), actor),
    "edit": lambda memory, actor, _: memory.edit(ids(memory)[0], RecordEdit(body="Egret."), actor),
    "promote": lambda memory, actor, _: memory.promote(ids(memory)[0], actor),
    "retire": lambda memory, actor, _: memory.retire(ids(memory)[0], "old", actor),
    "restore": lambda memory, actor, _: memory.restore(
        memory.retire(ids(memory)[0], "old", actor).records[0].id, actor
    ),
    "undo": lambda memory, actor, _: memory.undo(memory.promote(ids(memory)[0], actor).op_id, actor),
    "adopt": lambda memory, actor, _: memory.adopt((), actor),
    "import": lambda memory, actor, folder: memory.import_notes(str(folder), actor),
}


@pytest.mark.parametrize("verb", VERBS)
def test_after_an_operation_the_next_reconciliation_reads_no_file(
    desk: Desk, filled: Memory, person: Actor, tmp_path: Path, reads: list[str], verb: str
) -> None:
    VERBS[verb](filled, person, tmp_path / "notes")
    reads.clear()
    assert look(filled).changed == 0
    assert reads == []
    with desk.open(memory_catalog=True) as fresh:
        fresh.vault.clock = LaterClock()
        assert tell(filled) == tell(fresh)


def test_foreign_edits_of_the_same_moment_are_found(desk: Desk, filled: Memory, agent: Actor, reads: list[str]) -> None:
    path = filled.observe(draft("Four herons"), agent).records[0].path
    (desk.repo / path).write_text((desk.repo / path).read_text() + "A bittern.\n")
    (desk.repo / path).with_name("other.md").write_text("A note.\n")
    reads.clear()
    assert look(filled).changed == 2
    assert sorted(reads) == sorted([path, str(Path(path).with_name("other.md"))])


def test_what_was_written_in_the_same_tick_is_read_again(filled: Memory, agent: Actor, reads: list[str]) -> None:
    class Still(LaterClock):
        def file_time_ns(self) -> int:
            return 0

    filled.vault.clock = Still()
    path = filled.observe(draft("Four herons"), agent).records[0].path
    reads.clear()
    assert (look(filled).changed, reads) == (0, [path])
    reads.clear()
    assert (look(filled).changed, reads) == (0, [])


def test_writing_makes_no_catalog(desk: Desk, agent: Actor) -> None:
    with desk.open() as memory:
        memory.observe(draft(), agent)
    assert not (desk.runtime / "catalog.sqlite").exists()


def test_a_catalog_that_others_write_to_is_left_alone(
    desk: Desk, filled: Memory, agent: Actor, reads: list[str]
) -> None:
    other = sqlite3.connect(desk.runtime / "catalog.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    path = filled.observe(draft("Four herons"), agent).records[0].path
    other.close()
    assert not filled.vault.database.degraded
    reads.clear()
    assert (look(filled).changed, reads) == (1, [path])


@pytest.mark.parametrize("damage", ["table-gone", "file-gone", "garbage", "a-folder"])
def test_a_damaged_catalog_does_not_touch_the_operation(desk: Desk, filled: Memory, agent: Actor, damage: str) -> None:
    file = desk.runtime / "catalog.sqlite"
    filled.close()
    if damage == "table-gone":
        with sqlite3.connect(file) as connection:
            connection.execute("DROP TABLE names")
        connection.close()
    elif damage == "garbage":
        file.write_bytes(b"garbage" * 9999)
    else:
        file.unlink()
    if damage == "a-folder":
        file.mkdir()
    receipt = filled.observe(draft("Four herons"), agent)
    assert (receipt.changed, receipt.notices) == (True, ())
    assert len(filled.search("herons", Filters()).hits) == 4


def test_a_record_that_becomes_private_leaves_nothing_behind(desk: Desk, filled: Memory, person: Actor) -> None:
    record = filled.observe(draft("Four herons", "A kingfisher."), person).records[0]
    filled.edit(record.id, RecordEdit(properties={"private": True}), person)
    assert filled.search("kingfisher", Filters()).hits == ()
    filled.close()
    assert b"ingfisher" not in (desk.runtime / "catalog.sqlite").read_bytes()


def test_very_many_files_are_left_to_the_next_read(
    filled: Memory, agent: Actor, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "MAX_FILES", 1)
    filled.observe_all([draft("Four herons"), draft("Five herons")], agent)
    reads.clear()
    assert (look(filled).changed, len(reads)) == (2, 2)
