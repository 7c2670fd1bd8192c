"""``status`` divides sessions, candidates and time: every one in one part, and the parts sum up."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from some_sessions import START, a_session, event

from gitmem.clock import SystemClock
from gitmem.model.authority import Actor
from gitmem.model.event import Event, EventKind, Odd
from gitmem.model.record import Draft
from gitmem.service.activity import CANDIDATE_PARTS, SESSION_PARTS
from gitmem.service.curate import Wanted
from gitmem.service.memory import Memory
from gitmem.vault.curated import load_curated
from gitmem.vault.spool import append_event, claim_spool, iter_claimed, iter_spools

from conftest import Desk

NOW = START + datetime.timedelta(hours=2)
TIME = ("working_s", "waiting_s", "quiet_s", "unsplit_s")


class _Clock(SystemClock):
    def now(self) -> datetime.datetime:
        return NOW


@pytest.fixture
def at_four(memory: Memory) -> Memory:
    memory.vault.clock = _Clock()
    return memory


def keep(memory: Memory, *events: Event) -> None:
    for one in events:
        assert append_event(memory.vault.layout, one)


def told(memory: Memory) -> dict[str, Any]:
    extra = memory.status().extra
    check_sums(extra)
    return extra


def check_sums(extra: dict[str, Any]) -> None:
    for name, parts in (("sessions", SESSION_PARTS), ("candidates", CANDIDATE_PARTS)):
        assert list(extra[name]) == ["total", *parts]
        assert extra[name]["total"] == sum(extra[name][part] for part in parts)
    for divided in extra["time"].values():
        assert list(divided) == ["total_s", *TIME]
        assert divided["total_s"] == sum(divided[part] for part in TIME)
    assert extra["time"]["wall"]["total_s"] <= extra["time"]["sessions"]["total_s"]


def some(divided: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in divided.items() if number}


def test_nothing_is_nothing(memory: Memory) -> None:
    extra = told(memory)
    assert [some(extra[name]) for name in ("sessions", "candidates")] == [{}, {}]
    assert [some(one) for one in extra["time"].values()] == [{}, {}]


def test_each_session_is_in_one_part(at_four: Memory, agent: Actor) -> None:
    layout = at_four.vault.layout
    keep(at_four, *a_session("curated"))
    at_four.curate(agent)
    assert some(told(at_four)["sessions"]) == {"total": 1, "curated": 1}
    keep(at_four, *a_session("ended", 50), event(0, session="idle"), event(119, session="open"))
    keep(at_four, event(10, session="aside"), event(10, session="again"))
    assert claim_spool(layout, "aside")
    assert claim_spool(layout, "again")
    keep(at_four, event(118, session="again"))
    Path(layout.events, "0" * 32 + ".jsonl").write_text("torn\n\n")
    at_four.count_odd(Odd.UNKNOWN)
    extra = told(at_four)
    assert some(extra["sessions"]) == {
        "total": 7,
        "open": 2,
        "idle": 1,
        "ended": 1,
        "set_aside": 1,
        "unreadable": 1,
        "curated": 1,
    }
    assert extra["journal"]["unknown"] == 1
    keep(at_four, event(100, session="curated"))  # it goes on, and is open: it counts as that alone
    assert some(told(at_four)["sessions"])["total"] == 7
    assert told(at_four)["sessions"]["open"] == 3


def test_time_of_overlapping_sessions_is_added_up_and_counts_once_on_the_wall(at_four: Memory, agent: Actor) -> None:
    keep(at_four, *a_session("one"), *a_session("two", 10))
    time = told(at_four)["time"]
    # start, then 1 min to the prompt; 8 min of work; then 33 min in which nobody knows
    assert some(time["sessions"]) == {"total_s": 84 * 60, "working_s": 16 * 60, "waiting_s": 2 * 60, "quiet_s": 66 * 60}
    # the second one's beginning falls into what is quiet of the first
    assert some(time["wall"]) == {"total_s": 52 * 60, "working_s": 16 * 60, "waiting_s": 2 * 60, "quiet_s": 34 * 60}
    at_four.curate(agent)
    time = told(at_four)["time"]
    assert some(time["sessions"]) == {"total_s": 84 * 60, "unsplit_s": 84 * 60}
    assert some(time["wall"]) == {"total_s": 52 * 60, "unsplit_s": 52 * 60}
    keep(at_four, event(60, EventKind.PROMPT, "one"), event(65, session="one"))
    assert some(told(at_four)["time"]["sessions"]) == {"total_s": 89 * 60, "working_s": 5 * 60, "unsplit_s": 84 * 60}


def test_each_candidate_is_in_one_part(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    texts = ["barcodes fourteen digits", "kiosks restart", "fees end", "covers cached", "holds fifteen", "ports closed"]
    ids = [memory.propose(Draft(text, text), agent).candidate.id for text in texts]
    memory.reject([ids[0]], "no", person)
    memory.withdraw([ids[1]], "mine", agent)
    memory.defer([ids[2]], "2999-01-01", person)
    waiting = desk.runtime / "inbox" / f"{ids[3]}.json"
    value = json.loads(waiting.read_text())
    waiting.write_text(json.dumps(value | {"expires": "2020-01-01T00:00:00Z"}))
    (desk.runtime / "inbox" / f"{ids[4]}.json").write_text("{")
    decided = desk.runtime / "inbox" / "decided" / f"{ids[0]}.json"
    (desk.runtime / "inbox" / f"{ids[0]}.json").write_text(json.dumps(json.loads(decided.read_text())["candidate"]))
    assert some(told(memory)["candidates"]) == {
        "total": 6,
        "pending": 1,
        "deferred": 1,
        "overdue": 1,
        "unreadable": 1,
        "rejected": 1,
        "withdrawn": 1,
    }


def test_what_cannot_be_read_is_null_and_said(memory: Memory, desk: Desk) -> None:
    (desk.runtime / "events").write_text("no folder")
    answer = memory.status()
    assert [answer.extra[name] for name in ("sessions", "time", "journal")] == [None] * 3
    assert answer.extra["candidates"]["total"] == 0
    assert [one.code for one in answer.diagnostics] == ["spool-unreadable"]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_the_parts_are_disjoint_and_sum_up(at_four: Memory, agent: Actor, seed: int) -> None:
    random = Random(seed)
    names = [f"s{number}" for number in range(5)]
    for _number in range(40):
        name, minute = random.choice(names), random.randrange(120)
        step = random.random()
        if step < 0.8:
            keep(at_four, event(minute, random.choice(list(EventKind)), name, tool="Edit", paths=("a.py",)))
        elif step < 0.9:
            claim_spool(at_four.vault.layout, name)
        else:
            at_four.curate(agent, Wanted(every=random.random() < 0.5))
        extra = told(at_four)
        layout = at_four.vault.layout
        there = {one.session for one in (*iter_claimed(layout), *iter_spools(layout))}
        there |= {one.session for one in load_curated(layout).sessions}
        assert extra["sessions"]["total"] == len(there)


def test_the_line_for_people(at_four: Memory) -> None:
    from gitmem.hosts.cli.commands.status import _say_sessions

    keep(at_four, *a_session("one"), event(119, session="two"))
    extra = told(at_four)
    assert _say_sessions(extra["sessions"], extra["time"]) == "1 open, 1 ended; agents worked 0 h 08 min"
    assert _say_sessions(None, None) == ""
    spent = {"total_s": 7_500, "unsplit_s": 7_500, "working_s": 0}
    said = _say_sessions({"total": 2, "curated": 2, "set_aside": 0}, {"sessions": spent})
    assert said == "2 curated; curated ones took 2 h 05 min"
