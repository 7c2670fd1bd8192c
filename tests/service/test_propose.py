"""The gate of the inbox: what gets in, is merged, known or was rejected, and what is refused before a byte is kept."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError, InputError, PolicyError, UnavailableError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Candidate, Fate, Outcome, Wants
from gitmem.model.ids import RecordId, new_record_id, parse_op_id
from gitmem.model.policy import Bounds, Policy
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import HomeSettings
from gitmem.service.intake import check_intake, check_room
from gitmem.service.memory import Memory
from gitmem.service.propose import add_candidate, make_candidate
from gitmem.vault.inbox import load_decided, load_inbox, save_candidate

from conftest import Desk, draft

SECRET = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"
OP = parse_op_id("the-proposal")


class LaterClock(SystemClock):
    """A clock that is ahead."""

    def __init__(self, days: int) -> None:
        self.ahead = datetime.timedelta(days=days)

    def now(self) -> datetime.datetime:
        return super().now() + self.ahead


def waiting(memory: Memory) -> list[Candidate]:
    return list(load_inbox(memory.vault.layout).candidates)


def every_byte(desk: Desk) -> bytes:
    return b"".join(path.read_bytes() for path in Path(desk.home).parent.rglob("*") if path.is_file())


def test_a_proposal_waits_and_nothing_is_committed(memory: Memory, desk: Desk, agent: Actor) -> None:
    before = desk.commits()
    told = memory.propose(draft(" Run tests\twith two workers "), agent, why=["seen\ntwice"])
    assert told.outcome is Outcome.NEW
    one = told.candidate
    assert waiting(memory) == [one]
    assert one == Candidate(
        id=one.id,
        created=one.created,
        draft=draft("Run tests with two workers"),
        actor="agent",
        sources=("cli/s1",),
        why=("seen twice",),
        worth=0.38,
        expires=one.expires,
    )
    assert desk.commits() == before
    desk.judge()


def test_saying_it_again_merges_and_after_acceptance_it_is_known(memory: Memory, agent: Actor, person: Actor) -> None:
    first = memory.propose(draft(), agent).candidate
    other = replace(agent, session="s2", host="codex")
    again = memory.propose(replace(draft("Run the tests with 2 workers"), evidence=("run:ci-1",)), other)
    assert (again.outcome, again.candidate.id, again.candidate.sources) == (
        Outcome.MERGED,
        first.id,
        ("cli/s1", "codex/s2"),
    )
    assert again.candidate.draft.evidence == ("run:make test", "run:ci-1")
    assert again.candidate.why == ("also proposed by codex/s2 as: Run the tests with 2 workers",)
    assert waiting(memory) == [again.candidate]

    record = memory.observe(draft("Deploy on Fridays", "Nobody minds it then."), person).records[0]
    known = memory.propose(draft("Deploy on Fridays", "Nobody minds it then."), agent)
    assert (known.outcome, known.record) == (Outcome.KNOWN, record.id)
    more = memory.propose(replace(draft("Deploy on Fridays", "Nobody minds it then."), evidence=("run:9",)), agent)
    assert (more.outcome, more.candidate.wants, more.candidate.targets) == (Outcome.NEW, Wants.MERGE, (record.id,))
    assert len(waiting(memory)) == 2


def test_a_record_that_says_otherwise_is_named(memory: Memory, agent: Actor, person: Actor) -> None:
    record = memory.observe(Draft("Cache time", "Answers are kept for 30 seconds.", key="cache-ttl"), person).records[0]
    told = memory.propose(Draft("How long caches hold", "One hour.", key="CACHE-TTL"), agent)
    assert (told.outcome, told.candidate.contradicts) == (Outcome.NEW, (record.id,))
    told = memory.propose(Draft("Cache time", "Answers are kept for 90 seconds."), agent)
    assert (told.outcome, told.candidate.contradicts) == (Outcome.NEW, (record.id,))


def test_what_a_person_rejected_is_told_and_not_added(memory: Memory, agent: Actor, person: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    memory.reject([one.id], "the runner has eight cores now", person)
    told = memory.propose(draft(), replace(agent, session="s2"))
    assert (told.outcome, told.candidate) == (Outcome.REJECTED_BEFORE, one)
    assert told.decided is not None
    assert told.decided.reason == "the runner has eight cores now"
    assert waiting(memory) == []


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (Draft(""), "no-title"),
        (Draft("x" * 201), "title-too-long"),
        (Draft("t", evidence=("nothing",)), "bad-evidence"),
        (Draft("t", tags=("a b",)), "bad-tag"),
        (Draft("a\u202eb"), "hidden-characters"),
        (Draft("t", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"), "bad-body"),
        (Draft("t", "x" * 20_001), "policy-bound"),
        (Draft("t", f"The token is {SECRET}"), "secret-found"),
        (Draft(f"The token {SECRET}"), "secret-found"),
        (Draft("t", evidence=(f"url:https://x.org/?token={SECRET}",)), "secret-found"),
    ],
)
def test_what_may_not_be_written_is_refused_before_a_byte_of_it_is_kept(
    bad: Draft, code: str, memory: Memory, desk: Desk, agent: Actor
) -> None:
    with pytest.raises(GitmemError) as error:
        memory.propose(bad, agent, why=["a reason"])
    assert error.value.code == code
    assert waiting(memory) == []
    assert SECRET.encode() not in every_byte(desk)
    with pytest.raises(PolicyError, match="looks like a secret"):
        memory.propose(draft(), agent, why=[f"it said {SECRET}"])
    assert SECRET.encode() not in every_byte(desk)


def test_a_person_may_propose_at_length(memory: Memory, person: Actor) -> None:
    assert memory.propose(Draft("t", "x" * 20_001), person).outcome is Outcome.NEW


def test_a_scanner_that_fails_lets_nothing_in(memory: Memory, agent: Actor) -> None:
    memory.vault.settings = HomeSettings(secret_scanner=("false",))
    with pytest.raises(UnavailableError) as error:
        memory.propose(draft(), agent)
    assert error.value.code == "scanner-failed"
    assert waiting(memory) == []


@pytest.mark.parametrize(
    ("bounds", "rule"),
    [
        (Bounds(candidates_waiting=2), "policy:bounds.candidates_waiting"),
        (Bounds(candidates_per_session=2), "policy:bounds.candidates_per_session"),
    ],
)
def test_a_model_beyond_its_bounds_is_told_the_rule(
    bounds: Bounds, rule: str, memory: Memory, agent: Actor, person: Actor
) -> None:
    policy = Policy(bounds=bounds)
    made = [make_candidate(memory.vault, draft(f"Thing {number}"), agent) for number in range(3)]
    check_room(made[:1], (), made[2], policy)
    with pytest.raises(PolicyError) as error:
        check_room(made[:2], (), made[2], policy)
    assert (error.value.code, error.value.fields["rule"]) == ("policy-bound", rule)
    assert error.value.hint
    check_room(made[:2], (), make_candidate(memory.vault, draft(), person), policy)


def test_a_session_is_bounded_by_what_it_proposed_first_whatever_became_of_it(memory: Memory, agent: Actor) -> None:
    policy = Policy(bounds=Bounds(candidates_per_session=2))
    made = [make_candidate(memory.vault, draft(f"Thing {number}"), agent) for number in range(3)]
    with pytest.raises(PolicyError):
        check_room(made[:1], made[1:2], made[2], policy)
    check_room(made[:2], (), make_candidate(memory.vault, draft(), replace(agent, session="s2")), policy)
    nobodys = [
        make_candidate(memory.vault, draft(f"Thing {number}"), replace(agent, session="")) for number in range(3)
    ]
    with pytest.raises(PolicyError):
        check_room(nobodys[:2], (), nobodys[2], policy)
    yesterday = [replace(one, created="2026-01-01T00:00:00Z") for one in nobodys[:2]]
    check_room(yesterday, (), nobodys[2], policy)


def test_policy_names_kinds_and_namespaces(memory: Memory, agent: Actor) -> None:
    policy = Policy(kinds=frozenset({Kind.FACT}), namespaces=("tool",))

    def refused(one: Draft) -> object:
        with pytest.raises(PolicyError) as error:
            check_intake(memory.vault, make_candidate(memory.vault, one, agent), agent, policy)
        return error.value.fields["rule"]

    assert refused(Draft("t", kind=Kind.TASK)) == "policy:kinds"
    assert refused(Draft("t", tags=("client/acme",))) == "policy:namespaces"
    for fine in (Draft("t", kind=Kind.BOUNDARY), Draft("t", kind=Kind.FACT, tags=("tool/x",)), Draft("t")):
        check_intake(memory.vault, make_candidate(memory.vault, fine, agent), agent, policy)


def test_many_are_proposed_all_or_none(memory: Memory, agent: Actor) -> None:
    drafts = [draft(f"Finding {number}", f"About the {name}.") for number, name in enumerate(("cat", "dog", "cat"))]
    with pytest.raises(InputError) as error:
        memory.propose_all([*drafts, Draft(""), Draft("t", SECRET)], agent, lines=[1, 2, 3, 7, 9])
    assert error.value.code == "bad-lines"
    assert [(one["line"], one["code"]) for one in error.value.fields["problems"]] == [
        (7, "no-title"),
        (9, "secret-found"),
    ]
    assert waiting(memory) == []
    placed = memory.propose_all([drafts[0], drafts[1], drafts[0]], agent)
    assert [one.outcome for one in placed] == [Outcome.NEW, Outcome.NEW, Outcome.MERGED]
    assert placed[0].candidate == placed[2].candidate
    assert len(waiting(memory)) == 2


def test_under_one_op_id_a_proposal_is_made_once(memory: Memory, agent: Actor, person: Actor) -> None:
    first = memory.propose(draft(), agent, op_id=OP)
    assert memory.propose(draft(), agent, op_id=OP) == first
    assert [one.seen for one in waiting(memory)] == [1]
    with pytest.raises(InputError) as error:
        memory.propose(draft("Another"), agent, op_id=OP)
    assert error.value.code == "op-id-reused"
    memory.reject([first.candidate.id], "no", person)
    assert memory.propose(draft(), agent, op_id=OP).candidate == first.candidate
    record = memory.observe(draft("Deploy on Fridays", "Nobody minds."), person).records[0]
    for _ in range(2):
        known = memory.propose(draft("Deploy on Fridays", "Nobody minds."), agent, op_id=parse_op_id("other"))
        assert (known.outcome, known.record) == (Outcome.KNOWN, record.id)


def test_the_old_expire_at_the_next_write_and_may_be_proposed_again(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    old = memory.propose(draft(), agent).candidate
    sleeping = memory.propose(draft("Deploy on Fridays", "Nobody minds."), agent).candidate
    memory.defer([sleeping.id], "2027-12-01", person)
    with desk.open() as later:
        later.vault.clock = LaterClock(days=61)
        assert [row["id"] for row in later.inbox().rows] == []
        again = later.propose(draft(), agent)
        assert again.outcome is Outcome.NEW
        assert {one.id for one in waiting(later)} == {again.candidate.id, sleeping.id}
        assert [(one.candidate, one.fate) for one in load_decided(later.vault.layout)] == [(old, Fate.EXPIRED)]


def test_candidates_about_records_need_such_records(memory: Memory, agent: Actor, person: Actor) -> None:
    record = memory.observe(draft(), person).records[0]
    one = make_candidate(memory.vault, Draft("Promote it"), agent)
    promote = replace(one, wants=Wants.PROMOTE, targets=(record.id,))
    assert add_candidate(memory.vault, promote, agent).outcome is Outcome.NEW
    again = replace(promote, id=new_record_id())
    assert add_candidate(memory.vault, again, agent).outcome is Outcome.MERGED
    for bad in (
        replace(one, wants=Wants.RETIRE),
        replace(one, wants=Wants.RETIRE, targets=(RecordId("000000000000"),)),
        replace(one, targets=(record.id,)),
    ):
        with pytest.raises(InputError):
            add_candidate(memory.vault, bad, agent)
    memory.promote(record.id, person)
    with pytest.raises(InputError, match="there is nothing to promote"):
        add_candidate(memory.vault, replace(promote, id=new_record_id()), agent)


def test_a_baseline_kind_may_be_proposed_and_is_compared_with_what_is_declared(
    memory: Memory, agent: Actor, person: Actor
) -> None:
    wanted = Draft("Never push to main", "Ask first.", Kind.BOUNDARY)
    told = memory.propose(wanted, agent)
    assert told.outcome is Outcome.NEW
    memory.reject([told.candidate.id], "later", person)
    memory.reconsider([told.candidate.id], person)
    memory.declare(wanted, person)
    assert memory.propose(wanted, agent).outcome is Outcome.KNOWN


def test_a_private_record_is_not_compared(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    record = memory.observe(draft(), person).records[0]
    note = desk.repo / record.path
    note.write_text(note.read_text().replace("---\n", "---\nprivate: true\n", 1))
    memory.adopt([], person)
    told = memory.propose(draft(), agent)
    assert (told.outcome, told.candidate.near) == (Outcome.NEW, ())


_PROPOSER = """
import sys
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft
from gitmem.service.vault import Options
from gitmem.wiring import open_memory
home, vault, who, count = sys.argv[1:5]
actor = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid", session=who)
with open_memory(home, home, vault) as memory:
    for number in range(int(count)):
        memory.propose(Draft(f"Finding of {who} number {number}", f"Words{who} text{number} of{who}x{number}."), actor)
        memory.propose(Draft("Run tests with two workers", "More exhaust the database."), actor)
"""


def test_processes_that_propose_at_once_lose_nothing(memory: Memory, desk: Desk) -> None:
    command = [sys.executable, "-c", _PROPOSER, desk.home, str(desk.repo)]
    names = ["alpha", "bravo", "charlie"]
    running = [subprocess.Popen([*command, name, "6"], env=dict(os.environ)) for name in names]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    found = waiting(memory)
    assert len(found) == 3 * 6 + 1
    shared = next(one for one in found if one.draft.title == "Run tests with two workers")
    assert (shared.seen, sorted(shared.sources)) == (18, ["cli/alpha", "cli/bravo", "cli/charlie"])


def test_a_busy_inbox_is_told(memory: Memory, desk: Desk, agent: Actor) -> None:
    from gitmem.vault.inbox import hold_inbox

    with hold_inbox(memory.vault.layout), desk.open(lock_wait_s=0) as other:
        with pytest.raises(UnavailableError) as error:
            other.propose(draft(), agent)
        assert error.value.code == "inbox-busy"
        assert other.inbox().rows == ()  # a reader waits for nobody


def test_a_file_that_can_not_be_read_is_told_and_stays(memory: Memory, agent: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    file = Path(memory.vault.layout.inbox, f"{one.id}.json")
    value: dict[str, Any] = json.loads(file.read_text())
    file.write_text(json.dumps(value | {"worth": 7}))
    answer = memory.inbox()
    assert [(problem.code, problem.path) for problem in answer.diagnostics] == [
        ("candidate-unreadable", f"inbox/{one.id}.json")
    ]
    assert "candidate-unreadable" in [problem.code for problem in memory.status().diagnostics]
    assert memory.propose(draft(), agent).outcome is Outcome.NEW
    assert json.loads(file.read_text())["worth"] == 7


def test_what_came_into_the_vault_by_another_way_is_settled(memory: Memory, agent: Actor, person: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    memory.accept([_choice(one)], person)
    save_candidate(memory.vault.layout, one)  # as a clone of the runtime that is behind would have it
    assert memory.inbox().rows == ()
    assert waiting(memory) == []


def _choice(one: Candidate) -> Any:
    from gitmem.model.candidate import Choice

    return Choice(one.id, to=State.OBSERVATION)
