"""Counting what model surfaces handed in, from receipts of every kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.model.authority import Action
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import CommitId, OpId, RecordId
from gitmem.model.record import State
from gitmem.model.vault_path import VaultPath
from gitmem.policy.narrowing import COUNTED
from gitmem.transaction.receipts import (
    append_receipt,
    find_last_of,
    iter_holding,
    iter_naming,
    receipt_from_json,
    receipt_to_json,
)
from gitmem.transaction.tally import Tally, count_observations
from gitmem.vault.layout import VaultLayout

ONE = Receipt(
    op=Action.OBSERVE,
    op_id=OpId("op1"),
    commit=CommitId("0" * 40),
    changed=True,
    records=(RecordRef(RecordId("a00000000000"), VaultPath("observations/2026-11/a.md"), State.OBSERVATION),),
    time="2026-12-01T00:00:00Z",
    actor="agent",
    surface="model",
    session="s1",
)


@pytest.fixture
def layout(tmp_path: Path) -> VaultLayout:
    return VaultLayout(repo=str(tmp_path / "repo"), runtime=str(tmp_path / "runtime"))


def count(layout: VaultLayout, session: str = "s1", day: str = "2026-12-01") -> Tally:
    return count_observations(layout, COUNTED, session, day)


def test_nothing_is_counted_where_there_are_no_receipts(layout: VaultLayout) -> None:
    assert count(layout) == Tally()


def test_days_and_sessions_are_told_apart_and_a_session_goes_back_two_months(layout: VaultLayout) -> None:
    for time in ("2026-10-31T23:59:59Z", "2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z", "2026-12-01T23:59:59Z"):
        append_receipt(layout, replace(ONE, time=time))
    append_receipt(layout, replace(ONE, session="s10"))
    append_receipt(layout, replace(ONE, session=""))

    assert count(layout) == Tally(in_session=3, today=4)
    assert count(layout, "s10", "2026-11-30") == Tally(in_session=0, today=1)
    assert count(layout, "", "2026-12-02") == Tally()


def test_the_month_before_january_is_december(layout: VaultLayout) -> None:
    append_receipt(layout, replace(ONE, time="2026-12-31T23:59:59Z"))

    assert count(layout, day="2027-01-01") == Tally(in_session=1)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, 1),
        ({"op": Action.IMPORT}, 1),
        ({"op": Action.ACCEPT}, 1),
        ({"op": Action.CURATE}, 0),
        ({"op": Action.RESTORE}, 0),
        ({"surface": "human"}, 0),
        ({"records": ONE.records * 3}, 3),
        ({"records": ()}, 0),
        ({"records": (replace(ONE.records[0], state=State.PROMOTED),)}, 0),
        ({"records": (replace(ONE.records[0], state=None),)}, 0),
        ({"notices": ('"time": "2026-12-01T', '"session": "s1"')}, 1),
    ],
)
def test_what_counts_is_an_observation_that_a_model_added(
    layout: VaultLayout, changes: dict[str, object], counts: int
) -> None:
    append_receipt(layout, replace(ONE, **changes))  # type: ignore[arg-type]

    assert count(layout) == Tally(in_session=counts, today=counts)


@pytest.mark.parametrize("session", ['a"b', "船", "a\\b", "\u2028"])
def test_a_session_of_any_name_is_found(layout: VaultLayout, session: str) -> None:
    append_receipt(layout, replace(ONE, session=session))

    assert count(layout, session) == Tally(in_session=1, today=1)


def test_torn_lines_are_passed_over(layout: VaultLayout) -> None:
    append_receipt(layout, ONE)
    file = Path(layout.receipts, "2026-12.jsonl")
    file.write_bytes(file.read_bytes() + file.read_bytes()[:80] + b"\n" + file.read_bytes())

    assert count(layout) == Tally(in_session=2, today=2)


def test_a_receipt_without_a_session_has_none_in_its_line_and_an_old_one_is_read() -> None:
    assert "session" not in receipt_to_json(replace(ONE, session=""))
    assert receipt_from_json(receipt_to_json(ONE)) == ONE
    assert receipt_from_json(receipt_to_json(replace(ONE, session=""))).session == ""


def test_the_newest_receipt_of_an_action_is_found_across_months(layout: VaultLayout) -> None:
    assert find_last_of(layout, Action.POLICY) is None
    for op_id, op, time in (
        ("p1", Action.POLICY, "2026-10-01T00:00:00Z"),
        ("p2", Action.POLICY, "2026-11-01T00:00:00Z"),
        ("o1", Action.OBSERVE, "2026-12-01T00:00:00Z"),
    ):
        notices = ('{"op": "policy", "op_id": "forged"',)
        append_receipt(layout, replace(ONE, op=op, op_id=OpId(op_id), time=time, notices=notices))

    found = find_last_of(layout, Action.POLICY)
    assert found is not None
    assert found.op_id == "p2"


def test_receipts_that_name_a_record_are_found(layout: VaultLayout) -> None:
    other = replace(ONE, op_id=OpId("op2"), records=(replace(ONE.records[0], id=RecordId("b00000000000")),))
    for one in (ONE, other, replace(ONE, op_id=OpId("op3"), time="2027-01-01T00:00:00Z")):
        append_receipt(layout, one)

    assert [one.op_id for one in iter_naming(layout, RecordId("a00000000000"))] == ["op1", "op3"]
    assert list(iter_holding(layout, "2020-01", b"x")) == []


def test_what_was_looked_through_is_looked_through_again_where_it_changed(layout: VaultLayout) -> None:
    file = Path(layout.receipts, "2026-12.jsonl")
    for _ in range(3):
        append_receipt(layout, ONE)
    assert count(layout) == Tally(3, 3)
    append_receipt(layout, ONE)
    assert count(layout) == Tally(4, 4)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0])
    assert count(layout) == Tally(1, 1)
    file.write_bytes(lines[0].replace(b"s1", b"s2") * 9)
    assert count(layout) == Tally(0, 9)
    file.unlink()
    append_receipt(layout, ONE)
    assert count(layout) == Tally(1, 1)


def test_a_line_that_is_being_written_counts_once(layout: VaultLayout) -> None:
    append_receipt(layout, ONE)
    file = Path(layout.receipts, "2026-12.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-1])

    assert count(layout) == Tally(2, 2)
    file.write_bytes(whole + whole)
    assert count(layout) == Tally(2, 2)
