"""Rejecting, deferring and reconsidering: by whom, how long, and what is remembered."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace

import pytest

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Candidate, Choice, Fate, InboxFilters, Outcome
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.vault.inbox import load_decided, load_inbox

from conftest import Desk, draft

ALL = InboxFilters(deferred=True)


class LaterClock(SystemClock):
    """A clock that is three days ahead."""

    def now(self) -> datetime.datetime:
        return super().now() + datetime.timedelta(days=3)


def waiting(memory: Memory) -> list[str]:
    return [one.id for one in load_inbox(memory.vault.layout).candidates]


def listed(memory: Memory, filters: InboxFilters | None = None) -> list[str]:
    return [row["id"] for row in memory.inbox(filters).rows]


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(GitmemError) as error:
        act()
    return error.value.code


@pytest.fixture
def one(memory: Memory, agent: Actor) -> Candidate:
    return memory.propose(draft(), agent).candidate


def test_a_rejection_is_remembered_with_its_reason(memory: Memory, desk: Desk, one: Candidate, person: Actor) -> None:
    commits = desk.commits()
    done = memory.reject([one.id[:6]], " it held\nfor a day ", person)
    assert (done.candidates, done.fate, done.changed) == ((one,), Fate.REJECTED, True)
    assert [(kept.candidate, kept.fate, kept.reason) for kept in load_decided(memory.vault.layout)] == [
        (one, Fate.REJECTED, "it held for a day")
    ]
    assert not memory.reject([one.id], "again", person).changed
    row = memory.inbox(InboxFilters(decided=True)).rows[0]
    assert (row["id"], row["fate"], row["decided_because"]) == (one.id, "rejected", "it held for a day")
    assert desk.commits() == commits


def test_all_are_decided_or_none(memory: Memory, one: Candidate, person: Actor) -> None:
    assert refused(lambda: memory.reject([one.id, "zzzzzzzzzzzz"], "no", person)) == "no-such-candidate"
    assert refused(lambda: memory.reject([one.id], "  ", person)) == "empty-reason"
    assert refused(lambda: memory.reject([], "no", person)) == "no-candidates"
    assert refused(lambda: memory.reject([one.id], "AKIAIOSFODNN7EXAMPLA is no key", person)) == "secret-found"
    assert refused(lambda: memory.defer([one.id], "yesterday", person)) == "date-passed"
    assert refused(lambda: memory.defer([one.id], "soonish", person)) == "bad-date"
    assert waiting(memory) == [one.id]


def test_a_model_takes_back_what_it_proposed_alone_and_that_is_held_against_nobody(
    memory: Memory, one: Candidate, agent: Actor
) -> None:
    other = replace(agent, name="other-agent", session="s2")
    assert refused(lambda: memory.withdraw([one.id], "no", other)) == "needs-human"
    assert refused(lambda: memory.reject([one.id], "no", agent)) == "needs-human"
    assert memory.withdraw([one.id], "I was wrong", agent).fate is Fate.WITHDRAWN
    assert memory.propose(draft(), other).outcome is Outcome.NEW

    shared = memory.propose(draft(), agent)
    assert shared.outcome is Outcome.MERGED
    for actor in (agent, other):
        assert refused(lambda actor=actor: memory.withdraw([shared.candidate.id], "no", actor)) == "needs-human"  # type: ignore[misc]
        assert refused(lambda actor=actor: memory.defer([shared.candidate.id], None, actor)) == "needs-human"  # type: ignore[misc]


def test_what_a_person_proposed_is_no_models_own(memory: Memory, person: Actor, agent: Actor) -> None:
    one = memory.propose(draft(), person).candidate
    same_name = replace(agent, name=person.name)
    assert refused(lambda: memory.withdraw([one.id], "no", same_name)) == "needs-human"


def test_a_deferred_candidate_sleeps_until_its_date(memory: Memory, one: Candidate, person: Actor) -> None:
    done = memory.defer([one.id], "2099-01-01", person)
    asleep = done.candidates[0]
    assert (asleep.deferred, asleep.expires) == ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z")
    assert (listed(memory), listed(memory, ALL)) == ([], [one.id])
    assert memory.inbox().extra["inbox"] == {"candidates": 1, "deferred": 1}
    assert memory.status().extra["inbox"] == {"candidates": 1, "deferred": 1}
    assert memory.propose(draft(), replace(person, session="s3")).outcome is Outcome.MERGED
    assert listed(memory) == []
    awake = memory.reconsider([one.id], person).candidates[0]
    assert awake.deferred is None
    assert listed(memory) == [one.id]
    week = memory.defer([one.id], None, person).candidates[0]
    assert week.expires == awake.expires


def test_a_decision_is_taken_back_by_a_person(memory: Memory, one: Candidate, person: Actor, agent: Actor) -> None:
    memory.reject([one.id], "no", person)
    assert refused(lambda: memory.reconsider([one.id], agent)) == "needs-human"
    back = memory.reconsider([one.id], person)
    assert [kept.id for kept in back.candidates] == [one.id]
    assert (listed(memory), load_decided(memory.vault.layout)) == ([one.id], ())
    memory.accept([Choice(one.id)], person)
    assert refused(lambda: memory.reconsider([one.id], person)) == "already-accepted"


def test_an_agent_wakes_what_it_put_to_sleep(memory: Memory, one: Candidate, agent: Actor) -> None:
    memory.defer([one.id], None, agent)
    memory.reconsider([one.id], agent)
    assert listed(memory) == [one.id]


def test_an_agent_takes_no_deferral_of_a_persons_back(
    memory: Memory, one: Candidate, person: Actor, agent: Actor
) -> None:
    memory.set_policy(b"accept:\n  - id: run\n    evidence: [run]\n", person)
    memory.defer([one.id], None, agent)
    asleep = memory.defer([one.id], "2099-01-01", person).candidates[0]
    for act in (
        lambda: memory.reconsider([one.id], agent),
        lambda: memory.withdraw([one.id], "I was wrong", agent),
        lambda: memory.defer([one.id], "tomorrow", agent),
        lambda: memory.accept([Choice(one.id)], agent),
    ):
        assert refused(act) == "needs-human"
    again = memory.propose(draft(), agent)
    assert (again.outcome, again.candidate.deferred) == (Outcome.MERGED, "2099-01-01T00:00:00Z")
    assert refused(lambda: memory.reconsider([one.id], agent)) == "needs-human"
    assert load_inbox(memory.vault.layout).candidates == (replace(asleep, seen=2),)
    assert (listed(memory), listed(memory, ALL)) == ([], [one.id])
    memory.reconsider([one.id], person)
    memory.defer([one.id], "tomorrow", agent)
    memory.reconsider([one.id], agent)
    assert memory.accept([Choice(one.id)], agent).changed


def test_a_deferral_of_a_persons_holds_when_its_date_is_past(
    memory: Memory, desk: Desk, one: Candidate, person: Actor, agent: Actor
) -> None:
    memory.defer([one.id], "2d", person)
    with desk.open() as later:
        later.vault.clock = LaterClock()
        assert listed(later) == [one.id]
        assert refused(lambda: later.defer([one.id], None, agent)) == "needs-human"
        assert refused(lambda: later.withdraw([one.id], "no", agent)) == "needs-human"


def test_the_oldest_decisions_are_forgotten(memory: Memory, agent: Actor, person: Actor) -> None:
    memory.set_policy(b"bounds:\n  decided_kept: 2\n", person)
    words = ("cats", "dogs", "birds")
    ids = [memory.propose(Draft(f"About {word}", f"There are {word}."), agent).candidate.id for word in words]
    for number, wanted in enumerate(ids):
        memory.reject([wanted], f"no {number}", person)
    kept = [decided.candidate.id for decided in load_decided(memory.vault.layout)]
    assert len(kept) == 2
    assert set(kept) < set(ids)


def test_the_list_is_by_topic_and_worth(memory: Memory, agent: Actor, person: Actor) -> None:
    record = memory.observe(Draft("Caches hold 30 s", "Measured."), person).records[0]
    plain = memory.propose(Draft("Deploy on Fridays", "Nobody minds it then."), agent).candidate
    two = memory.propose(
        Draft("Retry thrice", "The server sheds load.", tags=("scope/api",), evidence=("run:1",)), agent
    )
    three = memory.propose(Draft("Batch of ten", "More are cut.", tags=("scope/api",)), agent)
    against = memory.propose(Draft("Caches hold 60 s", "Measured.", kind=Kind.FINDING), agent)
    rows = memory.inbox().rows
    assert [(row["group"], row["id"]) for row in rows] == [
        ("finding", against.candidate.id),
        ("scope/api", two.candidate.id),
        ("scope/api", three.candidate.id),
        ("fact", plain.id),
    ]
    assert [row["id"] for row in memory.inbox(InboxFilters(group="scope/api")).rows] == [
        two.candidate.id,
        three.candidate.id,
    ]
    assert memory.inbox(InboxFilters(group="nothing")).status.value == "no-match"
    assert rows[0]["contradicts"] == [
        {"id": record.id, "title": "Caches hold 30 s", "state": "observation", "path": record.path}
    ]
    near = rows[0]["near"][0]
    assert (near["id"], near["title"], near["is_candidate"]) == (record.id, "Caches hold 30 s", False)
    assert rows[0]["decision"] == {
        "rule": "accept-model",
        "verdict": "needs-human",
        "reason": "a candidate is accepted by a person's review, or by a rule of the vault's policy",
    }


def test_a_secret_that_got_into_a_file_is_found_and_not_shown(memory: Memory, one: Candidate) -> None:
    from gitmem.vault.inbox import save_candidate

    secret = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"
    save_candidate(
        memory.vault.layout, replace(one, draft=Draft("t", f"a\n{secret}"), why=(f"because {secret}",), near=())
    )
    answer = memory.inbox()
    assert secret not in str(answer)
    assert answer.rows[0]["findings"][0]["where"] == "body"
    assert answer.rows[0]["findings"][0]["line"] == 2


def test_reading_the_inbox_writes_nothing_where_there_is_none(memory: Memory, desk: Desk) -> None:
    answer = memory.inbox()
    assert (answer.status.value, answer.rows, answer.extra["inbox"]) == (
        "no-match",
        (),
        {"candidates": 0, "deferred": 0},
    )
    assert not (desk.runtime / "inbox").exists()
    assert not (desk.runtime / "inbox.lock").exists()
