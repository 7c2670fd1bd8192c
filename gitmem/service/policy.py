"""Which policy holds in a vault, and what it lets a model surface do beyond the authority table."""

from __future__ import annotations

from gitmem.model.authority import Decision
from gitmem.model.policy import Policy
from gitmem.model.record import Draft
from gitmem.policy.evidence_rules import allow, find_rule
from gitmem.service.vault import OpenVault


def find_policy(_vault: OpenVault) -> Policy:
    """Return the policy that holds: the defaults."""
    return Policy()


def find_accept_rule(vault: OpenVault, draft: Draft, sessions: int) -> Decision | None:
    """Return the decision of the policy's first rule by which ``draft`` is accepted without a person, or ``None``.

    ``sessions`` is in how many sessions it was proposed. It is accepted as an observation and as nothing else; the
    decision's ``rule`` is what the commit names. Never one for a boundary, preference, goal or state.
    """
    rule = find_rule(find_policy(vault).accept, draft, sessions)
    return None if rule is None else allow(rule, "accepts without a person")
