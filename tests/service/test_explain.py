"""What explain says is what happens, with the rule that the commit then names; and no policy opens what may not be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError, PolicyError
from gitmem.model.answer import Status
from gitmem.model.authority import Action, Actor, Authority, Surface
from gitmem.model.policy import MODEL_ACTIONS, Policy
from gitmem.model.record import BASELINE_KINDS, Draft, Kind, Record, State
from gitmem.policy.evidence_rules import find_rule
from gitmem.policy.narrowing import iter_checks
from gitmem.service.edit import RecordEdit
from gitmem.service.explain import Asked
from gitmem.service.memory import Memory
from gitmem.service.policy import may_be_promoted_by_rule
from gitmem.vault.policy_file import parse_policy

from conftest import Desk, draft

WIDEST = b"""\
bounds: {observations_per_session: 1000000, observations_per_day: 1000000, body_chars: 262144}
accept:
  - {id: accept-it, evidence: [run]}
promote:
  - {id: promote-it, evidence: [run]}
"""
NARROW = b"model_may: [observe, propose]\nkinds: [fact]\nnamespaces: [tool]\nbounds: {observations_per_session: 2}\n"


def verdict(memory: Memory, action: Action, actor: Actor, asked: Asked | None = None) -> tuple[str, str]:
    answer = memory.explain(action, actor, asked or Asked())
    assert answer.status is Status.OK
    return answer.extra["verdict"], answer.extra["rule"]


def outcome(memory: Memory, desk: Desk, write: Callable[[], object]) -> tuple[str, str]:
    """Return how a write really went, and by which rule."""
    try:
        write()
    except PolicyError as error:
        return "needs_human" if error.code == "needs-human" else "refused", error.fields["rule"]
    rule = next(line for line in desk.git("log", "-1", "--format=%B").splitlines() if line.startswith("Gitmem-Rule: "))
    return "allowed", rule.removeprefix("Gitmem-Rule: ")


@pytest.mark.parametrize("policy", [b"", WIDEST, NARROW])
@pytest.mark.parametrize("surface", ["agent", "person"])
def test_what_is_explained_is_what_happens(
    desk: Desk, memory: Memory, person: Actor, agent: Actor, policy: bytes, surface: str
) -> None:
    own = memory.observe(draft("Own"), agent).records[0].id
    other = memory.observe(draft("Other"), person).records[0].id
    goal = memory.declare(Draft("Goal", "Ship.", Kind.GOAL), person).records[0].id
    memory.set_policy(policy, person)
    actor = agent if surface == "agent" else person
    tries: list[tuple[Action, Asked, Callable[[], object]]] = [
        (Action.OBSERVE, Asked(draft=draft("A")), lambda: memory.observe(draft("A"), actor)),
        (Action.OBSERVE, Asked(draft=Draft("B")), lambda: memory.observe(Draft("B"), actor)),
        *(
            (Action.OBSERVE, Asked(draft=one), lambda one=one: memory.observe(one, actor))
            for one in (
                replace(draft("C"), kind=Kind.FINDING),
                replace(draft("D"), kind=Kind.GOAL),
                replace(draft("E"), tags=("client/acme",)),
                replace(draft("F"), body="x" * 30_000),
                draft("G"),
                draft("H"),
            )
        ),
        (
            Action.DECLARE,
            Asked(draft=Draft("I", kind=Kind.GOAL)),
            lambda: memory.declare(Draft("I", kind=Kind.GOAL), actor),
        ),
        *(
            (
                Action.EDIT,
                Asked(one, Draft("", "New.")),
                lambda one=one: memory.edit(one, RecordEdit(body="New."), actor),
            )
            for one in (own, other, goal)
        ),
        (Action.PROMOTE, Asked(other), lambda: memory.promote(other, actor)),
        (Action.RETIRE, Asked(goal), lambda: memory.retire(goal, "reached", actor)),
        (Action.RETIRE, Asked(own), lambda: memory.retire(own, "outdated", actor)),
        (Action.POLICY, Asked(), lambda: memory.set_policy(b"kinds: [task]\n", actor)),
    ]

    for action, asked, write in tries:
        said = verdict(memory, action, actor, asked)
        assert said == outcome(memory, desk, write), (action, asked)


def test_everything_that_was_looked_at_is_told(memory: Memory, person: Actor, agent: Actor) -> None:
    memory.set_policy(NARROW, person)
    memory.observe(draft(), agent)

    answer = memory.explain(Action.OBSERVE, agent, Asked(draft=replace(draft(), body="x" * 7)))

    assert answer.rows == (
        {
            "rule": "observe-evidence",
            "holds": True,
            "text": "it is recorded as `workspace_evidence`, which informs and never instructs",
        },
        {"rule": "policy:model_may", "holds": True, "text": "observe is what a model may do by itself"},
        {"rule": "policy:kinds", "holds": True, "text": "a model may observe a fact"},
        {"rule": "policy:namespaces", "holds": True, "text": "a model's tags lie under tool"},
        {
            "rule": "policy:evidence",
            "holds": True,
            "text": "an observation of a model needs evidence: commit, file, run or url",
        },
        {
            "rule": "policy:bounds.body_chars",
            "holds": True,
            "text": "a model's record has at most 20000 characters; this has 7",
            "count": 7,
            "most": 20000,
        },
        {
            "rule": "policy:bounds.observations_per_session",
            "holds": True,
            "text": "models observe at most 2 in a session; with this it is 2",
            "count": 2,
            "most": 2,
        },
        {
            "rule": "policy:bounds.observations_per_day",
            "holds": True,
            "text": "models observe at most 500 in a day (UTC); with this it is 2",
            "count": 2,
            "most": 500,
        },
    )


def test_the_rules_that_might_open_it_are_told_with_what_they_ask_for(
    memory: Memory, person: Actor, agent: Actor
) -> None:
    memory.set_policy(
        b"promote:\n  - {id: twice, evidence: [run], sessions: 2}\n  - {id: by-commit, evidence: [commit]}\n", person
    )
    one = memory.observe(draft(), agent).records[0].id

    answer = memory.explain(Action.PROMOTE, agent, Asked(one))

    assert answer.extra["verdict"] == "needs_human"
    assert [(row["rule"], row["holds"], row["text"]) for row in answer.rows[1:]] == [
        ("policy:twice", False, "evidence run, 2 sessions"),
        ("policy:by-commit", False, "evidence commit"),
    ]


def test_a_candidate_is_weighed_as_it_waits(memory: Memory, person: Actor, agent: Actor) -> None:
    memory.set_policy(WIDEST, person)
    one = memory.propose(draft(), agent).candidate.id
    other = memory.propose(Draft("Never push", kind=Kind.BOUNDARY, evidence=("run:x",)), agent).candidate.id

    assert verdict(memory, Action.ACCEPT, agent, Asked(one)) == ("allowed", "policy:accept-it")
    assert verdict(memory, Action.ACCEPT, agent, Asked(other))[0] == "needs_human"
    assert verdict(memory, Action.ACCEPT, person, Asked(one)) == ("allowed", "accept-human")
    with pytest.raises(InputError):
        memory.explain(Action.ACCEPT, agent, Asked("zzzzzzzzzzzz"))


def test_proposals_are_counted(memory: Memory, person: Actor, agent: Actor) -> None:
    memory.set_policy(b"bounds: {candidates_per_session: 1}\n", person)
    memory.propose(draft("Use spaces"), agent)

    rule = "policy:bounds.candidates_per_session"
    assert verdict(memory, Action.PROPOSE, agent, Asked(draft=draft("Tabs are evil"))) == ("needs_human", rule)
    with pytest.raises(PolicyError) as caught:
        memory.propose(Draft("Rivers flow to the sea", "Water."), agent)
    assert caught.value.fields["rule"] == rule


def test_a_broken_policy_is_what_decides(desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
    (desk.repo / "policy.yaml").write_text("kinds: [")
    desk.git("add", "policy.yaml")
    desk.git("commit", "-qm", "x")

    answer = memory.explain(Action.OBSERVE, agent, Asked(draft=draft()))

    assert (answer.extra["verdict"], answer.extra["rule"]) == ("needs_human", "policy-broken")
    assert [one.code for one in answer.diagnostics] == [
        "policy-broken",
    ]
    assert verdict(memory, Action.OBSERVE, person, Asked(draft=draft())) == ("allowed", "observe-human")
    assert memory.policy().extra["policy"]["origin"] == "broken"


def test_a_record_tells_by_which_rules_it_came_to_be(memory: Memory, desk: Desk, person: Actor, agent: Actor) -> None:
    memory.set_policy(WIDEST, person)
    one = memory.observe(draft(), agent).records[0].id
    memory.promote(one, agent)
    memory.set_policy(b"", person)
    memory.edit(one, RecordEdit(body="Other."), person)

    answer = memory.explain_record(one)

    assert [(row["op"], row["rule"], row["text"]) for row in answer.rows] == [
        ("edit", "edit-human", "a person edits it"),
        ("promote", "policy:promote-it", "evidence run"),
        ("observe", "observe-evidence", "it is recorded as `workspace_evidence`, which informs and never instructs"),
    ]


NEVER = (Action.DECLARE, Action.POLICY, Action.TRUST, Action.ADOPT)


@pytest.mark.parametrize("scope", ["memory", "shared"])
def test_the_widest_policy_opens_nothing_that_may_not_be(
    request: pytest.FixtureRequest, person: Actor, agent: Actor, scope: str
) -> None:
    memory: Memory = request.getfixturevalue(scope)
    memory.set_policy(WIDEST, person)
    goal = memory.declare(Draft("Goal", kind=Kind.GOAL, evidence=("run:x",)), person).records[0].id
    seen = memory.observe(draft(), agent).records[0].id
    boundary = Asked(draft=Draft("x", kind=Kind.BOUNDARY, evidence=("run:x",)))

    for action in NEVER:
        assert verdict(memory, action, agent, boundary)[0] != "allowed"
    for action in (Action.OBSERVE, Action.ACCEPT):
        assert verdict(memory, action, agent, boundary)[0] != "allowed"
    for action in (Action.PROMOTE, Action.EDIT, Action.RETIRE, Action.RESTORE, Action.UNDO):
        assert verdict(memory, action, agent, Asked(goal))[0] != "allowed"
    promoted = verdict(memory, Action.PROMOTE, agent, Asked(seen))
    assert promoted == (
        ("allowed", "policy:promote-it") if scope == "memory" else ("needs_human", "promote-model-global")
    )
    assert verdict(memory, Action.IMPORT, agent, Asked(to_state=State.BASELINE))[0] == "needs_human"


WORDS = st.sampled_from(
    ["fact", "goal", "boundary", "observe", "declare", "promote", "policy", "run", "tool", "*", "x"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**7) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "kinds", "tags", "evidence", "sessions", "observations_per_day", "to"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
MEMBERS = st.sampled_from(["model_may", "kinds", "namespaces", "evidence", "bounds", "accept", "promote", "human_keys"])
FORMED = st.fixed_dictionaries(
    {},
    optional={
        "model_may": st.lists(st.sampled_from(sorted(MODEL_ACTIONS)), unique=True),
        "accept": st.lists(st.fixed_dictionaries({"id": st.just("a"), "evidence": st.just(["run"])}), max_size=1),
        "promote": st.lists(st.fixed_dictionaries({"id": st.just("p"), "evidence": st.just(["run"])}), max_size=1),
    },
)


@given(st.dictionaries(MEMBERS, VALUES) | FORMED)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_no_file_whatever_lets_a_model_declare_or_reach_what_is_declared(value: dict[str, Any]) -> None:
    import json

    try:
        policy = parse_policy(json.dumps(value).encode())
    except InputError:
        policy = Policy()
    assert policy.model_may <= MODEL_ACTIONS
    assert not policy.kinds & BASELINE_KINDS
    for action in NEVER:
        assert not all(check.holds for check in iter_checks(policy, action))
    for rules in (policy.accept, policy.promote):
        assert all(rule.evidence for rule in rules)
        for kind in BASELINE_KINDS:
            everything = Draft(
                "x", kind=kind, tags=("tool", "x"), evidence=("run:x", "file:x", "url:https://x", "commit:abcdef0")
            )
            assert find_rule(rules, everything, 99) is None


def test_a_rule_promotes_observations_that_nobody_declared() -> None:
    from gitmem.model.ids import Fingerprint, RecordId
    from gitmem.model.vault_path import VaultPath

    for state in State:
        for authority in (None, *Authority):
            one = Record(RecordId("0" * 12), VaultPath("x.md"), state, "x", "", Fingerprint("f"), authority=authority)
            may = state is State.OBSERVATION and authority is not Authority.USER_DECLARED
            assert may_be_promoted_by_rule(one) is may


def test_explaining_writes_nothing_and_counts_nothing(desk: Desk, memory: Memory, agent: Actor) -> None:
    before = memory.vault.head(), sorted(Path(desk.runtime).rglob("*.jsonl"))
    for action in Action:
        memory.explain(action, agent, Asked())
        memory.explain(action, replace(agent, surface=Surface.HUMAN), Asked())

    assert (memory.vault.head(), sorted(Path(desk.runtime).rglob("*.jsonl"))) == before
    desk.judge()
