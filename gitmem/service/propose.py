"""Propose: the one gate by which anything gets into the inbox."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Sequence

from gitmem.clock import format_utc
from gitmem.curator.gather import place, to_known
from gitmem.curator.normalise import normalise
from gitmem.curator.worth import weigh
from gitmem.errors import GitmemError, InputError
from gitmem.model.authority import Action, Actor
from gitmem.model.candidate import MAX_WHY_CHARS, Candidate, Outcome, Proposed, Wants
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import OpId, RecordId, new_record_id
from gitmem.model.record import MAX_DRAFTS, Draft, Problem, State
from gitmem.model.vault_path import VaultPath
from gitmem.policy.secrets import check_found
from gitmem.service.candidates import Kept, hold_candidates
from gitmem.service.find import get_record
from gitmem.service.intake import check_intake, check_room, list_texts, source_of
from gitmem.service.near import find_near_records
from gitmem.service.plan import digest, find_earlier
from gitmem.service.policy import find_policy
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.scanner import ask_program
from gitmem.service.together import refuse
from gitmem.service.vault import OpenVault
from gitmem.text import shorten
from gitmem.values import replace
from gitmem.vault.inbox import load_decided, save_candidate
from gitmem.vault.sightings import add_sightings

__all__ = ["Outcome", "Proposed", "add_candidate", "add_candidates", "make_candidate", "propose", "propose_all"]


def propose(
    vault: OpenVault, draft: Draft, actor: Actor, *, why: Sequence[str] = (), op_id: OpId | None = None
) -> Proposed:
    """Put ``draft`` into the inbox, where it waits for a person, and return what became of it.

    It is normalised first. What says nearly the same as a candidate that waits is merged into that one; what a record
    says is not kept, unless it brings evidence or more: then it is proposed to be merged into that record; what was
    rejected is not kept. Raises as ``check_intake`` and ``check_room`` do; nothing is written then.
    """
    return propose_all(vault, [draft], actor, why=why, op_id=op_id)[0]


def propose_all(
    vault: OpenVault,
    drafts: Sequence[Draft],
    actor: Actor,
    *,
    why: Sequence[str] = (),
    op_id: OpId | None = None,
    lines: Sequence[int] | None = None,
) -> list[Proposed]:
    """Put all ``drafts`` (1 to 1,000) into the inbox, or none of them, and return what became of each, in order.

    ``lines`` numbers them in errors. Raises as ``propose`` does, for several ``InputError`` (``bad-lines``) with
    everything that is wrong with any.
    """
    request = describe_request(drafts=[given_fields(draft) for draft in drafts], why=list(why) or None)
    earlier = find_earlier(vault, Action.PROPOSE, op_id, request)
    if not 0 < len(drafts) <= MAX_DRAFTS:
        raise InputError("no-drafts" if not drafts else "too-many-drafts", f"{len(drafts)} drafts were given")
    new = [make_candidate(vault, draft, actor, why) for draft in drafts]
    if earlier is not None:
        return _tell_again(vault, earlier, new)
    return add_candidates(vault, new, actor, op_id=op_id, request=request, lines=lines)


def make_candidate(vault: OpenVault, draft: Draft, actor: Actor, why: Sequence[str] = ()) -> Candidate:
    """Return ``draft`` as a candidate of ``actor``, with a fresh id; ``why`` are its reasons, one line each."""
    now = vault.clock.now()
    made = Candidate(
        id=new_record_id(),
        created=format_utc(now),
        draft=normalise(draft),
        actor=actor.name,
        surface=actor.surface,
        sources=source_of(actor),
        why=tuple(line for line in (shorten(one, MAX_WHY_CHARS) for one in why) if line),
    )
    return replace(made, worth=weigh(made))


def add_candidate(vault: OpenVault, candidate: Candidate, actor: Actor) -> Proposed:
    """Put one candidate, of whatever it wants, into the inbox as ``propose`` does, and return what became of it.

    ``id``, ``created``, reasons, sources and worth are the caller's; when it expires is set where it is not. Raises as
    ``propose`` does, and ``InputError`` for targets that are no records or in a state that it can't be done to.
    """
    return add_candidates(vault, [candidate], actor)[0]


def add_candidates(
    vault: OpenVault,
    candidates: Sequence[Candidate],
    actor: Actor,
    *,
    op_id: OpId | None = None,
    request: str = "",
    lines: Sequence[int] | None = None,
) -> list[Proposed]:
    """Put all ``candidates`` into the inbox, or none, as ``add_candidate`` does; the inbox is locked once."""
    policy = find_policy(vault)
    until = format_utc(vault.clock.now() + datetime.timedelta(days=policy.bounds.candidate_days))
    wanted = [replace(one, draft=normalise(one.draft), expires=one.expires or until) for one in candidates]
    numbered = list(zip(lines or range(1, len(wanted) + 1), wanted, strict=True))

    def check(one: Candidate) -> None:
        check_intake(vault, one, actor, policy)
        _check_targets(vault, one)

    _check_all(numbered, check)
    _ask_program(vault, numbered)
    near = find_near_records(vault, [one.draft for one in wanted])
    with hold_candidates(vault) as kept:
        decided = load_decided(vault.layout)
        waiting = {one.id: one for one in kept.candidates}
        placed: list[Proposed] = []
        for one, records in zip(wanted, near, strict=True):
            known = [to_known(record) for record in records]
            told = place(one, list(waiting.values()), decided, known)
            if told.outcome is Outcome.NEW:
                check_room(list(waiting.values()), [other.candidate for other in decided], one, policy)
            if told.outcome in (Outcome.NEW, Outcome.MERGED):
                waiting[told.candidate.id] = told.candidate
            placed.append(told)
        _save_changed(vault, kept, waiting)
        _note_sightings(vault, placed)
        _keep_receipt(vault, placed, actor, op_id, request)
    return [replace(told, candidate=waiting.get(told.candidate.id, told.candidate)) for told in placed]


def _note_sightings(vault: OpenVault, placed: Sequence[Proposed]) -> None:
    """Remember which sessions proposed what a record says already. It is not worth failing for."""
    known = [(one.record, one.candidate.sources) for one in placed if one.outcome is Outcome.KNOWN and one.record]
    if known:
        with contextlib.suppress(OSError):
            add_sightings(vault.layout, known)


def _save_changed(vault: OpenVault, kept: Kept, waiting: dict[RecordId, Candidate]) -> None:
    before = {one.id: one for one in kept.candidates}
    for one in waiting.values():
        if before.get(one.id) != one:
            save_candidate(vault.layout, one)


def _check_all(numbered: Sequence[tuple[int, Candidate]], check: Callable[[Candidate], None]) -> None:
    problems = []
    for number, one in numbered:
        try:
            check(one)
        except GitmemError as error:
            if len(numbered) == 1 or error.code == "scanner-failed":
                raise
            problems.append(Problem(error.code, error.message, "", number))
    if problems:
        head = f"{len(problems)} of {len(numbered)} can't be proposed"
        refuse(InputError, "bad-lines", head, "Nothing was written. Mend these and try again.", problems)


def _ask_program(vault: OpenVault, numbered: Sequence[tuple[int, Candidate]]) -> None:
    """Ask the scanner of the home's settings about all that the candidates say, at once."""
    texts = {
        name if len(numbered) == 1 else f"line {number}: {name}": text
        for number, one in numbered
        for name, text in list_texts(one).items()
    }
    check_found(ask_program(vault.settings, texts))


def _check_targets(vault: OpenVault, one: Candidate) -> None:
    if one.wants is Wants.RECORD:
        return
    if not one.targets:
        raise InputError("bad-candidate", f"a candidate to {one.wants.value} names no record", "Name its targets.")
    for target in one.targets:
        record, _data = get_record(vault, target)
        if record.state is State.RETIRED or (one.wants is Wants.PROMOTE and record.state is not State.OBSERVATION):
            message = f"{record.title!r} is {record.state.value}; there is nothing to {one.wants.value}"
            raise InputError("bad-candidate", message, "Leave it out.")


def _keep_receipt(vault: OpenVault, placed: Sequence[Proposed], actor: Actor, op_id: OpId | None, request: str) -> None:
    """Remember under its op id what a proposal led to, so that the same answer is given again."""
    if op_id is None:
        return
    from gitmem.transaction.receipts import append_receipt

    ids = [one.record or one.candidate.id for one in placed]
    append_receipt(
        vault.layout,
        Receipt(
            op=Action.PROPOSE,
            op_id=op_id,
            commit=None,
            changed=any(one.outcome in (Outcome.NEW, Outcome.MERGED) for one in placed),
            records=tuple(RecordRef(one, VaultPath(f"inbox/{one}.json"), None) for one in ids),
            time=format_utc(vault.clock.now()),
            actor=actor.name,
            surface=actor.surface.value,
            request=digest(request),
            notices=tuple(one.outcome.value for one in placed),
        ),
    )


def _tell_again(vault: OpenVault, earlier: Receipt, new: Sequence[Candidate]) -> list[Proposed]:
    with hold_candidates(vault) as kept:
        waiting = {one.id: one for one in kept.candidates}
        decided = {one.candidate.id: one for one in load_decided(vault.layout)}
    placed = []
    for ref, said, one in zip(earlier.records, earlier.notices, new, strict=True):
        outcome = Outcome(said)
        last = decided.get(ref.id)
        there = waiting.get(ref.id) or (last.candidate if last else None) or replace(one, id=ref.id)
        if outcome is Outcome.KNOWN:
            placed.append(Proposed(one, outcome, record=ref.id))
        else:
            placed.append(Proposed(there, outcome, decided=last if outcome is Outcome.REJECTED_BEFORE else None))
    return placed
