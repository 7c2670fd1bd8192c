"""Accept candidates: whatever they want is done, all of it in one commit, and then they are decided."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.clock import format_utc
from gitmem.curator.normalise import normalise
from gitmem.errors import InputError, PolicyError, StateError
from gitmem.model.authority import Action, Actor, Decision, Surface
from gitmem.model.candidate import Candidate, Choice, Decided, Fate, Wants
from gitmem.model.change import Change, Receipt, RecordChange
from gitmem.model.ids import OpId
from gitmem.model.policy import Policy
from gitmem.model.record import BASELINE_KINDS, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.accepting import Chosen, carry_out_candidate
from gitmem.service.bench import Bench
from gitmem.service.candidates import hold_candidates, keep_decided, look_at_candidates, pick
from gitmem.service.gate import authorize
from gitmem.service.keys import iter_taken_keys
from gitmem.service.plan import carry_out_allowed, find_earlier, make_change, no_change
from gitmem.service.policy import find_accept_rule
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.together import describe
from gitmem.service.vault import OpenVault
from gitmem.values import replace
from gitmem.vault.inbox import drop_accepting, save_accepting

__all__ = ["Choice", "accept", "find_accept_decision", "plan_accept"]

MAX_CHOICES = 300


def accept(vault: OpenVault, choices: Sequence[Choice], actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Carry out what ``choices`` (1 to 300) accept, all of it in one commit or nothing, and decide those candidates.

    A new record gets the id of its candidate. A merge adds text, tags and evidence to the record that stays, as a
    person's draft says or by appending what is new, and retires the others in its favour. A crash at any moment leaves
    both or none of commit and decision once the inbox is next looked at.

    Raises ``InputError`` (``no-such-candidate``, ``bad-choice`` and what a draft can be refused for), ``PolicyError``
    (``needs-human``: a model accepts only what a rule of the vault's policy names, and a prompt in a host declares
    nothing), ``StateError`` for records that changed meanwhile, ``UnavailableError`` (``inbox-busy``); nothing is
    written then and the candidates wait still.
    """
    request = describe_request(choices=[given_fields(replace(choice, shown=None)) for choice in choices])
    earlier = find_earlier(vault, Action.ACCEPT, op_id, request)
    if earlier is not None:
        with hold_candidates(vault):  # settles what a crash left
            return earlier
    with hold_candidates(vault) as kept:
        chosen = _choose(kept.candidates, choices)
        bench, notes = _carry_out(vault, chosen, actor)

        def plan(rule: str) -> Change:
            if not bench.moves:
                return no_change(Action.ACCEPT, actor, op_id, request)
            said = describe(bench.moves, bench.moves[0][1].summary)
            note = "\n".join(filter(None, (said["note"], *notes)))
            return make_change(
                Action.ACCEPT, actor, rule, bench.moves, op_id=op_id, title=said["title"], note=note, request=request
            )

        def prepare(change: Change) -> None:
            save_accepting(vault.layout, change.op_id, _decide(vault, chosen, change.op_id))
            vault.options.probe("accept-commit")

        receipt = carry_out_allowed(vault, lambda: _ask(vault, bench, chosen, actor), plan, prepare)
        vault.options.probe("accept-decide")
        keep_decided(vault, _decide(vault, chosen, receipt.op_id))
        vault.options.probe("accept-forget")
        drop_accepting(vault.layout)
        return receipt


def plan_accept(vault: OpenVault, choices: Sequence[Choice], actor: Actor) -> list[RecordChange]:
    """Return what ``accept`` would do to which records, for a person to look at. Writes nothing.

    Raises what it would raise for the candidates and the records, but not for who asks.
    """
    chosen = _choose(look_at_candidates(vault).candidates, choices)
    bench, _notes = _carry_out(vault, chosen, actor)
    changes = [RecordChange(before, after) for before, after, _data in bench.moves]
    for _one, error in iter_taken_keys(vault, changes):
        raise error
    return changes


def find_accept_decision(vault: OpenVault, candidate: Candidate, policy: Policy | None = None) -> Decision:
    """Return what policy says of a model that would accept ``candidate`` as it is: its rule, or that it takes a person.

    ``policy`` is that of the vault, for who asks about many; it is found where it is not given. Never raises for a
    refusal.
    """
    usual = Decision(
        "accept-model",
        allowed=False,
        needs_human=True,
        reason="a candidate is accepted by a person's review, or by a rule of the vault's policy",
    )
    draft = candidate.draft
    is_persons = draft.kind in BASELINE_KINDS or candidate.is_deferred_by_person
    if candidate.wants is not Wants.RECORD or is_persons or candidate.contradicts:
        return usual
    return find_accept_rule(vault, draft, max(1, len(candidate.sources)), policy) or usual


def _carry_out(vault: OpenVault, chosen: Sequence[Chosen], actor: Actor) -> tuple[Bench, list[str]]:
    bench = Bench(vault)
    return bench, [carry_out_candidate(bench, one, actor) for one in chosen]


def _choose(waiting: Sequence[Candidate], choices: Sequence[Choice]) -> list[Chosen]:
    if not 0 < len(choices) <= MAX_CHOICES:
        message = f"{len(choices)} candidates were named; one operation accepts 1 to {MAX_CHOICES}"
        raise InputError("bad-choice", message, "Name at least one, or accept them in parts.")
    chosen = {}
    for choice in choices:
        candidate = pick(waiting, choice.id)
        if candidate.id in chosen:
            raise InputError("bad-choice", f"{candidate.id} is named twice", "Name each candidate once.")
        if choice.shown not in (None, candidate):
            raise StateError(
                "changed-meanwhile",
                f"the candidate {candidate.id} has changed since it was shown; nothing was written",
                "Look at what it says now, and decide again.",
            )
        chosen[candidate.id] = _make_chosen(candidate, choice)
    return list(chosen.values())


def _make_chosen(candidate: Candidate, choice: Choice) -> Chosen:
    draft = normalise(choice.draft or candidate.draft)
    makes_record = candidate.wants is Wants.RECORD and choice.into is None
    if not makes_record and choice.to is not None:
        raise InputError("bad-choice", f"{candidate.id} makes no new record, so it has no state", "Leave --to out.")
    if choice.into is not None and not (candidate.wants is Wants.RECORD or len(candidate.targets) == 1):
        raise InputError("bad-choice", f"{candidate.id} is about other records already", "Leave --into out.")
    is_declared = draft.kind in BASELINE_KINDS
    if makes_record and draft.kind is None:
        draft = replace(draft, kind=Kind.FACT)
    state = choice.to or (State.BASELINE if is_declared else State.OBSERVATION)
    if makes_record and (state is State.RETIRED or is_declared != (state is State.BASELINE)):
        hint = "Boundaries, preferences, goals and states go into the baseline, and nothing else does."
        raise InputError("bad-choice", f"a {draft.kind} can't be accepted as {state.value}", hint)
    return Chosen(candidate, draft, state, choice.into)


def _ask(vault: OpenVault, bench: Bench, chosen: Sequence[Chosen], actor: Actor) -> Decision:
    """Return the decision that fits all; raises ``PolicyError`` for the first that is not allowed."""
    decisions = [_ask_one(vault, one, actor) for one in chosen]
    if actor.surface is Surface.HUMAN:
        _ask_for_records(vault.entry.scope, bench, actor)
    rules = list(dict.fromkeys(one.rule for one in decisions))
    if len(rules) > 1:
        message = "a model accepts what one rule of policy names at a time"
        raise PolicyError("needs-human", message, "Accept those of each rule by themselves.", rule=rules[1])
    return decisions[0]


def _ask_one(vault: OpenVault, one: Chosen, actor: Actor) -> Decision:
    proposed = one.candidate.draft
    is_as_proposed = one.into is None and one.draft in (proposed, replace(proposed, kind=proposed.kind or Kind.FACT))
    if actor.surface is Surface.MODEL and is_as_proposed:
        decision = find_accept_decision(vault, one.candidate)
        if decision.allowed and one.state is State.OBSERVATION:
            return decision
    return authorize(
        vault.entry.scope,
        Action.ACCEPT,
        actor,
        kind=one.draft.kind,
        has_evidence=bool(one.draft.evidence),
        to_state=one.state,
    )


def _ask_for_records(scope: Scope, bench: Bench, actor: Actor) -> None:
    """Ask for each record that is changed, too: accepting opens no way around what may not be done to it."""
    for before, after, _data in bench.moves:
        if before is None:
            continue
        moved = before.state is not after.state
        action = Action.EDIT if not moved else Action.RETIRE if after.state is State.RETIRED else Action.PROMOTE
        authorize(scope, action, actor, record=before, to_state=after.state)


def _decide(vault: OpenVault, chosen: Sequence[Chosen], op_id: OpId) -> list[Decided]:
    now = format_utc(vault.clock.now())
    return [
        Decided(
            one.candidate,
            Fate.MERGED if one.into or one.candidate.wants is Wants.MERGE else Fate.ACCEPTED,
            now,
            op_id=op_id,
        )
        for one in chosen
    ]
