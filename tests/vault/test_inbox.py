"""Candidates on disk: whole, decided once, and never an empty inbox where one can't be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import InputError, UnavailableError
from gitmem.model.authority import Surface
from gitmem.model.candidate import Candidate, Decided, Fate, Near, Wants
from gitmem.model.ids import RecordId, parse_op_id
from gitmem.model.record import Draft, Kind
from gitmem.vault.inbox import (
    drop_accepting,
    drop_decided,
    drop_oldest_decided,
    hold_inbox,
    load_accepting,
    load_candidate,
    load_decided,
    load_inbox,
    save_accepting,
    save_candidate,
    save_decided,
    take_back,
)
from gitmem.vault.layout import VaultLayout

FULL = Candidate(
    id=RecordId("m7k2q9x4c0de"),
    created="2026-12-01T10:00:00Z",
    draft=Draft("Two workers", "More 💥 starve it.\n", Kind.FACT, "s", ("tool/pytest",), ("run:make test",), "workers"),
    wants=Wants.RETIRE,
    targets=(RecordId("000000000001"),),
    reason="it is stale",
    actor="agent",
    surface=Surface.MODEL,
    sources=("codex/s1",),
    seen=3,
    why=("seen in 3 sessions",),
    near=(Near(RecordId("000000000002"), 0.75, is_candidate=True),),
    contradicts=(RecordId("000000000003"),),
    worth=0.25,
    expires="2026-12-31T10:00:00Z",
    deferred="2026-12-02T10:00:00Z",
    deferred_by=Surface.HUMAN,
)
PLAIN = Candidate(RecordId("m7k2q9x4c0df"), "2026-12-01T09:00:00Z", Draft("A title", ""), actor="agent")


@pytest.fixture
def layout(tmp_path: Path) -> VaultLayout:
    return VaultLayout(str(tmp_path / "repo"), str(tmp_path / "runtime"))


def test_candidates_read_back_as_they_were_oldest_first(layout: VaultLayout) -> None:
    save_candidate(layout, FULL)
    save_candidate(layout, PLAIN)
    assert load_inbox(layout).candidates == (PLAIN, FULL)
    assert load_candidate(layout, FULL.id) == FULL
    assert load_candidate(layout, "../../etc/pass") is None
    assert load_candidate(layout, "000000000009") is None
    assert Path(layout.inbox, f"{FULL.id}.json").stat().st_mode & 0o777 == 0o600


def test_an_older_file_that_does_not_say_who_deferred_it_counts_as_a_persons(layout: VaultLayout) -> None:
    save_candidate(layout, FULL)
    file = Path(layout.inbox, f"{FULL.id}.json")
    value = json.loads(file.read_text())
    assert value.pop("deferred_by") == "human"
    file.write_text(json.dumps(value))
    older = load_candidate(layout, FULL.id)
    assert older == replace(FULL, deferred_by=None)
    assert older.is_deferred_by_person
    assert not replace(older, deferred_by=Surface.MODEL).is_deferred_by_person
    assert not PLAIN.is_deferred_by_person


def test_a_decided_candidate_leaves_the_inbox_and_can_come_back(layout: VaultLayout) -> None:
    save_candidate(layout, FULL)
    decided = Decided(FULL, Fate.REJECTED, "2026-12-01T11:00:00Z", "not so")
    save_decided(layout, decided)
    save_decided(layout, decided)
    assert load_inbox(layout).candidates == ()
    assert load_decided(layout) == (decided,)
    assert take_back(layout, FULL.id) == FULL
    assert (load_inbox(layout).candidates, load_decided(layout)) == ((FULL,), ())
    assert take_back(layout, FULL.id) is None
    save_decided(layout, decided)
    drop_decided(layout, [FULL.id, PLAIN.id])
    assert load_decided(layout) == ()


def test_what_can_not_be_read_is_told(layout: VaultLayout) -> None:
    save_candidate(layout, PLAIN)
    broken = Path(layout.inbox, "000000000001.json")
    broken.write_text('{"id": "000000000001"}')
    found = load_inbox(layout)
    assert found.candidates == (PLAIN,)
    assert [(one.code, one.path) for one in found.problems] == [("candidate-unreadable", "inbox/000000000001.json")]
    with pytest.raises(InputError, match="can't be read"):
        load_candidate(layout, "000000000001")
    broken.unlink()
    Path(layout.inbox, f"{PLAIN.id}.json").unlink()
    Path(layout.inbox).rmdir()
    Path(layout.inbox).write_text("no folder")
    with pytest.raises(UnavailableError) as raised:
        load_inbox(layout)
    assert raised.value.code == "inbox-unreadable"


def test_a_candidate_that_the_schema_refuses_is_not_written(layout: VaultLayout) -> None:
    with pytest.raises(InputError, match="title"):
        save_candidate(layout, replace(PLAIN, draft=Draft("", "")))
    assert load_inbox(layout).candidates == ()


def test_an_acceptance_under_way_is_kept_until_it_is_dropped(layout: VaultLayout) -> None:
    assert load_accepting(layout) is None
    drop_accepting(layout)
    save_candidate(layout, PLAIN)
    decided = (Decided(PLAIN, Fate.ACCEPTED, "2026-12-01T11:00:00Z", op_id="op-1"),)
    save_accepting(layout, parse_op_id("op-1"), decided)
    assert load_accepting(layout) == ("op-1", decided)
    assert load_inbox(layout).candidates == (PLAIN,)
    assert load_inbox(layout).problems == ()
    Path(layout.accepting_file).write_text('{"op_id": "op-1", "decided": [{}]}')
    assert load_accepting(layout) is None
    drop_accepting(layout)
    assert not Path(layout.accepting_file).exists()


def test_one_writes_at_a_time(layout: VaultLayout) -> None:
    with hold_inbox(layout):
        with pytest.raises(UnavailableError) as raised, hold_inbox(layout, 0):
            pytest.fail("two hold it")
        assert raised.value.code == "inbox-busy"
    with hold_inbox(layout, 0):
        assert Path(layout.inbox_lock).stat().st_mode & 0o777 == 0o600
    Path(layout.inbox_lock).unlink()
    Path(layout.inbox_lock).mkdir()
    with pytest.raises(UnavailableError) as raised, hold_inbox(layout, 0):
        pytest.fail("a folder is no lock")
    assert raised.value.code == "inbox-unwritable"


def test_the_oldest_decisions_go_first(layout: VaultLayout) -> None:
    decided = [
        Decided(replace(PLAIN, id=RecordId(f"{number:012d}")), Fate.REJECTED, f"2026-12-0{number}T11:00:00Z", "no")
        for number in (3, 1, 2)
    ]
    for one in decided:
        save_decided(layout, one)
    drop_oldest_decided(layout, 3)
    assert len(load_decided(layout)) == 3
    drop_oldest_decided(layout, 1)
    assert load_decided(layout) == (decided[0],)
