"""What the log tells, which part of it is asked for, and what it keeps to itself."""

from __future__ import annotations

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.service.log import LogFilters
from gitmem.service.memory import Memory

from conftest import Desk, draft


def ops(memory: Memory, ref: str | None = None, **filters: object) -> list[str]:
    return [row["op"] for row in memory.log(ref, None, LogFilters(**filters)).rows]  # type: ignore[arg-type]


@pytest.fixture
def told(desk: Desk, memory: Memory, agent: Actor, person: Actor) -> str:
    """A record that was observed by an agent, promoted by a person, and edited by hand."""
    one = memory.observe(draft(), agent).records[0]
    memory.observe(draft("Another one", "Nothing to do with it."), agent)
    moved = memory.promote(one.id, person).records[0]
    file = desk.repo / moved.path
    file.write_text(file.read_text() + "By hand.\n")
    desk.git("commit", "-qam", "vault backup")
    return one.id


def test_the_log_is_narrowed_by_time_operation_and_actor(memory: Memory, told: str) -> None:
    assert ops(memory) == ["commit", "promote", "observe", "observe", "init"]
    assert ops(memory, since="1h") == ["commit", "promote", "observe", "observe", "init"]
    assert ops(memory, until="yesterday") == []
    assert ops(memory, since="yesterday", until="today", ops=("promote", "commit")) == ["commit", "promote"]
    assert ops(memory, actors=("model",)) == ["observe", "observe"]
    assert ops(memory, actors=("pat person",)) == ["commit", "promote", "init"]
    assert ops(memory, actors=("human", "model"), ops=("init", "observe")) == ["observe", "observe", "init"]
    assert ops(memory, told, actors=("human",)) == ["promote"]
    assert memory.log(None, 2, LogFilters(ops=("observe", "init"))).rows[1]["op"] == "observe"
    with pytest.raises(InputError, match="is not later"):
        memory.log(filters=LogFilters(since="today", until="2020"))
    with pytest.raises(InputError, match="not a date"):
        memory.log(filters=LogFilters(since="someday"))


def test_an_undo_is_known_where_it_is_not_told(memory: Memory, told: str, agent: Actor, person: Actor) -> None:
    done = memory.observe(draft("A third one", "Wrong."), agent)
    undo = memory.undo(done.op_id, person)
    rows = memory.log(filters=LogFilters(ops=("observe",))).rows
    assert [row["undone_by"] for row in rows] == [undo.op_id, None, None]


def test_a_record_that_is_gone_still_has_its_history(memory: Memory, told: str, agent: Actor, person: Actor) -> None:
    done = memory.observe(draft("A third one", "Wrong."), agent)
    memory.undo(done.op_id, person)
    assert ops(memory, done.records[0].id) == ["undo", "observe"]
    with pytest.raises(InputError, match="no record has"):
        memory.log("zzzzzzzzzzzz")


def test_a_record_that_was_moved_by_hand_and_not_committed_still_has_its_history(
    desk: Desk, memory: Memory, told: str
) -> None:
    path = memory.show(told).hits[0].record.path
    (desk.repo / "baseline").mkdir(exist_ok=True)
    (desk.repo / path).rename(desk.repo / "baseline" / "moved.md")
    assert ops(memory, told) == ["commit", "promote", "observe"]


def test_the_log_names_no_private_record(desk: Desk, memory: Memory, told: str, agent: Actor) -> None:
    both = memory.observe_all([draft("A secret plan", "Hush."), draft("A plain fact", "Loud.")], agent)
    secret, plain = both.records
    memory.observe(draft("Another secret plan", "Hush."), agent)
    file = desk.repo / secret.path
    other = next((desk.repo / "observations").rglob("another-secret*.md"))
    for one in (file, other):
        one.write_text(one.read_text().replace("---\n", "---\nprivate: true\n", 1))
    rows = memory.log().rows
    assert "secret" not in str(rows).casefold()
    assert secret.id not in str(rows)
    assert [(row["title"], row["records"]) for row in rows[:2]] == [
        ("a private record", []),
        ("2 records, private ones among them", [plain.id]),
    ]
    assert memory.log(plain.id).rows[0]["title"] == "2 records, private ones among them"
    withheld = memory.log(secret.id)
    assert (withheld.status, withheld.rows) == (Status.WITHHELD, ())
