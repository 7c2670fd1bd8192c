"""What a vault's policy takes from a model surface; it never gives anything."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.authority import Action, Decision
from gitmem.model.policy import EVIDENCE_FORMS, MODEL_ACTIONS, Bounds, EvidenceRule, Origin, Policy
from gitmem.model.record import Draft, Kind
from gitmem.policy.narrowing import (
    COUNTED,
    Check,
    Handed,
    find_refusal,
    iter_candidate_checks,
    iter_checks,
    iter_count_checks,
    make_broken,
    make_stricter,
)

DRAFT = Draft("Two workers", "Text.", Kind.FACT, tags=("tool/pytest",), evidence=("run:make test",))
NARROW = Policy(
    bounds=Bounds(body_chars=10),
    kinds=frozenset({Kind.FACT}),
    namespaces=("tool",),
    evidence=("run", "commit"),
    model_may=frozenset({Action.OBSERVE, Action.PROPOSE, Action.EDIT, Action.IMPORT}),
)


def stopped(action: Action, **changes: Any) -> list[str]:
    return [check.rule for check in iter_checks(NARROW, action, replace(DRAFT, **changes)) if not check.holds]


STOPS: list[tuple[Action, dict[str, Any], list[str]]] = [
    (Action.OBSERVE, {}, []),
    (Action.OBSERVE, {"kind": None}, []),
    (Action.OBSERVE, {"kind": Kind.FINDING}, ["policy:kinds"]),
    (Action.OBSERVE, {"tags": ("tool", "client/acme")}, ["policy:namespaces"]),
    (Action.OBSERVE, {"tags": ("tools/x",)}, ["policy:namespaces"]),
    (Action.OBSERVE, {"tags": ()}, []),
    (Action.OBSERVE, {"evidence": ("url:https://example.com",)}, ["policy:evidence"]),
    (Action.OBSERVE, {"evidence": ("url:https://example.com", "run:make")}, []),
    (Action.OBSERVE, {"body": "x" * 10}, []),
    (Action.OBSERVE, {"body": "x" * 11}, ["policy:bounds.body_chars"]),
    (Action.PROPOSE, {"evidence": ()}, []),
    (Action.PROPOSE, {"kind": Kind.BOUNDARY}, []),
    (Action.PROPOSE, {"kind": Kind.FINDING, "body": "x" * 11}, ["policy:kinds", "policy:bounds.body_chars"]),
    (Action.IMPORT, {"evidence": ()}, []),
    (Action.IMPORT, {"kind": Kind.TASK}, ["policy:kinds"]),
    (Action.ACCEPT, {"kind": Kind.TASK, "evidence": ()}, ["policy:kinds", "policy:evidence"]),
    (Action.RETIRE, {"kind": Kind.TASK, "body": "x" * 11}, ["policy:model_may"]),
    (Action.CURATE, {"kind": Kind.EPISODE}, ["policy:model_may"]),
]


@pytest.mark.parametrize(("action", "changes", "rules"), STOPS)
def test_each_member_stops_what_it_names(action: Action, changes: dict[str, Any], rules: list[str]) -> None:
    assert stopped(action, **changes) == rules


def test_of_an_edit_only_what_it_brings_counts() -> None:
    old = replace(DRAFT, kind=Kind.TASK, tags=("client/acme",), evidence=(), body="x" * 20)
    kept = replace(old, title="Other", body="y" * 20, tags=("client/acme", "tool"))
    worse = replace(DRAFT, kind=Kind.FINDING, tags=("client/other",), evidence=("url:https://a.b",), body="x" * 21)

    assert [one.rule for one in iter_checks(NARROW, Action.EDIT, kept, old) if not one.holds] == []
    assert [one.rule for one in iter_checks(NARROW, Action.EDIT, worse, old) if not one.holds] == [
        *("policy:kinds", "policy:namespaces", "policy:evidence", "policy:bounds.body_chars"),
    ]


def test_a_refusal_names_the_first_check_that_does_not_hold_and_says_what_to_do() -> None:
    draft = replace(DRAFT, kind=Kind.FINDING, body="x" * 99)

    assert find_refusal(iter_checks(NARROW, Action.OBSERVE, draft)) == Decision(
        rule="policy:kinds",
        allowed=False,
        needs_human=True,
        reason="the vault's policy: a model may observe fact, not a finding",
        hint="Propose it instead, or ask a person to run it at a terminal.",
    )
    assert find_refusal(iter_checks(NARROW, Action.OBSERVE, DRAFT)) is None


@pytest.mark.parametrize(
    ("in_session", "today", "more", "has_session", "rules"),
    [
        (2, 5, 1, True, []),
        (3, 5, 1, True, ["policy:bounds.observations_per_session"]),
        (9, 5, 1, False, []),
        (0, 6, 1, True, ["policy:bounds.observations_per_day"]),
        (0, 0, 7, True, ["policy:bounds.observations_per_session", "policy:bounds.observations_per_day"]),
    ],
)
def test_observations_are_counted_with_what_is_asked_for(
    in_session: int, today: int, more: int, has_session: bool, rules: list[str]
) -> None:
    bounds = Bounds(observations_per_session=3, observations_per_day=6)
    checks = iter_count_checks(bounds, Handed(in_session, today), more, has_session=has_session)

    assert [check.rule for check in checks if not check.holds] == rules


def test_candidates_are_counted_by_session_and_in_all() -> None:
    bounds = Bounds(candidates_per_session=2, candidates_waiting=5)

    assert [one.holds for one in iter_candidate_checks(bounds, 1, 4)] == [True, True]
    assert list(iter_candidate_checks(bounds, 2, 5)) == [
        Check(
            "bounds.candidates_per_session",
            False,
            "at most 2 candidates are proposed in a session, or by an agent without one in a day (UTC); "
            "with this it is 3",
            "Propose the rest another time, or ask a person to run it at a terminal.",
            3,
            2,
        ),
        Check(
            "bounds.candidates_waiting",
            False,
            "at most 5 candidates wait; with this it is 6",
            "Ask a person to review what waits in the inbox.",
            6,
            5,
        ),
    ]


def test_what_is_counted_is_what_adds_observations() -> None:
    assert {Action.OBSERVE, Action.IMPORT, Action.ACCEPT} == COUNTED


POLICIES = st.builds(
    Policy,
    bounds=st.builds(
        Bounds,
        observations_per_session=st.integers(0, 200),
        observations_per_day=st.integers(0, 900),
        candidates_per_session=st.integers(0, 90),
        candidates_waiting=st.integers(0, 900),
        body_chars=st.integers(0, 40_000),
    ),
    kinds=st.frozensets(st.sampled_from([Kind.FACT, Kind.FINDING, Kind.TASK])),
    namespaces=st.none() | st.lists(st.sampled_from(["tool", "client", "domain"]), unique=True).map(tuple),
    evidence=st.lists(st.sampled_from(EVIDENCE_FORMS), unique=True).map(tuple),
    model_may=st.frozensets(st.sampled_from(sorted(MODEL_ACTIONS))),
    accept=st.just((EvidenceRule("a", evidence=("run",)),)),
    promote=st.just((EvidenceRule("p", evidence=("run",)),)),
    origin=st.just(Origin.FILE),
)
DRAFTS = st.builds(
    Draft,
    title=st.just("x"),
    body=st.integers(0, 50_000).map("x".__mul__),
    kind=st.sampled_from([Kind.FACT, Kind.FINDING, Kind.TASK, Kind.BOUNDARY]),
    tags=st.lists(st.sampled_from(["tool/a", "client", "domain/b", "plain"]), unique=True).map(tuple),
    evidence=st.lists(st.sampled_from(["run:x", "commit:abcdef0", "url:https://a.b"]), unique=True).map(tuple),
)


@given(POLICIES, POLICIES, DRAFTS, st.sampled_from(sorted(MODEL_ACTIONS | COUNTED)))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_stricter_of_two_lets_through_just_what_both_let_through(
    one: Policy, other: Policy, draft: Draft, action: Action
) -> None:
    both = make_stricter(one, other)

    def passes(policy: Policy) -> bool:
        return all(check.holds for check in iter_checks(policy, action, draft))

    assert not passes(both) or (passes(one) and passes(other))
    assert (both.accept, both.promote) == ((), ())
    for name in ("observations_per_session", "observations_per_day", "candidates_per_session", "candidates_waiting"):
        assert getattr(both.bounds, name) == min(getattr(one.bounds, name), getattr(other.bounds, name))


@given(POLICIES)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_stricter_of_a_policy_and_itself_is_itself_without_what_it_opens(policy: Policy) -> None:
    assert make_stricter(policy, policy) == replace(policy, accept=(), promote=())


def test_a_broken_policy_lets_a_model_do_nothing() -> None:
    broken = make_broken("line 3: what is this")

    assert (broken.origin, broken.problem) == (Origin.BROKEN, "line 3: what is this")
    for action in MODEL_ACTIONS:
        assert find_refusal(iter_checks(broken, action)) is not None
