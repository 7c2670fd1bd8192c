"""What the rules of the authority table ask of a request, by name."""

from __future__ import annotations

from gitmem.model.authority import Authority, Proof
from gitmem.model.record import BASELINE_KINDS, State
from gitmem.model.settings import Scope
from gitmem.policy.rules import Condition, Request


def _is_declared(request: Request) -> bool:
    return request.state is State.BASELINE or request.authority is Authority.USER_DECLARED


def _is_own_observation(request: Request) -> bool:
    return request.own and request.state is State.OBSERVATION and not _is_declared(request)


def _returns_own_observation(request: Request) -> bool:
    goes_back = request.state is State.RETIRED and request.to_state is State.OBSERVATION
    return request.own and goes_back and not _is_declared(request)


def _is_own_unreviewed(request: Request) -> bool:
    return request.own and request.state in (State.OBSERVATION, State.RETIRED) and not _is_declared(request)


def _is_by_prompt(request: Request) -> bool:
    return request.proof is Proof.PROMPT


def _is_beyond_prompt(request: Request) -> bool:
    """Tell whether a prompt in a host is too little for it: an agent with a shell could have sent that prompt."""
    into_baseline = request.to_state is State.BASELINE or request.kind in BASELINE_KINDS
    return _is_by_prompt(request) and (request.scope is Scope.GLOBAL or into_baseline or _is_declared(request))


CONDITIONS: dict[str, Condition] = {
    "always": Condition("always", lambda _: True),
    "has-evidence": Condition("it comes with evidence", lambda request: request.has_evidence),
    "baseline-kind": Condition(
        "the kind is boundary, preference, goal or state", lambda request: request.kind in BASELINE_KINDS
    ),
    "other-kind": Condition(
        "the kind is not boundary, preference, goal or state", lambda request: request.kind not in BASELINE_KINDS
    ),
    "declared": Condition("the record is baseline or `user_declared`", _is_declared),
    "own-observation": Condition("the record is the actor's own unreviewed observation", _is_own_observation),
    "returns-own-observation": Condition(
        "the actor's own unreviewed observation goes back to observations", _returns_own_observation
    ),
    "own-unreviewed": Condition("the actor made it, and on its own unreviewed observations only", _is_own_unreviewed),
    "own-candidate": Condition(
        "the actor proposed it, nobody else did, and no person deferred it", lambda request: request.own
    ),
    "in-global": Condition("the vault is the global one", lambda request: request.scope is Scope.GLOBAL),
    "by-prompt": Condition("the person typed it as a prompt in a host", _is_by_prompt),
    "by-prompt-global": Condition(
        "the person typed it as a prompt in a host, and the vault is the global one",
        lambda request: _is_by_prompt(request) and request.scope is Scope.GLOBAL,
    ),
    "by-prompt-beyond": Condition(
        "the person typed it as a prompt in a host, and the vault is the global one or the record is baseline, "
        "goes there, or is `user_declared`",
        _is_beyond_prompt,
    ),
    "into-observations": Condition(
        "the notes become observations", lambda request: request.to_state is State.OBSERVATION
    ),
}
"""Every condition that a rule may name."""
