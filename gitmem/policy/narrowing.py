"""What a vault's policy takes from a model surface of what the authority table lets it do. Pure.

Each check has a name that a refusal, and a commit, gives as ``policy:<name>``. A human surface is never asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitmem.model.authority import Action, Decision
from gitmem.model.policy import RULE_PREFIX, Bounds, Origin, Policy
from gitmem.model.record import BASELINE_KINDS, Draft, Kind, Record
from gitmem.policy.evidence_rules import form_of, lies_in
from gitmem.values import dataclass, replace

COUNTED = frozenset({Action.OBSERVE, Action.IMPORT, Action.ACCEPT})
"""What a model surface adds observations by; an episode that curation makes is not counted."""
_WITH_EVIDENCE = frozenset({Action.OBSERVE, Action.ACCEPT, Action.EDIT})
"""Where evidence has to be of an accepted form; that of an import is the folder."""
_WRITING = COUNTED | {Action.PROPOSE, Action.EDIT}
_ASK = "Ask a person to run it at a terminal."
_ASK_OR_PROPOSE = "Propose it instead, or ask a person to run it at a terminal."
_ASK_LATER = "Propose the rest another time, or ask a person to run it at a terminal."
_ASK_TO_REVIEW = "Ask a person to review what waits in the inbox."


@dataclass(frozen=True)
class Check:
    """One thing that a policy asks of a model surface, and whether it ``holds``; ``text`` says what is asked.

    ``count`` is how much there would be with what is asked for, where ``most`` bounds it.
    """

    name: str
    holds: bool
    text: str
    hint: str = _ASK
    count: int | None = None
    most: int | None = None

    @property
    def rule(self) -> str:
        """What a refusal names."""
        return RULE_PREFIX + self.name


@dataclass(frozen=True)
class Handed:
    """What model surfaces handed in already: by this session (0 for one without a name), today, and what waits."""

    in_session: int = 0
    today: int = 0


def find_refusal(checks: Iterable[Check]) -> Decision | None:
    """Return the decision of the first of ``checks`` that does not hold: it needs a person. ``None`` when all hold."""
    refusing = next((check for check in checks if not check.holds), None)
    if refusing is None:
        return None
    return Decision(
        refusing.rule,
        allowed=False,
        needs_human=True,
        reason=f"the vault's policy: {refusing.text}",
        hint=refusing.hint,
    )


def iter_checks(
    policy: Policy, action: Action, record: Draft | Record | None = None, before: Record | None = None
) -> Iterator[Check]:
    """Yield what ``policy`` asks of ``action`` by a model surface on ``record`` as it would be written.

    Of an edit, what was so ``before`` is no matter.
    """
    if action is not Action.ACCEPT:  # that one needs a rule of its own
        may = action in policy.model_may
        told = f"{action} is what a model may do by itself" if may else f"{action} is left to people"
        yield Check("model_may", may, told, _hint_for(action))
    if record is None or action not in _WRITING:
        return
    if before is None or before.kind is not record.kind:
        yield from _check_kind(policy, action, record.kind or Kind.FACT)
    yield from _check_tags(policy, action, set(record.tags).difference(before.tags if before else ()))
    if action in _WITH_EVIDENCE and (before is None or before.evidence != record.evidence):
        yield _check_evidence(policy, action, record.evidence)
    if before is None or len(record.body) > len(before.body):
        most = policy.bounds.body_chars
        count = len(record.body)
        told = f"a model's record has at most {most} characters; this has {count}"
        yield Check("bounds.body_chars", count <= most, told, _hint_for(action), count, most)


def iter_count_checks(bounds: Bounds, handed: Handed, more: int, *, has_session: bool) -> Iterator[Check]:
    """Yield whether ``more`` observations of a model surface fit beside those that were ``handed`` in already."""
    if has_session:
        yield _check_count("observations_per_session", bounds, handed.in_session, more, "a session")
    yield _check_count("observations_per_day", bounds, handed.today, more, "a day (UTC)")


def iter_candidate_checks(bounds: Bounds, in_session: int, waiting: int) -> Iterator[Check]:
    """Yield whether one more candidate of a model surface fits beside those of its session and all that wait."""
    per_session = "are proposed in a session, or by an agent without one in a day (UTC)"
    for name, count, per, hint in (
        ("candidates_per_session", in_session, per_session, _ASK_LATER),
        ("candidates_waiting", waiting, "wait", _ASK_TO_REVIEW),
    ):
        most = getattr(bounds, name)
        told = f"at most {most} candidates {per}; with this it is {count + 1}"
        yield Check(f"bounds.{name}", count < most, told, hint, count + 1, most)


def make_stricter(one: Policy, other: Policy) -> Policy:
    """Return a policy that lets a model surface do only what both let it, and that opens nothing.

    How long candidates and decisions are kept is that of ``one``; origin and problem, too.
    """
    spaces = [policy.namespaces for policy in (one, other) if policy.namespaces is not None]
    return replace(
        one,
        bounds=replace(one.bounds, **{name: min(getattr(p.bounds, name) for p in (one, other)) for name in _LIMITS}),
        kinds=one.kinds & other.kinds,
        namespaces=tuple(name for name in spaces[0] if all(name in space for space in spaces)) if spaces else None,
        evidence=tuple(form for form in one.evidence if form in other.evidence),
        model_may=one.model_may & other.model_may,
        accept=(),
        promote=(),
    )


_LIMITS = (
    *("observations_per_session", "observations_per_day", "candidates_per_session"),
    *("candidates_waiting", "body_chars"),
)
_CLOSED = frozenset[Action]()


def make_broken(problem: str) -> Policy:
    """Return what holds where the committed file can't be read: a model surface writes nothing."""
    return Policy(model_may=_CLOSED, origin=Origin.BROKEN, problem=problem)


def _check_kind(policy: Policy, action: Action, kind: Kind) -> Iterator[Check]:
    if kind in BASELINE_KINDS:  # the authority table refuses to observe it; it may be proposed, for a person to declare
        return
    may = kind in policy.kinds
    told = f"a model may observe a {kind}" if may else f"a model may observe {_list(policy.kinds)}, not a {kind}"
    yield Check("kinds", may, told, _hint_for(action))


def _check_tags(policy: Policy, action: Action, tags: Iterable[str]) -> Iterator[Check]:
    if policy.namespaces is None:
        return
    outside = sorted(tag for tag in tags if not any(lies_in(tag, top) for top in policy.namespaces))
    told = f"a model's tags lie under {_list(policy.namespaces)}"
    said = f"; {outside[0]} does not" if outside else ""
    yield Check("namespaces", not outside, told + said, _hint_for(action, "Use other tags, or ask a person"))


def _check_evidence(policy: Policy, action: Action, evidence: Iterable[str]) -> Check:
    told = f"an observation of a model needs evidence: {_list(policy.evidence)}"
    holds = any(form_of(entry) in policy.evidence for entry in evidence)
    return Check("evidence", holds, told, _hint_for(action))


def _check_count(name: str, bounds: Bounds, have: int, more: int, per: str) -> Check:
    most = getattr(bounds, name)
    told = f"models observe at most {most} in {per}; with this it is {have + more}"
    return Check(f"bounds.{name}", have + more <= most, told, _ASK_OR_PROPOSE, have + more, most)


def _hint_for(action: Action, start: str = "") -> str:
    if start:
        return f"{start} to run it at a terminal."
    return _ASK_OR_PROPOSE if action is Action.OBSERVE else _ASK


def _list(words: Iterable[str]) -> str:
    *others, last = sorted(words) or ["nothing"]
    return f"{', '.join(others)} or {last}" if others else last
