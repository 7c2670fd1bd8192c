"""What the records themselves give reason to do: each with its reason, and never against what a person declared."""

from __future__ import annotations

import datetime
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.consolidate import Consolidation, Facts, Named, consolidate
from gitmem.model.authority import Authority
from gitmem.model.candidate import Wants
from gitmem.model.ids import RecordId
from gitmem.model.record import Draft, Kind, State

FOUR = "Run the tests with 4 workers"
TITLE = "Run the tests with two workers"
TODAY = datetime.date(2026, 11, 30)
A, B, C, D = (RecordId(f"{letter * 12}") for letter in "abcd")
TEXT = "More than two workers starve the database, and the booking tests fail at random."


def fact(record_id: RecordId, title: str = TITLE, body: str = TEXT, **others: object) -> Facts:
    key = others.pop("key", None)
    draft = Draft(title, body, kind=others.pop("kind", Kind.FACT), key=key)  # type: ignore[arg-type]
    given = {"state": State.OBSERVATION, "created": "2026-10-01T08:00:00Z", "source": f"claude/{record_id[0]}"}
    return Facts(record_id, draft=draft, **(given | others))  # type: ignore[arg-type]


def told(found: Consolidation) -> list[tuple[Wants, tuple[str, ...], str]]:
    return [(idea.wants, idea.targets, idea.why[0]) for idea in found.ideas]


def test_a_record_alone_gives_no_reason() -> None:
    assert consolidate([fact(A), fact(B, "Cache lifetime", "Five minutes.")], [(A, B)], TODAY) == Consolidation()


def test_what_is_out_of_date_is_to_be_retired() -> None:
    assert told(consolidate([fact(A, valid_until="2026-11-29")], [], TODAY)) == [
        (Wants.RETIRE, (A,), "out of date since 2026-11-29")
    ]
    assert consolidate([fact(A, valid_until="2026-11-30")], [], TODAY) == Consolidation()


def test_a_review_that_is_long_due_counts_only_after_half_a_year() -> None:
    assert consolidate([fact(A, review_after="2026-10-01")], [], TODAY) == Consolidation()
    assert told(consolidate([fact(A, review_after="2026-01-01")], [], TODAY)) == [
        (Wants.RETIRE, (A,), "its review has been due since 2026-01-01")
    ]


def test_evidence_counts_as_gone_only_if_nothing_of_it_is_left() -> None:
    gone = fact(A, files=2, gone=("src/a.py", "src/b.py"))
    assert told(consolidate([gone], [], TODAY)) == [
        (Wants.RETIRE, (A,), "the files it was seen in are gone from the project: src/a.py, src/b.py")
    ]
    assert consolidate([replace(gone, gone=("src/a.py",))], [], TODAY) == Consolidation()
    assert consolidate([replace(gone, has_more_evidence=True)], [], TODAY) == Consolidation()


def test_what_another_replaces_is_to_be_retired() -> None:
    found = consolidate(
        [fact(A, replaced_by=(B, "Run them with three")), fact(B, "Run them with three", "")], [], TODAY
    )
    assert told(found) == [(Wants.RETIRE, (A,), f"superseded by “Run them with three” ({B})")]


def test_two_that_say_the_same_are_to_be_merged_into_the_one_that_stands_higher() -> None:
    older, newer = fact(A), fact(B, created="2026-10-02T08:00:00Z")
    (merge,) = consolidate([newer, older], [(B, A)], TODAY).ideas
    assert (merge.wants, merge.targets) == (Wants.MERGE, (A, B))
    assert merge.why == (
        "2 records say nearly the same",
        f"“Run the tests with two workers” ({A}) stays: it is the oldest",
        f"“Run the tests with two workers” ({B}) goes",
    )
    (merge,) = consolidate([replace(newer, state=State.PROMOTED), older], [(A, B)], TODAY).ideas
    assert merge.targets == (B, A)


def test_three_sessions_that_saw_the_same_promote_it() -> None:
    records = [fact(one) for one in (A, B, C)]
    found = consolidate(records, [(A, B), (B, C), (A, C)], TODAY)
    assert [idea.wants for idea in found.ideas].count(Wants.MERGE) == 1
    promoted = [idea for idea in found.ideas if idea.wants is Wants.PROMOTE]
    assert promoted[0].why == ("seen in 3 sessions: claude/a, claude/b, claude/c",)
    seen = fact(A, sightings=("codex/x", "codex/y"))
    assert told(consolidate([seen], [], TODAY)) == [
        (Wants.PROMOTE, (A,), "seen in 3 sessions: claude/a, codex/x, codex/y")
    ]
    assert told(consolidate([fact(A, verified="2026-11-01")], [], TODAY)) == [
        (Wants.PROMOTE, (A,), "verified on 2026-11-01")
    ]
    assert consolidate([fact(A, state=State.PROMOTED, verified="2026-11-01")], [], TODAY) == Consolidation()


def test_of_two_that_contradict_each_other_the_older_is_to_be_retired() -> None:
    newer = fact(
        B, body=TEXT.replace("two", "four"), title="Run the tests with 4 workers", created="2026-11-01T08:00:00Z"
    )
    older = fact(A, title="Run the tests with 2 workers")
    (idea,) = consolidate([older, newer], [(A, B)], TODAY).ideas
    assert (idea.wants, idea.targets, idea.contradicts) == (Wants.RETIRE, (A,), (B,))
    assert idea.reason == f"a newer record says otherwise in nearly the same words: “{FOUR}” ({B})"


def test_one_key_for_two_different_things_is_a_contradiction() -> None:
    one, other = fact(A, "Cache", "Five minutes.", key="ttl"), fact(B, "Sessions", "They end at noon.", key="TTL")
    (idea,) = consolidate([one, other], [(A, B)], TODAY).ideas
    assert idea.reason == f"a newer record says otherwise under the same key: “Sessions” ({B})"


def test_what_a_person_declared_is_only_named() -> None:
    declared = fact(
        A, state=State.BASELINE, authority=Authority.USER_DECLARED, kind=Kind.PREFERENCE, review_after="2026-01-01"
    )
    other = fact(B, created="2026-11-01T08:00:00Z")
    found = consolidate([declared, other], [(A, B)], TODAY)
    assert found.named == (Named(A, declared.draft.title, "its review is due since 2026-01-01"),)
    assert told(found) == [(Wants.RETIRE, (B,), f"a person declared the same: “Run the tests with two workers” ({A})")]
    against = replace(other, draft=replace(other.draft, title=FOUR, body=TEXT.replace("two", "four")))
    first = replace(declared, draft=replace(declared.draft, title="Run the tests with 2 workers"), review_after="")
    found = consolidate([first, against], [(A, B)], TODAY)
    assert found.ideas == ()
    assert [one.id for one in found.named] == [A]


def test_episodes_are_neither_stale_nor_the_same() -> None:
    one = fact(A, kind=Kind.EPISODE, review_after="2020-01-01", files=1, gone=("a",), verified="2026-01-01")
    assert consolidate([one, replace(one, id=B)], [(A, B)], TODAY) == Consolidation()


_FACTS = st.builds(
    lambda number, **given: fact(RecordId(f"{number:012}"), **given),
    number=st.integers(0, 9),
    title=st.sampled_from(["Run with 2 workers", "Run with 4 workers", "Cache lifetime", "Never run with 2 workers"]),
    body=st.sampled_from([TEXT, "", "Five minutes."]),
    state=st.sampled_from([State.BASELINE, State.OBSERVATION, State.PROMOTED]),
    authority=st.sampled_from([None, *Authority]),
    created=st.sampled_from(["", "2026-01-01", "2026-11-01T08:00:00Z"]),
    verified=st.sampled_from(["", "2026-01-01"]),
    valid_until=st.sampled_from(["", "2026-01-01", "2026-02-30", "2027-01-01"]),
    review_after=st.sampled_from(["", "2026-01-01", "2026-11-01"]),
    key=st.sampled_from([None, "ttl"]),
    kind=st.sampled_from([None, Kind.FACT, Kind.EPISODE]),
    files=st.integers(0, 1),
    gone=st.sampled_from([(), ("a.py",)]),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.lists(_FACTS, max_size=8, unique_by=lambda one: one.id),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.randoms(use_true_random=False),
)
def test_whatever_the_records_are_declared_ones_are_safe_and_the_order_does_not_matter(
    records: list[Facts], pairs: list[tuple[int, int]], chance: object
) -> None:
    ids = [(RecordId(f"{one:012}"), RecordId(f"{other:012}")) for one, other in pairs]
    found = consolidate(records, ids, TODAY)
    declared = {one.id for one in records if one.is_declared}
    assert all(not declared & set(idea.targets) for idea in found.ideas)
    assert len({idea.about for idea in found.ideas}) == len(found.ideas)
    assert {one.id for one in found.named} <= declared
    retired = [idea.targets[0] for idea in found.ideas if idea.wants is Wants.RETIRE]
    assert not any(
        target in retired for idea in found.ideas if idea.wants is not Wants.RETIRE for target in idea.targets
    )
    for idea in found.ideas:
        candidate = idea.to_candidate("v", "2026-11-30T00:00:00Z")
        assert candidate.why
        assert candidate.targets
    chance.shuffle(records)  # type: ignore[attr-defined]
    chance.shuffle(ids)  # type: ignore[attr-defined]
    assert consolidate(records, [(other, one) for one, other in ids], TODAY) == found
