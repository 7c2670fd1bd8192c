"""Whether the vault's policy lets a model surface do what the authority table allows; asked with the vault locked.

So of several who ask at once, none gets past a bound.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import PolicyError
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.change import Change, RecordChange
from gitmem.model.policy import MODEL_ACTIONS, RULE_PREFIX, Origin, Policy
from gitmem.model.record import State
from gitmem.policy.evidence_rules import fits
from gitmem.policy.narrowing import (
    COUNTED,
    Check,
    Handed,
    find_refusal,
    iter_checks,
    iter_count_checks,
)
from gitmem.service.policy import find_policy, find_promote_rule
from gitmem.service.vault import OpenVault

_BY_RULE = (Action.ACCEPT, Action.PROMOTE)
MEND = (
    "`gitmem policy check` says what is wrong; a person mends it with `gitmem policy apply`, and may write meanwhile."
)


def check_policy(vault: OpenVault, change: Change) -> None:
    """Check a change of a model surface against the policy of HEAD; one of a human surface is never bounded.

    Raises ``PolicyError``: ``needs-human`` with the ``rule`` that stops it (``policy:kinds``,
    ``policy:bounds.observations_per_day``, …), ``policy-broken``.
    """
    actor = change.actor
    if actor.surface is Surface.HUMAN or change.action not in (*MODEL_ACTIONS, *_BY_RULE):
        return
    policy = find_policy(vault)
    check_readable(policy)
    if change.action in _BY_RULE:
        _check_rule(vault, policy, change)
    if change.action in MODEL_ACTIONS:
        check_all(iter_checks(policy, change.action))
    for one in change.records:
        if one.after is not None and one.after.state is State.OBSERVATION:
            check_all(iter_checks(policy, change.action, one.after, one.before), _name(change, one))
    more = sum(_is_new_observation(one) for one in change.records)
    if change.action in COUNTED and more:
        counted = iter_count_checks(policy.bounds, count_handed(vault, actor), more, has_session=bool(actor.session))
        check_all(counted)


def count_handed(vault: OpenVault, actor: Actor) -> Handed:
    """Return how many observations this actor's session, and all model surfaces today, have added, as receipts tell."""
    from gitmem.transaction.tally import count_observations

    day = f"{vault.clock.now():%Y-%m-%d}"
    tally = count_observations(vault.layout, COUNTED, actor.session, day)
    return Handed(tally.in_session, tally.today)


def check_readable(policy: Policy) -> None:
    """Check that the committed policy could be read. Raises ``PolicyError`` (``policy-broken``)."""
    if policy.origin is Origin.BROKEN:
        raise PolicyError("policy-broken", f"a model writes nothing here: {policy.problem}", MEND, rule="policy-broken")


def check_all(checks: Iterable[Check], where: str = "", code: str = "needs-human") -> None:
    """Raise ``PolicyError`` (``code``) with the rule of the first of ``checks`` that does not hold.

    ``where`` comes before the reason.
    """
    decision = find_refusal(checks)
    if decision is not None:
        raise PolicyError(code, f"{where}{decision.reason}", decision.hint, rule=decision.rule)


def _check_rule(vault: OpenVault, policy: Policy, change: Change) -> None:
    """Check that the rule by which a model accepts or promotes holds still, and opens no more than it may."""
    if change.action is Action.PROMOTE:
        decision = find_promote_rule(vault, [one.before for one in change.records if one.before is not None])
        holds = decision is not None and decision.rule == change.rule
    else:
        rule = next((rule for rule in policy.accept if RULE_PREFIX + rule.id == change.rule), None)
        holds = rule is not None and all(
            one.after is not None and _is_new_observation(one) and fits(rule, one.after, rule.sessions)
            for one in change.records
        )
    if not holds:
        message = f"no rule of the vault's policy lets a model {change.action} this"
        raise PolicyError(
            "needs-human", message, "Ask a person to run it at a terminal.", rule=f"{change.action}-model"
        )


def _is_new_observation(one: RecordChange) -> bool:
    return one.before is None and one.after is not None and one.after.state is State.OBSERVATION


def _name(change: Change, one: RecordChange) -> str:
    """Return which of several records is meant; a private one is not named."""
    if len(change.records) == 1:
        return ""
    return "a private record: " if one.is_private else f"{one.shown.title!r}: "
