from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gitmem.model.authority import Action, Authority, Proof, Surface
from gitmem.model.record import Kind, State
from gitmem.model.settings import Scope
from gitmem.policy.authority import authority_for, decide, format_table
from gitmem.policy.authority_table import TABLE
from gitmem.policy.conditions import CONDITIONS
from gitmem.policy.rules import Request, Verdict
from gitmem.service import init
from gitmem.transaction import repair

HUMAN, MODEL = Surface.HUMAN, Surface.MODEL
DECLARED, EVIDENCE = Authority.USER_DECLARED, Authority.WORKSPACE_EVIDENCE

OWN: dict[str, Any] = {"own": True, "state": State.OBSERVATION, "authority": EVIDENCE}
BACK: dict[str, Any] = {"own": True, "state": State.RETIRED, "to_state": State.OBSERVATION, "authority": EVIDENCE}

PROMPTED: dict[str, Any] = {"proof": Proof.PROMPT}
GLOBAL: dict[str, Any] = {"scope": Scope.GLOBAL}
OPEN: dict[str, Any] = {"state": State.OBSERVATION, "authority": EVIDENCE, "kind": Kind.FACT}
CASES: list[tuple[Action, Surface, dict[str, Any], str, str]] = [
    # action, surface, the rest of the request, verdict, rule
    (Action.INIT, MODEL, {}, "allowed", "init"),
    (Action.REPAIR, MODEL, {}, "allowed", "views-follow-records"),
    (Action.MAINTAIN, MODEL, {}, "allowed", "maintain"),
    (Action.MAINTAIN, HUMAN, {}, "allowed", "maintain"),
    (Action.OBSERVE, HUMAN, {"kind": Kind.FACT}, "allowed", "observe-human"),
    (Action.OBSERVE, MODEL, {"kind": Kind.FACT, "has_evidence": True}, "allowed", "observe-evidence"),
    (Action.OBSERVE, MODEL, {"kind": Kind.FACT}, "needs_human", "observe-no-evidence"),
    (Action.OBSERVE, MODEL, {}, "needs_human", "observe-no-evidence"),
    (Action.OBSERVE, HUMAN, {"kind": Kind.BOUNDARY}, "refused", "observe-baseline-kind"),
    (Action.OBSERVE, MODEL, {"kind": Kind.STATE, "has_evidence": True}, "refused", "observe-baseline-kind"),
    (Action.DECLARE, HUMAN, {"kind": Kind.GOAL}, "allowed", "declare-human"),
    (Action.DECLARE, MODEL, {"kind": Kind.GOAL, "has_evidence": True}, "needs_human", "declare-model"),
    (Action.DECLARE, HUMAN, {"kind": Kind.FACT}, "refused", "declare-other-kind"),
    (Action.EDIT, HUMAN, {"state": State.BASELINE, "authority": DECLARED}, "allowed", "edit-human"),
    (Action.EDIT, MODEL, {"state": State.BASELINE, "own": True}, "needs_human", "edit-declared"),
    (Action.EDIT, MODEL, {**OWN, "authority": DECLARED}, "needs_human", "edit-declared"),
    (Action.EDIT, MODEL, OWN, "allowed", "edit-own"),
    (Action.EDIT, MODEL, {**OWN, "state": State.PROMOTED}, "needs_human", "edit-other"),
    (Action.EDIT, MODEL, {**OWN, "own": False}, "needs_human", "edit-other"),
    (Action.PROMOTE, HUMAN, {"state": State.OBSERVATION}, "allowed", "promote-human"),
    (Action.PROMOTE, MODEL, OWN, "needs_human", "promote-model"),
    (Action.RETIRE, HUMAN, {"state": State.BASELINE, "authority": DECLARED}, "allowed", "retire-human"),
    (Action.RETIRE, MODEL, OWN, "allowed", "retire-own"),
    (Action.RETIRE, MODEL, {**OWN, "state": State.PROMOTED}, "needs_human", "retire-other"),
    (Action.RETIRE, MODEL, {**OWN, "own": False}, "needs_human", "retire-other"),
    (Action.RESTORE, HUMAN, {"state": State.RETIRED}, "allowed", "restore-human"),
    (Action.RESTORE, MODEL, BACK, "allowed", "restore-own"),
    (Action.RESTORE, MODEL, {**BACK, "to_state": State.PROMOTED}, "needs_human", "restore-other"),
    (Action.RESTORE, MODEL, {**BACK, "own": False}, "needs_human", "restore-other"),
    (Action.IMPORT, HUMAN, {"to_state": State.BASELINE}, "allowed", "import-human"),
    (Action.IMPORT, MODEL, {"to_state": State.OBSERVATION}, "allowed", "import-observations"),
    (Action.IMPORT, MODEL, {"to_state": State.PROMOTED}, "needs_human", "import-reviewed"),
    (Action.IMPORT, MODEL, {}, "needs_human", "import-reviewed"),
    (Action.UNDO, HUMAN, {"state": State.BASELINE, "authority": DECLARED}, "allowed", "undo-human"),
    (Action.UNDO, MODEL, {**OWN, "authority": DECLARED}, "needs_human", "undo-declared"),
    (Action.UNDO, MODEL, {"state": State.BASELINE, "own": True}, "needs_human", "undo-declared"),
    (Action.UNDO, MODEL, OWN, "allowed", "undo-own"),
    (Action.UNDO, MODEL, {**OWN, "state": State.RETIRED}, "allowed", "undo-own"),
    (Action.UNDO, MODEL, {**OWN, "own": False}, "needs_human", "undo-other"),
    (Action.UNDO, MODEL, {**OWN, "state": State.PROMOTED}, "needs_human", "undo-other"),
    (Action.UNDO, MODEL, {}, "needs_human", "undo-other"),
    (Action.ADOPT, HUMAN, {"state": State.BASELINE}, "allowed", "adopt-human"),
    (Action.ADOPT, MODEL, OWN, "needs_human", "adopt-model"),
    (Action.PROPOSE, HUMAN, {"kind": Kind.BOUNDARY}, "allowed", "propose-human"),
    (Action.PROPOSE, MODEL, {"kind": Kind.BOUNDARY}, "allowed", "propose-model"),
    (Action.ACCEPT, HUMAN, {"kind": Kind.BOUNDARY, **PROMPTED}, "needs_human", "accept-prompt"),
    (Action.ACCEPT, HUMAN, {"kind": Kind.BOUNDARY}, "allowed", "accept-human"),
    (Action.ACCEPT, HUMAN, {"kind": Kind.FACT, **PROMPTED}, "allowed", "accept-human"),
    (Action.ACCEPT, MODEL, {"kind": Kind.FACT, "has_evidence": True}, "needs_human", "accept-model"),
    (Action.OBSERVE, HUMAN, PROMPTED, "allowed", "observe-human"),
    (Action.OBSERVE, HUMAN, {**PROMPTED, **GLOBAL}, "needs_human", "observe-prompt-global"),
    (Action.OBSERVE, MODEL, {**GLOBAL, "has_evidence": True}, "allowed", "observe-evidence"),
    (Action.DECLARE, HUMAN, {**PROMPTED, "kind": Kind.GOAL}, "needs_human", "declare-prompt"),
    (Action.EDIT, HUMAN, {**PROMPTED, **OPEN}, "allowed", "edit-human"),
    (Action.EDIT, HUMAN, {**PROMPTED, "state": State.BASELINE}, "needs_human", "edit-prompt"),
    (Action.PROMOTE, HUMAN, {**PROMPTED, **OPEN, "to_state": State.PROMOTED}, "allowed", "promote-human"),
    (Action.PROMOTE, HUMAN, {**PROMPTED, **OPEN, **GLOBAL}, "needs_human", "promote-prompt"),
    (Action.PROMOTE, HUMAN, {**OPEN, **GLOBAL}, "allowed", "promote-global"),
    (Action.PROMOTE, MODEL, {**OWN, **GLOBAL}, "needs_human", "promote-model-global"),
    (Action.RETIRE, HUMAN, {**PROMPTED, **OPEN}, "allowed", "retire-human"),
    (Action.RETIRE, HUMAN, {**PROMPTED, **OPEN, "authority": DECLARED}, "needs_human", "retire-prompt"),
    (Action.RESTORE, HUMAN, {**PROMPTED, **BACK, "to_state": State.PROMOTED}, "allowed", "restore-human"),
    (Action.RESTORE, HUMAN, {**PROMPTED, **BACK, "to_state": State.BASELINE}, "needs_human", "restore-prompt"),
    (Action.RESTORE, HUMAN, {**PROMPTED, **BACK, "kind": Kind.BOUNDARY}, "needs_human", "restore-prompt"),
    (Action.IMPORT, HUMAN, {**PROMPTED, "to_state": State.BASELINE}, "needs_human", "import-prompt"),
    (Action.UNDO, HUMAN, {**PROMPTED, **OPEN}, "allowed", "undo-human"),
    (Action.UNDO, HUMAN, {**PROMPTED, **OPEN, "authority": DECLARED}, "needs_human", "undo-prompt"),
    (Action.ADOPT, HUMAN, PROMPTED, "needs_human", "adopt-prompt"),
    (Action.ACCEPT, HUMAN, {**PROMPTED, **OPEN, **GLOBAL}, "needs_human", "accept-prompt"),
    (Action.ACCEPT, MODEL, {**OPEN, **GLOBAL}, "needs_human", "accept-model-global"),
    (Action.REJECT, HUMAN, {}, "allowed", "reject-human"),
    (Action.REJECT, HUMAN, {**PROMPTED, **GLOBAL}, "needs_human", "reject-prompt"),
    (Action.REJECT, MODEL, {"own": True}, "allowed", "reject-own"),
    (Action.REJECT, MODEL, {}, "needs_human", "reject-model"),
    (Action.REJECT, HUMAN, {**PROMPTED, "kind": Kind.FACT}, "allowed", "reject-human"),
    (Action.REJECT, HUMAN, {**PROMPTED, "kind": Kind.BOUNDARY}, "needs_human", "reject-prompt"),
    (Action.CURATE, MODEL, {}, "allowed", "curate"),
    (Action.POLICY, HUMAN, PROMPTED, "needs_human", "policy-prompt"),
    (Action.POLICY, HUMAN, {}, "allowed", "policy-human"),
    (Action.POLICY, MODEL, {}, "needs_human", "policy-model"),
    (Action.TRUST, HUMAN, PROMPTED, "needs_human", "trust-prompt"),
    (Action.TRUST, HUMAN, {}, "allowed", "trust-human"),
    (Action.TRUST, MODEL, {}, "needs_human", "trust-model"),
    (Action.SETTINGS, HUMAN, PROMPTED, "needs_human", "settings-prompt"),
    (Action.SETTINGS, HUMAN, {}, "allowed", "settings-human"),
    (Action.SETTINGS, MODEL, {}, "needs_human", "settings-model"),
]


@pytest.mark.parametrize(("action", "surface", "rest", "verdict", "rule"), CASES)
def test_decides_by_the_first_rule_that_fits(
    action: Action, surface: Surface, rest: dict[str, Any], verdict: str, rule: str
) -> None:
    decision = decide(Request(action, surface, **rest))

    said = {(True, False): "allowed", (False, True): "needs_human", (False, False): "refused"}
    assert (said[decision.allowed, decision.needs_human], decision.rule) == (verdict, rule)


def test_every_rule_is_reached_by_a_case() -> None:
    assert {rule for *_, rule in CASES} == {rule.id for rule in TABLE}


def all_requests(proof: Proof = Proof.CODE, scope: Scope = Scope.WORKSPACE) -> Iterator[Request]:
    kinds, states = (None, Kind.FACT, Kind.BOUNDARY), (None, *State)
    yes_no = (False, True)
    for values in product(Action, Surface, kinds, (None, *Authority), states, yes_no, yes_no, states):
        yield Request(*values, proof=proof, scope=scope)


def test_every_request_has_a_rule_and_no_model_touches_what_a_person_declared_or_reviewed() -> None:
    for request in all_requests():
        decision = decide(request)
        assert decision.rule != "no-rule", request
        if request.surface is MODEL and request.action not in (Action.INIT, Action.REPAIR):
            reviewed = request.state in (State.BASELINE, State.PROMOTED) or request.authority is DECLARED
            touches = request.action in (Action.EDIT, Action.RETIRE, Action.RESTORE, Action.UNDO)
            never = request.action in (
                *(Action.DECLARE, Action.PROMOTE, Action.ADOPT, Action.ACCEPT, Action.POLICY, Action.TRUST),
            )
            assert not (decision.allowed and ((touches and reviewed) or never)), request


WRITES_NO_RECORD_OF_ITS_OWN = (
    *(Action.INIT, Action.REPAIR, Action.MAINTAIN),
    *(Action.PROPOSE, Action.CURATE),
)


@pytest.mark.parametrize("scope", Scope)
def test_inv_human_only_no_prompt_touches_what_is_declared_or_global(scope: Scope) -> None:
    for request in all_requests(Proof.PROMPT, scope):
        if request.surface is HUMAN and request.action not in WRITES_NO_RECORD_OF_ITS_OWN and decide(request).allowed:
            baseline = (request.state, request.to_state, request.kind, request.authority)
            if request.action is not Action.OBSERVE:  # which makes evidence, and nothing of a baseline kind
                assert not {State.BASELINE, Kind.BOUNDARY, DECLARED}.intersection(baseline), request
            assert request.scope is Scope.WORKSPACE, request
            assert request.action not in (Action.DECLARE, Action.ADOPT, Action.IMPORT, Action.POLICY, Action.TRUST)


@pytest.mark.parametrize("proof", Proof)
def test_inv_human_only_a_model_changes_nothing_global_but_its_own_unreviewed_observations(proof: Proof) -> None:
    for request in all_requests(proof, Scope.GLOBAL):
        if request.surface is MODEL and request.action not in WRITES_NO_RECORD_OF_ITS_OWN and decide(request).allowed:
            new = request.action is Action.OBSERVE and request.has_evidence and request.kind is not Kind.BOUNDARY
            brought = request.action is Action.IMPORT and request.to_state is State.OBSERVATION
            unreviewed = request.state in (State.OBSERVATION, State.RETIRED) and request.authority is not DECLARED
            goes_on = request.action is not Action.RESTORE or request.to_state is State.OBSERVATION
            actions = (Action.EDIT, Action.RETIRE, Action.RESTORE, Action.UNDO)
            own = request.action in actions and request.own and unreviewed and goes_on
            withdrawn = request.action is Action.REJECT and request.own
            assert new or brought or own or withdrawn, request


def test_a_prompt_never_opens_more_than_a_code() -> None:
    for scope in Scope:
        for request in all_requests(Proof.PROMPT, scope):
            if decide(request).allowed:
                assert decide(replace(request, proof=Proof.CODE)).allowed, request


def test_no_surface_is_asked_for_more_than_a_person_has() -> None:
    for request in all_requests():
        if request.surface is HUMAN:
            assert not decide(request).needs_human, request


def test_rows_that_need_a_person_say_what_to_do() -> None:
    assert [rule.id for rule in TABLE if rule.verdict is not Verdict.ALLOWED and not rule.hint] == []


def test_an_observation_without_evidence_is_told_how_to_give_it() -> None:
    assert decide(Request(Action.OBSERVE, MODEL)).hint == (
        "Add --evidence (commit:…, file:…#L…, run:…, url:…) or run it at a terminal."
    )


def test_rule_ids_are_unique_and_conditions_are_known_and_used() -> None:
    assert len({rule.id for rule in TABLE}) == len(TABLE)
    assert {rule.condition for rule in TABLE} == set(CONDITIONS)


def test_rules_that_are_not_asked_have_a_row_too() -> None:
    assert {init.RULE, repair.RULE} <= {rule.id for rule in TABLE}


def test_only_what_a_person_puts_into_the_baseline_is_declared() -> None:
    declared = {(a, s) for a, s in product(Action, State) if authority_for(a, s) is DECLARED}

    by_folder = {(Action.IMPORT, State.BASELINE), (Action.ADOPT, State.BASELINE), (Action.ACCEPT, State.BASELINE)}
    assert declared == {(Action.DECLARE, state) for state in State} | by_folder


def test_the_page_in_docs_is_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "authority.md"

    assert page.read_text(encoding="utf-8") == format_table()


def test_the_page_has_one_row_a_rule() -> None:
    rows = [line.split(" | ")[0] for line in format_table().splitlines() if line.startswith("| `")]

    assert rows == [f"| `{rule.id}`" for rule in TABLE]
