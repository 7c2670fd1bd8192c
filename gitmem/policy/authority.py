"""Who may do what: the authority table of design section 6 as data, and the one function that reads it.

Keeps INV-HUMAN-ONLY.

``docs/authority.md`` is ``format_table()``; change the table here and write that page anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from gitmem.model.authority import Action, Authority, Decision, Surface
from gitmem.model.record import BASELINE_KINDS, Kind, State


@dataclass(frozen=True)
class Request:
    """What is asked of policy.

    ``kind`` is what the record is to be about, ``authority`` and ``state`` are what the record has now (``None`` for
    one that isn't there yet), ``to_state`` is where it is to go. ``own`` says that the acting actor wrote it and that
    no person has reviewed it since.
    """

    action: Action
    surface: Surface
    kind: Kind | None = None
    authority: Authority | None = None
    state: State | None = None
    has_evidence: bool = False
    own: bool = False
    to_state: State | None = None


class Verdict(StrEnum):
    """What a rule says: go on, show it to a person first, or not at all."""

    ALLOWED = "allowed"
    NEEDS_HUMAN = "needs_human"
    REFUSED = "refused"


@dataclass(frozen=True)
class Rule:
    """One row of the table. ``surface`` is ``None`` for both; ``condition`` is a name in ``CONDITIONS``."""

    id: str
    action: Action
    surface: Surface | None
    condition: str
    verdict: Verdict
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Condition:
    """What a rule asks of a request: ``text`` says it to people, ``holds`` to the program."""

    text: str
    holds: Callable[[Request], bool]


def decide(request: Request) -> Decision:
    """Return the decision of the first rule that fits ``request``; refused (rule ``no-rule``) when none does."""
    for rule in TABLE:
        if (
            rule.action is request.action
            and rule.surface in (None, request.surface)
            and CONDITIONS[rule.condition].holds(request)
        ):
            return Decision(
                rule=rule.id,
                allowed=rule.verdict is Verdict.ALLOWED,
                needs_human=rule.verdict is Verdict.NEEDS_HUMAN,
                reason=rule.reason,
                hint=rule.hint,
            )
    return Decision("no-rule", allowed=False, reason=f"no rule of the authority table covers {request.action}")


def authority_for(action: Action, state: State) -> Authority:
    """Return the authority of a record that ``action`` writes into ``state``, once policy has allowed it.

    What a person puts into the baseline is declared; everything else is evidence that may inform and not instruct.
    """
    into_baseline = state is State.BASELINE and action in (Action.IMPORT, Action.ADOPT)
    declared = action is Action.DECLARE or into_baseline
    return Authority.USER_DECLARED if declared else Authority.WORKSPACE_EVIDENCE


def format_table() -> str:
    """Return the page ``docs/authority.md``: the table in Markdown, row by row in the order in which it is read."""
    lines = [_PAGE_HEAD]
    for rule in TABLE:
        cells = (
            f"`{rule.id}`",
            rule.action.value,
            rule.surface.value if rule.surface else "both",
            CONDITIONS[rule.condition].text,
            rule.verdict.value.replace("_", " "),
            f"{rule.reason}. {rule.hint}".strip(),
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def _is_declared(request: Request) -> bool:
    return request.state is State.BASELINE or request.authority is Authority.USER_DECLARED


def _is_own_observation(request: Request) -> bool:
    return request.own and request.state is State.OBSERVATION and not _is_declared(request)


def _returns_own_observation(request: Request) -> bool:
    goes_back = request.state is State.RETIRED and request.to_state is State.OBSERVATION
    return request.own and goes_back and not _is_declared(request)


def _is_own_unreviewed(request: Request) -> bool:
    return request.own and request.state in (State.OBSERVATION, State.RETIRED) and not _is_declared(request)


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
    "into-observations": Condition(
        "the notes become observations", lambda request: request.to_state is State.OBSERVATION
    ),
}
"""Every condition that a rule may name."""

_ASK = "Ask a person to run it at a terminal."
_OWN_ONLY = "a model surface may change only its own unreviewed observations"

TABLE: tuple[Rule, ...] = (
    Rule("init", Action.INIT, None, "always", Verdict.ALLOWED, "making a vault changes no record"),
    Rule(
        "observe-baseline-kind",
        Action.OBSERVE,
        None,
        "baseline-kind",
        Verdict.REFUSED,
        "boundaries, preferences, goals and states are declared, not observed",
        "Use `gitmem declare`, or another kind.",
    ),
    Rule("observe-human", Action.OBSERVE, Surface.HUMAN, "always", Verdict.ALLOWED, "a person vouches for it"),
    Rule(
        "observe-evidence",
        Action.OBSERVE,
        Surface.MODEL,
        "has-evidence",
        Verdict.ALLOWED,
        "it is recorded as `workspace_evidence`, which informs and never instructs",
    ),
    Rule(
        "observe-no-evidence",
        Action.OBSERVE,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "an observation of a model needs evidence or a person",
        "Add --evidence (commit:…, file:…#L…, run:…, url:…) or run it at a terminal.",
    ),
    Rule(
        "declare-other-kind",
        Action.DECLARE,
        None,
        "other-kind",
        Verdict.REFUSED,
        "only boundaries, preferences, goals and states are declared",
        "Give one of these kinds, or use `gitmem observe`.",
    ),
    Rule("declare-human", Action.DECLARE, Surface.HUMAN, "always", Verdict.ALLOWED, "a person declares it"),
    Rule(
        "declare-model",
        Action.DECLARE,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "only a person can declare",
        _ASK,
    ),
    Rule("edit-human", Action.EDIT, Surface.HUMAN, "always", Verdict.ALLOWED, "a person edits it"),
    Rule(
        "edit-declared",
        Action.EDIT,
        Surface.MODEL,
        "declared",
        Verdict.NEEDS_HUMAN,
        "only a person changes what a person declared",
        _ASK,
    ),
    Rule("edit-own", Action.EDIT, Surface.MODEL, "own-observation", Verdict.ALLOWED, "nobody has reviewed it yet"),
    Rule("edit-other", Action.EDIT, Surface.MODEL, "always", Verdict.NEEDS_HUMAN, _OWN_ONLY, _ASK),
    Rule("promote-human", Action.PROMOTE, Surface.HUMAN, "always", Verdict.ALLOWED, "a person reviewed it"),
    Rule(
        "promote-model",
        Action.PROMOTE,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "promotion is a person's review",
        _ASK,
    ),
    Rule("retire-human", Action.RETIRE, Surface.HUMAN, "always", Verdict.ALLOWED, "a person retires it"),
    Rule("retire-own", Action.RETIRE, Surface.MODEL, "own-observation", Verdict.ALLOWED, "nobody has reviewed it yet"),
    Rule("retire-other", Action.RETIRE, Surface.MODEL, "always", Verdict.NEEDS_HUMAN, _OWN_ONLY, _ASK),
    Rule("restore-human", Action.RESTORE, Surface.HUMAN, "always", Verdict.ALLOWED, "a person restores it"),
    Rule(
        "restore-own",
        Action.RESTORE,
        Surface.MODEL,
        "returns-own-observation",
        Verdict.ALLOWED,
        "it becomes again what nobody has reviewed",
    ),
    Rule("restore-other", Action.RESTORE, Surface.MODEL, "always", Verdict.NEEDS_HUMAN, _OWN_ONLY, _ASK),
    Rule("import-human", Action.IMPORT, Surface.HUMAN, "always", Verdict.ALLOWED, "a person brings the notes"),
    Rule(
        "import-observations",
        Action.IMPORT,
        Surface.MODEL,
        "into-observations",
        Verdict.ALLOWED,
        "the folder is the evidence; the notes are recorded as `workspace_evidence`",
    ),
    Rule(
        "import-reviewed",
        Action.IMPORT,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "notes become baseline, promoted or retired by a person's review",
        "Leave --state out to bring them in as observations, or run it at a terminal.",
    ),
    Rule("adopt-human", Action.ADOPT, Surface.HUMAN, "always", Verdict.ALLOWED, "a person commits a person's edits"),
    Rule(
        "adopt-model",
        Action.ADOPT,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "an edit on disk is a person's only when a person says so",
        _ASK,
    ),
    Rule("undo-human", Action.UNDO, Surface.HUMAN, "always", Verdict.ALLOWED, "a person takes it back"),
    Rule(
        "undo-declared",
        Action.UNDO,
        Surface.MODEL,
        "declared",
        Verdict.NEEDS_HUMAN,
        "only a person changes, removes or brings back what a person declared",
        _ASK,
    ),
    Rule(
        "undo-own",
        Action.UNDO,
        Surface.MODEL,
        "own-unreviewed",
        Verdict.ALLOWED,
        "nobody has reviewed them before or since",
    ),
    Rule(
        "undo-other",
        Action.UNDO,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "a model surface may undo only its own operations on its own unreviewed observations",
        _ASK,
    ),
    Rule(
        "views-follow-records",
        Action.REPAIR,
        None,
        "always",
        Verdict.ALLOWED,
        "views are made from the records and hold no more",
    ),
    Rule(
        "maintain",
        Action.MAINTAIN,
        None,
        "always",
        Verdict.ALLOWED,
        "it changes how the vault is stored and never what a record says",
    ),
)
"""The authority table. The first row that fits a request decides; for each action the last row always fits."""

_PAGE_HEAD = """\
# Who may do what

Every request comes through a surface. *human* means that a person was shown what would happen and confirmed it, by
typing a code at a terminal. *model* is everything else, a command line call without that confirmation included. What a
record says never changes who may touch it.

The first row that fits a request decides. *needs human* means that the same request is put to a person; *refused*
means that it isn't done for anyone. The row's name is the rule that a commit's `Gitmem-Rule` trailer gives. Three kinds
of commit are made without a request: the first one of a vault (`init`), the one in which an operation brings the views
in step before its own (`views-follow-records`), and the one that spreads a catalog that has grown over more files
(`maintain`). Their rows are there for the trailer.

This page is made from `gitmem/policy/authority.py`.

| Rule | Action | Surface | When | Verdict | Why, and what to do |
| --- | --- | --- | --- | --- | --- |
"""
