"""Decide candidates without accepting them: reject, defer, and take a decision back."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from gitmem.clock import format_utc
from gitmem.errors import InputError, StateError
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.candidate import Candidate, Decided, Decisions, Fate, Wants
from gitmem.model.when import parse_ahead
from gitmem.service.candidates import Kept, hold_candidates, keep_decided, pick
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.policy import find_policy
from gitmem.service.scanner import check_texts
from gitmem.service.vault import OpenVault
from gitmem.text import one_line, shorten
from gitmem.values import replace
from gitmem.vault.inbox import load_decided, save_candidate, take_back

MAX_REASON_CHARS = 500
DEFER_DAYS = 7
"""For how long a candidate sleeps where nobody says until when."""


def reject(vault: OpenVault, refs: Sequence[str], reason: str, actor: Actor) -> Decisions:
    """Reject the candidates ``refs`` for ``reason``, as a person, all or none; the same is not proposed again.

    Rejecting what is rejected already changes nothing. Raises ``InputError`` (``empty-reason``,
    ``no-such-candidate``), ``PolicyError`` (``needs-human``, ``secret-found``), ``UnavailableError``; nothing is
    written then.
    """
    return _put_away(vault, refs, reason, actor, Fate.REJECTED)


def withdraw(vault: OpenVault, refs: Sequence[str], reason: str, actor: Actor) -> Decisions:
    """Take the candidates ``refs`` back, all or none; that keeps nobody from proposing the same.

    A model surface may take back what it proposed itself and nobody else did, a person everything. Raises as
    ``reject`` does.
    """
    return _put_away(vault, refs, reason, actor, Fate.WITHDRAWN)


def _put_away(vault: OpenVault, refs: Sequence[str], reason: str, actor: Actor, fate: Fate) -> Decisions:
    reason = shorten(reason, MAX_REASON_CHARS)
    if not reason:
        raise InputError("empty-reason", "this needs a reason", "Say with --reason why it should not be kept.")
    check_texts(vault.settings, {"the reason": reason})
    with hold_candidates(vault) as kept:
        found = _pick_all(vault, kept, refs, Fate.REJECTED, Fate.WITHDRAWN)
        waiting = [one for one in found if one in kept.candidates]
        for one in waiting:
            own = fate is Fate.WITHDRAWN and is_own_candidate(one, actor)
            authorize(vault.entry.scope, Action.REJECT, actor, kind=one.draft.kind, own=own)
        now = format_utc(vault.clock.now())
        keep_decided(vault, [Decided(one, fate, now, reason) for one in waiting])
        return Decisions(tuple(found), fate, bool(waiting))


def defer(vault: OpenVault, refs: Sequence[str], until: str | None, actor: Actor) -> Decisions:
    """Let the candidates ``refs`` sleep until ``until``, a date as ``parse_ahead`` reads it, or for a week.

    They are not listed and do not expire before. What a person deferred, a model surface can neither defer anew nor
    withdraw nor wake. Raises as ``reject`` does, and ``InputError`` (``bad-date``,
    ``date-passed``).
    """
    moment = parse_until(vault, until)
    with hold_candidates(vault) as kept:
        found = _pick_all(vault, kept, refs)
        for one in found:
            authorize(vault.entry.scope, Action.REJECT, actor, kind=one.draft.kind, own=is_own_candidate(one, actor))
        by = actor.surface
        deferred = [
            replace(one, deferred=moment, deferred_by=by, expires=max(one.expires or moment, moment)) for one in found
        ]
        for one in deferred:
            save_candidate(vault.layout, one)
        return Decisions(tuple(deferred))


def reconsider(vault: OpenVault, refs: Sequence[str], actor: Actor) -> Decisions:
    """Take the decisions on ``refs`` back: they wait in the inbox again, deferred ones are awake.

    What was accepted is in the vault and stays decided as long as it is. Raises as ``reject`` does, and ``StateError``
    (``already-accepted``).
    """
    with hold_candidates(vault) as kept:
        found = _pick_all(vault, kept, refs, *Fate)
        for one in found:
            authorize(
                vault.entry.scope,
                Action.REJECT,
                actor,
                kind=one.draft.kind,
                own=one in kept.candidates and is_own_candidate(one, actor),
            )
        decided = {one.candidate.id: one for one in load_decided(vault.layout)}
        for one in found:
            if one not in kept.candidates:
                _check_not_accepted(vault, decided[one.id])
        awake = [replace(one, deferred=None, deferred_by=None, expires=_expiry(vault)) for one in found]
        for one in awake:
            take_back(vault.layout, one.id)
            save_candidate(vault.layout, one)
        return Decisions(tuple(awake))


def is_own_candidate(candidate: Candidate, actor: Actor) -> bool:
    """Tell whether ``actor``, on a model surface, proposed ``candidate``, and nobody else did or deferred it since."""
    is_actors = candidate.surface is Surface.MODEL is actor.surface and candidate.actor == actor.name
    is_alone = candidate.seen == 1 or len(candidate.sources) == 1
    return is_actors and is_alone and not candidate.is_deferred_by_person


def _pick_all(vault: OpenVault, kept: Kept, refs: Sequence[str], *fates: Fate) -> list[Candidate]:
    """Return the candidates that ``refs`` name, each once: those that wait, and those decided with one of ``fates``."""
    if not refs:
        raise InputError("no-candidates", "no candidate was named", "Name at least one; `gitmem inbox` lists them.")
    earlier = [one.candidate for one in load_decided(vault.layout) if one.fate in fates] if fates else []
    found = {}
    for ref in refs:
        one = pick([*kept.candidates, *earlier], ref)
        found[one.id] = one
    return list(found.values())


def _check_not_accepted(vault: OpenVault, decided: Decided) -> None:
    if decided.fate not in (Fate.ACCEPTED, Fate.MERGED):
        return
    candidate = decided.candidate
    if decided.fate is Fate.ACCEPTED and candidate.wants is Wants.RECORD:
        try:
            get_record(vault, candidate.id)
        except InputError:
            return  # it was taken back since
    hint = "Take the operation back first: `gitmem log` names it, `gitmem undo` takes it back."
    raise StateError("already-accepted", f"{candidate.id} was accepted", hint)


def parse_until(vault: OpenVault, until: str | None) -> str:
    """Return the moment that ``until`` names, ``None`` for the usual time. Raises as ``defer``."""
    now = vault.clock.now()
    if until is None:
        return format_utc(now + datetime.timedelta(days=DEFER_DAYS))
    return format_utc(parse_ahead(one_line(until), now))


def _expiry(vault: OpenVault) -> str:
    days = find_policy(vault).bounds.candidate_days
    return format_utc(vault.clock.now() + datetime.timedelta(days=days))
