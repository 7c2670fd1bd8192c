"""When records came to be, by day, week and session."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.timeline import Stretch

from conftest import Desk

ALL = Filters()
NOTES = (
    ("Upgrade of postgres", "fact", "2026-11-29T10:00:00Z", "2026-11-30", "claude/s1"),
    ("Session about postgres and the upgrade", "episode", "2026-11-30T09:30:00Z", None, "claude/s2"),
    ("Postgres is the database", "decision", "2026-11-30T09:00:00Z", None, "claude/s2"),
    ("Around New Year", "finding", "2025-12-31T23:30:00-02:00", None, None),
    ("A day only", "finding", "2025-12-29", "2026-11-01", "claude/s1"),
    ("No date at all", "fact", None, None, None),
)


@pytest.fixture
def told(desk: Desk, memory: Memory) -> Memory:
    for number, (title, kind, created, updated, source) in enumerate(NOTES):
        fields = {"title": title, "kind": kind, "created": created, "updated": updated, "source": source}
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        block = "\n".join(["---", f"gitmem_id: m7k2q9x4c0d{number}", *lines, "tags:\n  - client/acme", "---", ""])
        (desk.repo / "promoted").mkdir(exist_ok=True)
        (desk.repo / "promoted" / f"n{number}.md").write_text(block + "Text.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "notes")
    return memory


def tell(memory: Memory, filters: Filters = ALL, as_of: str | None = None, **wanted: Any) -> list[tuple[str, str]]:
    return [(row["group"], row["hit"].record.title) for row in memory.timeline(filters, Stretch(**wanted), as_of).rows]


def test_records_stand_in_their_day_week_and_session_newest_first(told: Memory) -> None:
    upgrade, session, database, new_year, day, _undated = (note[0] for note in NOTES)
    assert tell(told) == [
        ("2026-11-30", session),
        ("2026-11-30", database),
        ("2026-11-29", upgrade),
        ("2026-01-01", new_year),
        ("2025-12-29", day),
    ]
    assert tell(told, by="week") == [
        ("2026-W49", session),
        ("2026-W49", database),
        ("2026-W48", upgrade),
        ("2026-W01", new_year),
        ("2026-W01", day),
    ]
    assert tell(told, by="session") == [
        ("claude/s2", session),
        ("claude/s2", database),
        ("claude/s1", upgrade),
        ("claude/s1", day),
        ("", new_year),
    ]
    assert tell(told, by_update=True)[1:] == [
        ("2026-11-30", database),
        ("2026-11-30", upgrade),
        ("2026-11-01", day),
        ("2026-01-01", new_year),
    ]
    answer = told.timeline(ALL, Stretch(limit=2))
    assert answer.extra["groups"] == [{"name": "2026-11-30", "count": 2}]
    assert (answer.extra["omitted"], answer.extra["undated"]) == (3, 1)
    assert [(row["time"], row["is_episode"]) for row in answer.rows] == [
        ("2026-11-30T09:30:00Z", True),
        ("2026-11-30T09:00:00Z", False),
    ]
    assert answer.rows[0]["hit"].record.title == session


def test_since_and_until_go_by_the_time_that_counts(told: Memory) -> None:
    november = Filters(since="2026-11", until="2026-11-29")
    assert tell(told, november) == [("2026-11-29", NOTES[0][0])]
    assert tell(told, november, by_update=True) == [("2026-11-01", NOTES[4][0])]
    assert tell(told, Filters(kinds=(Kind.FINDING,), tags=("client",), until="2025")) == [("2025-12-29", NOTES[4][0])]
    assert told.timeline(Filters(since="2027")).status is Status.NO_MATCH


def test_words_leave_what_answers_them_best_in_order_of_time(told: Memory) -> None:
    assert tell(told, words="when did we upgrade postgres?") == [
        ("2026-11-30", NOTES[1][0]),
        ("2026-11-29", NOTES[0][0]),
    ]
    assert len(tell(told, words="postgres")) == 3
    assert tell(told, words="nothing-like-it") == []


def test_every_record_that_has_the_words_in_some_form_is_told_or_counted(memory: Memory, person: Actor) -> None:
    forms = ("parse", "parses", "parsed", "parsing", "parse, parsed, parsing and parses")
    bodies = [f"{forms[number % 5]} {forms[number % 3]} with care {number}." for number in range(230)]
    memory.observe_all([Draft(f"Note {number}", body) for number, body in enumerate(bodies)], person)

    answer = memory.timeline(ALL, Stretch("parse", limit=50))

    assert (len(answer.rows), answer.extra["omitted"]) == (50, 180)
    assert len(memory.timeline(ALL, Stretch("parse, with care, unheard of", limit=1000)).rows) == 230
    assert [row["hit"].record.title for row in memory.timeline(ALL, Stretch("parsing 17")).rows] == ["Note 17"]


def test_what_is_asked_has_its_bounds_and_earlier_commits_answer(desk: Desk, told: Memory) -> None:
    assert tell(told, as_of="HEAD~1") == []
    file = desk.repo / "promoted" / "n0.md"
    file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))
    assert NOTES[0][0] not in str(told.timeline(ALL))
    assert len(tell(told, as_of="HEAD")) == 4
    for stretch in (Stretch(limit=0), Stretch(limit=1001), Stretch(by="year")):
        with pytest.raises(InputError):
            told.timeline(ALL, stretch)
