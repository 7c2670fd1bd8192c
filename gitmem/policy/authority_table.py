"""The authority table of design section 6 as data: who may do what, row by row, the first that fits decides.

Change it here, and make ``docs/authority.md`` anew with ``make docs``.
"""

from __future__ import annotations

from gitmem.model.authority import Action, Authority, Proof, Surface
from gitmem.model.record import BASELINE_KINDS, State
from gitmem.policy.rules import Condition, Request, Rule, Verdict


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
    "by-prompt": Condition("the person typed it as a prompt in a host", lambda request: request.proof is Proof.PROMPT),
    "by-prompt-baseline": Condition(
        "the person typed it as a prompt in a host, and the kind is boundary, preference, goal or state",
        lambda request: request.proof is Proof.PROMPT and request.kind in BASELINE_KINDS,
    ),
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
    Rule("propose-human", Action.PROPOSE, Surface.HUMAN, "always", Verdict.ALLOWED, "it waits in the inbox for review"),
    Rule(
        "propose-model",
        Action.PROPOSE,
        Surface.MODEL,
        "always",
        Verdict.ALLOWED,
        "it waits in the inbox for a person, within the bounds of the vault's policy",
    ),
    Rule(
        "accept-prompt-baseline",
        Action.ACCEPT,
        Surface.HUMAN,
        "by-prompt-baseline",
        Verdict.NEEDS_HUMAN,
        "a prompt in a host declares nothing",
        _ASK,
    ),
    Rule("accept-human", Action.ACCEPT, Surface.HUMAN, "always", Verdict.ALLOWED, "a person reviewed it"),
    Rule(
        "accept-model",
        Action.ACCEPT,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "a candidate is accepted by a person's review, or by a rule of the vault's policy",
        _ASK,
    ),
    Rule(
        "curate",
        Action.CURATE,
        None,
        "always",
        Verdict.ALLOWED,
        "an episode is made from metadata alone, and says no more than what happened",
    ),
    Rule(
        "policy-prompt",
        Action.POLICY,
        Surface.HUMAN,
        "by-prompt",
        Verdict.NEEDS_HUMAN,
        "a prompt in a host changes no policy",
        _ASK,
    ),
    Rule("policy-human", Action.POLICY, Surface.HUMAN, "always", Verdict.ALLOWED, "a person sets the vault's policy"),
    Rule(
        "policy-model",
        Action.POLICY,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "only a person changes what is allowed",
        _ASK,
    ),
    Rule(
        "trust-prompt",
        Action.TRUST,
        Surface.HUMAN,
        "by-prompt",
        Verdict.NEEDS_HUMAN,
        "a prompt in a host changes no keys",
        _ASK,
    ),
    Rule("trust-human", Action.TRUST, Surface.HUMAN, "always", Verdict.ALLOWED, "a person lists the keys of people"),
    Rule(
        "trust-model",
        Action.TRUST,
        Surface.MODEL,
        "always",
        Verdict.NEEDS_HUMAN,
        "only a person says which keys are people's",
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
