"""What policy would say to an operation, and by which rule; by which rules a record came to be as it is. Reads only."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import GitmemError, PolicyError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor, Decision, Surface
from gitmem.model.candidate import Candidate, Wants
from gitmem.model.ids import CommitId
from gitmem.model.policy import MODEL_ACTIONS, RULE_PREFIX, EvidenceRule, Origin, Policy
from gitmem.model.record import Draft, Kind, Record, State
from gitmem.policy.authority_table import TABLE
from gitmem.policy.evidence_rules import allow, describe, fits
from gitmem.policy.narrowing import COUNTED, Check, find_refusal, iter_checks, iter_count_checks
from gitmem.service.allowed import MEND, count_handed
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.inbox import get_candidate
from gitmem.service.log import log
from gitmem.service.own import is_own
from gitmem.service.policy import (
    count_sessions,
    find_holding,
    is_global,
    list_policy_problems,
    may_be_promoted_by_rule,
    read_policy,
)
from gitmem.service.show_policy import describe_origin
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass, field, replace

Row = dict[str, Any]
_OPENED = (Action.PROMOTE, Action.ACCEPT)
_ON_CANDIDATES = (Action.ACCEPT, Action.REJECT)
_TO_OBSERVATION = (Action.IMPORT, Action.ACCEPT, Action.RESTORE)
"""What leads to an observation unless another state is named."""
_TABLE = {rule.id: rule.reason for rule in TABLE}


@dataclass(frozen=True)
class Asked:
    """An operation that is thought of.

    ``ref`` is the record that it would be done to, or the candidate (accept, reject); else ``draft`` says what of.

    ``to_state`` is where it would go (import, restore); ``sessions`` in how many it was proposed (accept).
    """

    ref: str | None = None
    draft: Draft = field(default_factory=lambda: Draft(""))
    to_state: State | None = None
    sessions: int = 1


def explain(vault: OpenVault, action: Action, actor: Actor, asked: Asked) -> Answer:
    """Return what would be said to ``actor`` doing ``action``: ``verdict`` (``allowed``, ``needs_human``, ``refused``).

    Beside it stand ``rule``, ``reason`` and ``hint`` of what decides; the rows are everything that was looked at, in
    order: ``rule``, ``holds``, ``text``, and ``count`` and ``most`` where a number is bounded. Content and secrets are
    not looked at. Raises ``InputError`` for a record or candidate that is not there.
    """
    head = vault.head()
    holding = find_holding(vault, head)
    candidate = get_candidate(vault, asked.ref) if asked.ref and action in _ON_CANDIDATES else None
    record = get_record(vault, asked.ref)[0] if asked.ref and candidate is None else None
    draft = asked.draft if record is None else _merge(record, asked.draft)
    if candidate is not None:
        draft = candidate.draft
        # What isn't a new record can't be accepted by a rule, in however many sessions it was proposed.
        sessions = (
            max(1, len(candidate.sources)) if candidate.wants is Wants.RECORD and not candidate.contradicts else 0
        )
        asked = replace(asked, sessions=sessions)
    decision, rows = _weigh(_Case(vault, holding.policy, action, actor, asked, record, draft))
    extra = {
        "action": action.value,
        "surface": actor.surface.value,
        "verdict": "allowed" if decision.allowed else "refused" if _is_refused(decision) else "needs_human",
        "rule": decision.rule,
        "reason": decision.reason,
        **({"hint": decision.hint} if decision.hint else {}),
        "policy": describe_origin(holding),
    }
    return Answer(Status.OK, head, rows=tuple(rows), diagnostics=tuple(list_policy_problems(vault, head)), extra=extra)


def explain_record(vault: OpenVault, ref: str) -> Answer:
    """Return the operations on a record as ``service.log`` does, newest first; ``text`` is what the rule of each says.

    A rule of the vault's policy is told as the policy was then. The rule is what the commit says, which proves nothing
    by itself.
    """
    answer = log(vault, ref, limit=None)
    rows = [row | {"text": _tell_rule(vault, row)} for row in answer.rows]
    return replace(answer, rows=tuple(rows))


@dataclass(frozen=True)
class _Case:
    """What is weighed: ``draft`` is the record as it would be written, ``record`` the one that is there already."""

    vault: OpenVault
    policy: Policy
    action: Action
    actor: Actor
    asked: Asked
    record: Record | None
    draft: Draft


def _weigh(case: _Case) -> tuple[Decision, list[Row]]:
    """Return what decides, and everything that was looked at."""
    decision = _ask_table(case)
    rows = [_row(decision.rule, holds=decision.allowed, text=decision.reason)]
    is_bounded = case.actor.surface is Surface.MODEL and case.action in (*MODEL_ACTIONS, *_OPENED)
    if not is_bounded or _is_refused(decision):
        return decision, rows
    if case.policy.origin is Origin.BROKEN:
        reason = case.policy.problem
        rows.append(_row("policy-broken", holds=False, text=reason))
        return Decision("policy-broken", allowed=False, needs_human=True, reason=reason, hint=MEND), rows
    for rule, holds in _look_at_rules(case):
        rows.append(_row(RULE_PREFIX + rule.id, holds=holds, text=describe(rule)))
        if holds and not decision.allowed:
            decision = allow(rule, f"lets a model {case.action} without a person")
    if decision.allowed:
        checks = _check(case)
        rows += [_row(one.rule, holds=one.holds, text=one.text, count=one.count, most=one.most) for one in checks]
        decision = find_refusal(checks) or decision
    return decision, rows


def _ask_table(case: _Case) -> Decision:
    record, to_state = case.record, case.asked.to_state
    if to_state is None and case.action in _TO_OBSERVATION:
        to_state = State.OBSERVATION
    try:
        return authorize(
            case.vault.entry.scope,
            case.action,
            case.actor,
            record=record,
            kind=case.draft.kind or (Kind.FACT if case.action is Action.OBSERVE else None),
            has_evidence=bool(case.draft.evidence),
            own=record is not None and is_own(case.vault, record, case.actor),
            to_state=State.PROMOTED if case.action is Action.PROMOTE else to_state,
        )
    except PolicyError as error:
        rule, needs_human = str(error.fields["rule"]), error.code == "needs-human"
        return Decision(rule, allowed=False, needs_human=needs_human, reason=error.message, hint=error.hint)


def _look_at_rules(case: _Case) -> list[tuple[EvidenceRule, bool]]:
    """Return the policy's rules that may open what is asked, each with whether it fits; none in a global vault."""
    if case.action not in _OPENED or is_global(case.vault):
        return []
    if case.action is Action.ACCEPT:
        return [(rule, fits(rule, case.draft, case.asked.sessions)) for rule in case.policy.accept]
    record = case.record
    if record is None:
        return [(rule, False) for rule in case.policy.promote]
    sessions = count_sessions(case.vault, record)
    may_be = may_be_promoted_by_rule(record)
    return [(rule, may_be and fits(rule, record, sessions)) for rule in case.policy.promote]


def _check(case: _Case) -> list[Check]:
    if case.action is Action.PROMOTE:
        return []
    if case.action is Action.EDIT:
        return list(iter_checks(case.policy, case.action, case.draft, case.record))
    checks = list(iter_checks(case.policy, case.action, case.draft if case.record is None else None))
    if case.action is Action.PROPOSE:
        checks += _count_candidates(case.vault, case.policy, case.actor, case.draft)
    if case.action in COUNTED:
        handed = count_handed(case.vault, case.actor)
        checks += iter_count_checks(case.policy.bounds, handed, 1, has_session=bool(case.actor.session))
    return checks


def _count_candidates(vault: OpenVault, policy: Policy, actor: Actor, draft: Draft) -> Iterable[Check]:
    from gitmem.service.intake import iter_room_checks
    from gitmem.service.propose import make_candidate
    from gitmem.vault.inbox import load_decided, load_inbox

    waiting = load_inbox(vault.layout).candidates
    decided = [one.candidate for one in load_decided(vault.layout)]
    return iter_room_checks(waiting, decided, make_candidate(vault, draft, actor), policy)


def _count_sources(candidate: Candidate) -> int:
    """Return in how many sessions it was proposed; 0, which no rule admits, for what no rule accepts at all."""
    may_be = candidate.wants is Wants.RECORD and not candidate.contradicts
    return max(1, len(candidate.sources)) if may_be else 0


def _merge(record: Record, draft: Draft) -> Draft:
    """Return what ``record`` says, with what is given in ``draft`` in its place."""
    return Draft(
        title=record.title,
        body=draft.body or record.body,
        kind=draft.kind or record.kind,
        tags=draft.tags or record.tags,
        evidence=draft.evidence or record.evidence,
    )


def _is_refused(decision: Decision) -> bool:
    return not decision.allowed and not decision.needs_human


def _row(rule: str, *, holds: bool, text: str, count: int | None = None, most: int | None = None) -> Row:
    numbers = {} if most is None else {"count": count, "most": most}
    return {"rule": rule, "holds": holds, "text": text, **numbers}


def _tell_rule(vault: OpenVault, row: Row) -> str:
    rule = str(row.get("rule") or "")
    if not rule.startswith(RULE_PREFIX):
        return _TABLE.get(rule, "")
    wanted = rule.removeprefix(RULE_PREFIX)
    try:
        policy = read_policy(vault, CommitId(row["commit"]))
    except GitmemError:
        policy = None
    rules = () if policy is None else (*policy.accept, *policy.promote)
    return next((describe(one) for one in rules if one.id == wanted), "the policy of that commit has no such rule")
