"""The inbox as its writers see it: locked, with what a crash left settled, and what is too old put away."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence

from gitmem.clock import format_utc
from gitmem.errors import GitmemError, InputError, UnavailableError
from gitmem.model.candidate import Candidate, Decided, Fate, Wants
from gitmem.model.ids import ALPHABET, ID_CHARS, RecordId
from gitmem.model.record import Problem
from gitmem.service.policy import find_policy
from gitmem.service.reading import ask
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, shorten
from gitmem.values import dataclass
from gitmem.vault.inbox import (
    Inbox,
    drop_accepting,
    drop_oldest_decided,
    hold_inbox,
    load_accepting,
    load_inbox,
    save_decided,
)

MIN_PREFIX_CHARS = 3
_SHOWN = 5
_AT_WORK = ("inbox-busy", "inbox-unreadable", "inbox-unwritable", "vault-busy", "index-locked")


@dataclass(frozen=True)
class Kept:
    """What the inbox holds: the candidates that wait, oldest first, and a problem for each that can't be read.

    ``decided`` are those that this look decided: accepted in a crash, expired.
    """

    candidates: tuple[Candidate, ...]
    problems: tuple[Problem, ...] = ()
    decided: tuple[Decided, ...] = ()


@contextlib.contextmanager
def hold_candidates(vault: OpenVault) -> Iterator[Kept]:
    """Yield what waits, with the inbox locked; what a crash left is settled and what is too old is put away before.

    Raises ``UnavailableError`` (``inbox-busy``, ``inbox-unreadable``, ``inbox-unwritable``) and what settling raises.
    """
    with hold_inbox(vault.layout, vault.options.lock_wait_s, vault.clock):
        yield settle_candidates(vault)


def settle_candidates(vault: OpenVault) -> Kept:
    """Settle what a crash left, put away what is too old, and return what waits. Only with the inbox locked.

    Decided candidates beyond those that policy has remembered are forgotten, the oldest first.
    """
    from gitmem.transaction.apply import was_carried_out

    accepting = load_accepting(vault.layout)
    if accepting is not None:
        op_id, decided = accepting
        if was_carried_out(vault.ground, vault.tools(), op_id):
            keep_decided(vault, decided)
        drop_accepting(vault.layout)
    inbox = load_inbox(vault.layout)
    settled = list_settled(vault, inbox.candidates)
    if settled:
        keep_decided(vault, settled)
    return _without(inbox, settled)


def look_at_candidates(vault: OpenVault) -> Kept:
    """Return what waits, for a reader, who writes only to settle, and never waits for that.

    Where somebody is at work, or the disk can't be written, what is settled is left out all the same.
    """
    inbox = load_inbox(vault.layout)
    settled = list_settled(vault, inbox.candidates)
    if settled or load_accepting(vault.layout) is not None:
        try:
            with hold_inbox(vault.layout, 0, vault.clock):
                return settle_candidates(vault)
        except (UnavailableError, OSError) as error:
            if isinstance(error, GitmemError) and error.code not in _AT_WORK:
                raise
    return _without(inbox, settled)


def list_settled(vault: OpenVault, waiting: Sequence[Candidate]) -> list[Decided]:
    """Return what is decided by itself: what is a record of the vault by now is accepted, what is too old expired."""
    now = format_utc(vault.clock.now())
    there = _list_there(vault, [one.id for one in waiting if one.wants is Wants.RECORD])
    accepted = [Decided(one, Fate.ACCEPTED, now, "it is in the vault") for one in waiting if one.id in there]
    expired = [
        Decided(one, Fate.EXPIRED, now, "nobody decided it in time")
        for one in waiting
        if one.id not in there and is_expired(one, vault.clock.now())
    ]
    return accepted + expired


def keep_decided(vault: OpenVault, decided: Sequence[Decided]) -> None:
    """Write what became of candidates, and forget the oldest beyond what policy has remembered. The inbox is locked."""
    for one in decided:
        save_decided(vault.layout, one)
    drop_oldest_decided(vault.layout, find_policy(vault).bounds.decided_kept)


def pick(waiting: Sequence[Candidate], ref: str) -> Candidate:
    """Return the candidate of ``waiting`` whose id is ``ref`` or begins with it.

    Raises ``InputError`` (``no-such-candidate``, ``ambiguous-candidate``).
    """
    wanted = ref.strip()
    is_prefix = MIN_PREFIX_CHARS <= len(wanted) <= ID_CHARS and not set(wanted) - set(ALPHABET)
    found = [one for one in waiting if is_prefix and one.id.startswith(wanted)]
    if len(found) > 1:
        listed = ", ".join(f"{one.id} ({one.draft.title})" for one in found[:_SHOWN])
        message = f"{len(found)} candidates begin with {wanted!r}: {listed}"
        raise InputError("ambiguous-candidate", message, "Give more of the id.")
    if not found:
        named = shorten(make_visible(wanted), 80)
        raise InputError("no-such-candidate", f"no candidate has the id {named!r}", "`gitmem inbox` lists them.")
    return found[0]


def is_asleep(candidate: Candidate, now: datetime.datetime) -> bool:
    """Tell whether a candidate is deferred to a later moment than ``now``."""
    return candidate.deferred is not None and candidate.deferred > format_utc(now)


def is_expired(candidate: Candidate, now: datetime.datetime) -> bool:
    """Tell whether nobody decided a candidate in time."""
    return candidate.expires is not None and candidate.expires <= format_utc(now)


def _without(inbox: Inbox, decided: Sequence[Decided]) -> Kept:
    gone = {one.candidate.id for one in decided}
    return Kept(tuple(one for one in inbox.candidates if one.id not in gone), inbox.problems, tuple(decided))


def _list_there(vault: OpenVault, ids: Sequence[RecordId]) -> frozenset[RecordId]:
    """Return those of ``ids`` that records of the vault have; private records are not looked at."""
    from gitmem.catalog.query import list_ids

    return ask(vault, lambda database, _report: list_ids(database)) & set(ids) if ids else frozenset()
