"""Where a proposal goes: among what waits, what was decided, and what is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.curator.gather import Known, merge, place
from gitmem.curator.ideas import CURATOR
from gitmem.curator.worth import find_group, raise_worth, weigh
from gitmem.model.authority import Surface
from gitmem.model.candidate import Candidate, Decided, Fate, Near, Outcome, Proposed, Wants
from gitmem.model.ids import RecordId
from gitmem.model.record import Draft, Kind, State

TITLE, BODY = "Run tests with two workers", "More workers exhaust the database."
NEWS = "More workers exhaust the database. Nightly jobs hold connections until morning, and replication lags."


def candidate(number: int = 1, title: str = TITLE, body: str = BODY, **draft: object) -> Candidate:
    return Candidate(
        RecordId(f"{number:012d}"),
        "2026-12-01T10:00:00Z",
        Draft(title, body, **draft),  # type: ignore[arg-type]
        actor="agent",
        sources=(f"cli/s{number}",),
        worth=0.3,
        expires=f"2027-01-{number:02d}T10:00:00Z",
    )


def known(
    number: int = 9, state: State = State.OBSERVATION, title: str = TITLE, body: str = BODY, **draft: object
) -> Known:
    return Known(RecordId(f"{number:012d}"), state, Draft(title, body, **draft))  # type: ignore[arg-type]


NEW = candidate(1)
WAITING = candidate(2)


def rejected(one: Candidate, fate: Fate = Fate.REJECTED) -> Decided:
    return Decided(one, fate, "2026-11-01T10:00:00Z", "no")


def test_what_nobody_said_is_new() -> None:
    other = candidate(2, "Deploy on Fridays", "Nobody minds.")
    assert place(NEW, [other], [rejected(other)], [known(title="Deploy on Fridays", body="")]) == Proposed(
        NEW, Outcome.NEW
    )


def test_what_waits_takes_the_same_in() -> None:
    told = place(replace(NEW, draft=replace(NEW.draft, evidence=("run:1",))), [WAITING], [], [])
    assert told == Proposed(
        replace(
            WAITING,
            draft=replace(WAITING.draft, evidence=("run:1",)),
            sources=("cli/s2", "cli/s1"),
            seen=2,
            worth=0.535,
        ),
        Outcome.MERGED,
    )


def test_a_record_that_says_it_makes_it_known() -> None:
    told = place(NEW, [WAITING], [rejected(WAITING)], [known()])
    assert (told.outcome, told.record) == (Outcome.KNOWN, "000000000009")
    title_alone = candidate(1, body="")
    assert place(title_alone, [], [], [known()]).outcome is Outcome.KNOWN


@pytest.mark.parametrize("new", [candidate(1, evidence=("run:2",)), candidate(1, body=NEWS)])
def test_evidence_and_more_text_are_proposed_to_be_merged_into_the_record(new: Candidate) -> None:
    told = place(new, [WAITING], [], [known()])
    assert (told.outcome, told.candidate.wants, told.candidate.targets) == (Outcome.NEW, Wants.MERGE, ("000000000009",))
    assert told.candidate.why == ("a record says it already; this adds to it",)
    again = place(replace(new, id=RecordId("000000000003"), sources=("cli/s3",)), [told.candidate], [], [known()])
    assert (again.outcome, again.candidate.seen, again.candidate.id) == (Outcome.MERGED, 2, told.candidate.id)
    assert place(new, [], [rejected(told.candidate)], [known()]).outcome is Outcome.REJECTED_BEFORE


def test_what_was_rejected_is_not_proposed_again() -> None:
    last = rejected(WAITING)
    assert place(NEW, [], [last], []) == Proposed(WAITING, Outcome.REJECTED_BEFORE, decided=last)
    for fate in (Fate.EXPIRED, Fate.WITHDRAWN, Fate.ACCEPTED, Fate.MERGED):
        assert place(NEW, [], [rejected(WAITING, fate)], []).outcome is Outcome.NEW


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        (candidate(1), known(title="Run tests with four workers"), "a record that is nearly the same has other values"),
        (
            candidate(1, "Don't squash commits", ""),
            known(title="Squash commits", body=""),
            "one of this and a record that is nearly the same denies what the other says",
        ),
        (
            candidate(1, "Cache time", "Thirty seconds.", key="cache-ttl"),
            known(title="Expiry of tokens", body="A day.", key="Cache-TTL"),
            "a record with the same key says something else",
        ),
    ],
)
def test_contradictions_wait_and_say_what_they_contradict(new: Candidate, old: Known, why: str) -> None:
    told = place(new, [], [], [old])
    assert (told.outcome, told.candidate.wants) == (Outcome.NEW, Wants.RECORD)
    assert (told.candidate.contradicts, told.candidate.why) == ((old.id,), (why,))
    assert told.candidate.worth > new.worth


def test_a_retired_record_makes_nothing_known() -> None:
    told = place(NEW, [], [], [known(state=State.RETIRED)])
    assert (told.outcome, told.candidate.why) == (Outcome.NEW, ("a retired record says nearly the same",))
    assert told.candidate.near == (Near(RecordId("000000000009"), 1.0),)


def test_what_is_to_be_declared_is_known_by_what_is_declared_alone() -> None:
    boundary = candidate(1, kind=Kind.BOUNDARY)
    assert place(boundary, [], [], [known()]).outcome is Outcome.NEW
    assert place(boundary, [], [], [known(state=State.BASELINE)]).outcome is Outcome.KNOWN
    more = candidate(1, kind=Kind.BOUNDARY, evidence=("run:1",))
    assert place(more, [], [], [known(state=State.BASELINE)]).candidate.wants is Wants.MERGE
    fact = candidate(1, evidence=("run:1",))
    assert place(fact, [], [], [known(state=State.BASELINE)]).candidate.wants is Wants.RECORD


def test_changes_of_records_are_the_same_by_what_they_are_about() -> None:
    ids = (RecordId("000000000007"), RecordId("000000000008"))
    retire = replace(NEW, wants=Wants.RETIRE, targets=ids[:1], reason="valid until 2026-11-01, which has passed")
    assert place(replace(retire, id=WAITING.id), [retire], [], []).outcome is Outcome.MERGED
    later = replace(retire, reason="its evidence is gone from the project")
    assert place(later, [retire], [], []).outcome is Outcome.NEW
    assert place(replace(retire, targets=ids[1:]), [retire], [], []).outcome is Outcome.NEW
    merging = replace(NEW, wants=Wants.MERGE, targets=ids)
    assert place(replace(merging, targets=ids[::-1]), [], [rejected(merging)], []).outcome is Outcome.REJECTED_BEFORE
    assert place(replace(merging, wants=Wants.PROMOTE), [merging], [], []).outcome is Outcome.NEW


def test_near_candidates_stand_beside_each_other() -> None:
    near = candidate(2, "Run tests with two workers", "Each opens nine connections, and the server takes twenty.")
    told = place(NEW, [near], [], [])
    assert told.outcome is Outcome.NEW
    assert [(one.id, one.is_candidate) for one in told.candidate.near] == [(near.id, True)]


def test_merging_keeps_the_text_of_a_person_and_takes_a_longer_one_that_holds_all_of_it() -> None:
    longer = candidate(1, "Tests take two workers", f"{BODY} Run tests with two.", tags=("tool/x",), key="k")
    merged = merge(WAITING, longer)
    assert merged.draft == replace(longer.draft)
    assert merged.why == ("also proposed by cli/s1 as: Tests take two workers",)
    persons = merge(replace(WAITING, surface=Surface.HUMAN), longer)
    assert (persons.draft.body, persons.draft.tags, persons.draft.key) == (BODY, ("tool/x",), "k")
    assert merge(longer, WAITING).draft == longer.draft
    assert merged.expires == WAITING.expires


def test_what_the_curator_says_again_with_other_numbers_takes_the_place_of_what_it_said() -> None:
    told = (
        "`make` failed in 4 of the 5 sessions",
        "seen in 3 sessions: cli/s1, cli/s2, cli/s3",
        "verified on 2026-11-01",
    )
    idea = replace(NEW, actor=CURATOR, why=told)
    waiting = merge(idea, replace(WAITING, draft=Draft("Tests take 2 workers", BODY), why=("it did in CI run 4",)))
    also = ("it did in CI run 4", "also proposed by cli/s2 as: Tests take 2 workers")
    assert waiting.why == (*told, *also)
    again = ("`make` failed in 6 of the 7 sessions", "seen in 5 sessions: cli/s1, cli/s2, cli/s3, cli/s4, cli/s5")
    assert merge(waiting, replace(idea, why=again)).why == (*again, told[2], *also)
    assert merge(waiting, replace(idea, why=again, actor="agent")).why == (*told, *also, *again)


def test_saying_it_again_in_one_session_raises_nothing() -> None:
    again = merge(NEW, replace(NEW, id=WAITING.id))
    assert (again.seen, again.worth, again.sources) == (2, NEW.worth, NEW.sources)


def test_what_is_gathered_is_bounded() -> None:
    one = NEW
    for number in range(2, 90):
        other = candidate(number % 28 + 1, evidence=(f"run:{number}",), tags=(f"t{number}",))
        one = merge(one, replace(other, id=RecordId(f"{number:012d}"), sources=(f"cli/s{number}",), why=(f"{number}",)))
    assert (len(one.sources), len(one.why), len(one.draft.evidence), len(one.draft.tags)) == (32, 16, 64, 64)
    assert one.seen == 89
    assert 0.99 < one.worth <= 1


def test_worth_grows_with_evidence_contradiction_and_a_person_and_never_above_one() -> None:
    plain = weigh(candidate(1))
    evidence = weigh(candidate(1, evidence=("run:1", "run:2")))
    contradicting = weigh(replace(candidate(1), contradicts=(RecordId("000000000009"),)))
    human = weigh(replace(candidate(1), surface=Surface.HUMAN))
    assert plain < evidence < contradicting == human
    assert [raise_worth(0.5, times) for times in (0, 1, 2, 1000)] == [0.5, 0.625, 0.719, 1.0]


def test_groups_are_topics() -> None:
    assert find_group(candidate(1, tags=("x", "tool/pytest"))) == "tool/pytest"
    assert find_group(candidate(1, tags=("x",), key="k")) == "k"
    assert find_group(candidate(1, kind=Kind.GOAL)) == "goal"
    assert find_group(candidate(1)) == "fact"
    retire = replace(NEW, wants=Wants.RETIRE, targets=(RecordId("000000000009"),))
    assert find_group(retire) == "retire"
    assert find_group(retire, {RecordId("000000000009"): ("domain/ci",)}) == "domain/ci"
