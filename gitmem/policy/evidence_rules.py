"""Rules of a vault's policy that open something to a model surface: whether one fits a record. Pure.

What they can open is said by where they are asked: accepting a candidate as an observation, and promoting in a
workspace. No rule can declare, reach the global vault's reviewed knowledge, or touch policy and keys.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.model.authority import Decision
from gitmem.model.policy import RULE_PREFIX, EvidenceRule
from gitmem.model.record import BASELINE_KINDS, Draft, Kind, Record
from gitmem.text import fold_tag


def find_rule(rules: Iterable[EvidenceRule], record: Draft | Record, sessions: int) -> EvidenceRule | None:
    """Return the first of ``rules`` that fits ``record``, seen in so many ``sessions``; ``None`` where none does.

    None ever fits a boundary, preference, goal or state.
    """
    return next((rule for rule in rules if fits(rule, record, sessions)), None)


def fits(rule: EvidenceRule, record: Draft | Record, sessions: int) -> bool:
    """Tell whether everything that ``rule`` names holds for ``record``."""
    kind = record.kind or Kind.FACT
    forms = {form_of(entry) for entry in record.evidence}
    return (
        kind not in BASELINE_KINDS
        and (not rule.kinds or kind in rule.kinds)
        and (not rule.tags or any(lies_in(tag, top) for tag in record.tags for top in rule.tags))
        and forms.issuperset(rule.evidence)
        and sessions >= rule.sessions
    )


def describe(rule: EvidenceRule) -> str:
    """Return what ``rule`` asks for, in one line."""
    asked = [
        *([f"kind {' or '.join(rule.kinds)}"] if rule.kinds else []),
        *([f"tag {' or '.join(rule.tags)}"] if rule.tags else []),
        *([f"evidence {' and '.join(rule.evidence)}"] if rule.evidence else []),
        *([f"{rule.sessions} sessions"] if rule.sessions > 1 else []),
    ]
    return ", ".join(asked) or "anything"


def allow(rule: EvidenceRule, what: str) -> Decision:
    """Return the decision that ``rule`` gives; ``what`` says what it lets happen."""
    return Decision(RULE_PREFIX + rule.id, allowed=True, reason=f"the vault's policy {what}: {describe(rule)}")


def form_of(evidence: str) -> str:
    """Return the form of one entry of evidence: ``run`` of ``run:make test``."""
    return evidence.partition(":")[0]


def lies_in(tag: str, top: str) -> bool:
    """Tell whether ``tag`` is ``top`` or lies below it."""
    folded, above = fold_tag(tag), fold_tag(top)
    return folded == above or folded.startswith(f"{above}/")
