"""What a fault took from a vault is made up for where something still holds it, and said where nothing does."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, IntegrityError, StateError
from gitmem.model.authority import Actor
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk, draft
from crash import run_killed


def object_file(desk: Desk, revision: str) -> Path:
    found = desk.git("rev-parse", revision).strip()
    return desk.repo / ".git/objects" / found[:2] / found[2:]


def break_object(desk: Desk, revision: str) -> Path:
    path = object_file(desk, revision)
    path.chmod(0o644)
    path.write_bytes(b"")
    return path


def test_a_committed_note_that_was_lost_is_written_again_before_its_file_changes(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    one = memory.observe(draft(), person).records[0]
    old = (desk.repo / one.path).read_text()
    break_object(desk, f"HEAD:{one.path}")
    memory.edit(one.id, RecordEdit(body="Something else."), person)
    assert desk.git("show", f"HEAD~1:{one.path}") == old
    desk.judge()


def test_a_committed_note_that_is_lost_and_edited_stays_refused(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    break_object(desk, f"HEAD:{one.path}")
    with open(desk.repo / one.path, "a") as file:
        file.write("\nA person's line.\n")
    with pytest.raises(IntegrityError, match="can't be read from the repository"):
        memory.adopt([one.path], person)
    assert [row["code"] for row in memory.check().rows if row["severity"] == "error"] == ["object-unreadable"]
    assert (desk.repo / one.path).read_text().endswith("A person's line.\n")


def test_a_committed_view_that_was_lost_is_made_from_the_records(desk: Desk, memory: Memory, person: Actor) -> None:
    memory.observe(draft(), person)
    lost = break_object(desk, "HEAD:catalog.json")
    assert [(row["code"], row["path"]) for row in memory.check().rows] == [("object-unreadable", "catalog.json")]
    with desk.open() as other:
        other.observe(draft("A second thing"), person)
    assert lost.stat().st_size > 0
    desk.judge()


def test_repairing_the_views_writes_a_lost_one_again(desk: Desk, memory: Memory, person: Actor) -> None:
    memory.observe(draft(), person)
    break_object(desk, "HEAD:INDEX.md")
    with desk.open() as other:
        assert not other.repair_views(person).changed
        assert other.check().rows == ()
    desk.judge()


def test_inv_one_commit_where_the_receipt_of_an_operation_is_garbled(desk: Desk, memory: Memory, person: Actor) -> None:
    first = memory.observe(draft(), person, parse_op_id("first-one"))
    memory.observe(draft("A second thing"), person)
    (receipts,) = (desk.runtime / "receipts").glob("*.jsonl")
    receipts.write_bytes(receipts.read_bytes().replace(b'"first-one"', b'"first-on\xff'))
    again = memory.observe(draft(), person, parse_op_id("first-one"))
    assert again.commit == first.commit
    assert len(desk.commits()) == 3


def test_the_journal_of_a_newer_gitmem_waits_for_that_one(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    assert run_killed(desk.open, "stage", lambda memory: memory.edit(one.id, RecordEdit(body="Half."), person))
    (journal,) = (desk.repo / ".git/gitmem/journal").glob("*.json")
    good = journal.read_bytes()
    journal.write_text(json.dumps({**json.loads(good), "format": 2}))
    with desk.open() as memory:
        answer = memory.list(Filters())
        assert [problem.code for problem in answer.diagnostics] == ["abandoned-operation"]
        with pytest.raises(StateError) as raised:
            memory.observe(draft("A second thing"), person)
        assert raised.value.code == "journal-too-new"
    journal.write_bytes(good)
    with desk.open() as memory:
        assert [problem.code for problem in memory.list(Filters()).diagnostics] == ["recovered"]
    desk.judge()


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_journal_folder_that_is_none_is_said_and_nothing_written(
    desk: Desk, memory: Memory, person: Actor, kind: str
) -> None:
    memory.observe(draft(), person)
    journal = desk.repo / ".git/gitmem/journal"
    journal.rmdir()
    journal.write_text("x") if kind == "file" else os.mkfifo(journal)
    answer = memory.list(Filters())
    assert (answer.status, [problem.code for problem in answer.diagnostics]) == ("ok", ["abandoned-operation"])
    with pytest.raises(GitmemError) as raised:
        memory.observe(draft("A second thing"), person)
    assert raised.value.code == "journal-unreadable"
    assert len(desk.commits()) == 2


def test_a_branch_that_went_back_to_a_packed_place_is_never_built_on(desk: Desk, memory: Memory, person: Actor) -> None:
    memory.observe(draft(), person)
    desk.git("pack-refs", "--all")
    last = memory.observe(draft("A second thing"), person)
    loose = desk.repo / ".git/refs/heads/main"
    loose.unlink()  # a fault took the file; Git now falls back to the older, packed place
    with pytest.raises(IntegrityError) as raised:
        memory.observe(draft("A third thing"), person)
    assert raised.value.code == "branch-went-back"
    assert "branch-went-back" in [problem.code for problem in memory.status().diagnostics]
    desk.git("update-ref", "refs/heads/main", str(last.commit))
    memory.observe(draft("A third thing"), person)
    assert len(desk.commits()) == 4
    desk.judge()


def test_a_person_may_take_a_branch_back(desk: Desk, memory: Memory, person: Actor) -> None:
    memory.observe(draft(), person)
    memory.observe(draft("A second thing"), person)
    desk.git("reset", "--quiet", "--hard", "HEAD~1")
    memory.observe(draft("A third thing"), person)
    assert "branch-went-back" not in [problem.code for problem in memory.status().diagnostics]
    assert len(desk.commits()) == 3
    desk.judge()


@pytest.mark.parametrize("damage", ["", "{", "null"])
def test_a_damaged_marker_that_was_committed_stops_writing(
    desk: Desk, memory: Memory, person: Actor, damage: str
) -> None:
    memory.observe(draft(), person)
    marker = desk.repo / "manifest.json"
    good = marker.read_text()
    marker.write_text(damage)
    desk.git("commit", "--quiet", "-am", "by mistake")
    marker.write_text(good)  # on disk it is whole again; what is committed is not
    with pytest.raises(IntegrityError) as raised:
        memory.observe(draft("A second thing"), person)
    assert raised.value.code == "bad-manifest"
    assert memory.list(Filters()).status == "ok"
    desk.git("commit", "--quiet", "-am", "and back")
    memory.observe(Draft(title="A second thing", body="x"), person)
    desk.judge()


@pytest.mark.parametrize("lost", ["missing", "damaged"])
def test_a_lost_staging_area_is_said_and_what_is_left_of_it_kept(
    desk: Desk, memory: Memory, person: Actor, lost: str
) -> None:
    memory.observe(draft(), person)
    index = desk.repo / ".git/index"
    damaged = index.read_bytes()[:-30]
    if lost == "missing":
        index.unlink()
    else:
        index.write_bytes(damaged)
    assert "index-lost" in [problem.code for problem in memory.status().diagnostics]
    memory.observe(draft("A second thing"), person)
    kept = desk.repo / ".git/damaged-index"
    assert (kept.read_bytes() if kept.exists() else None) == (None if lost == "missing" else damaged)
    assert memory.status().diagnostics == ()
    desk.judge()


def test_inv_never_silent_while_another_program_holds_the_search_catalog(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    memory.observe(draft(), person)
    memory.list(Filters())
    memory.observe(draft("A second thing"), person)
    holder = sqlite3.connect(desk.runtime / "catalog.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with desk.open() as other:
            answer = other.search("thing", Filters())
    finally:
        holder.close()
    assert (answer.status, [hit.record.title for hit in answer.hits]) == ("degraded", ["A second thing"])
    assert [problem.code for problem in answer.diagnostics] == ["catalog-degraded"]


def test_inv_people_first_what_was_written_into_a_replaced_file_outlives_a_pipe_beside_it(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = memory.observe(draft(), person).records[0]
    memory.edit(one.id, RecordEdit(body="New text."), person)
    (waiting,) = (desk.repo / ".git/gitmem/displaced").glob(f"*.{Path(one.path).name}")
    with open(waiting, "a") as file:
        file.write("Written late.\n")
    os.mkfifo(waiting.with_name("0" * 40 + ".a-pipe.0"))
    monkeypatch.setattr("gitmem.transaction.displaced.WAIT_NS", 0)
    memory.observe(draft("A second thing"), person)
    (kept,) = (path for path in (desk.runtime / "displaced").rglob("*") if path.is_file())
    assert kept.read_text().endswith("Written late.\n")
    assert not waiting.exists()
