"""What people declared and reviewed of how to work here: what may be written into a file of instructions.

Boundaries and preferences that a person is known to have declared, conventions and procedures that one is known to have
reviewed; as they are committed, in force, and not replaced. Never what is private, and never an observation.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress

from gitmem.errors import InputError, StateError
from gitmem.model.ids import CommitId
from gitmem.model.record import Kind, Problem, Record, State
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.render.agents_md import GROUPS
from gitmem.service.as_signed import AsSigned
from gitmem.service.confirmed import list_confirmed
from gitmem.service.context import read_baseline, sort_out
from gitmem.service.missing import count_missing
from gitmem.service.reading import Reading, ask, mask
from gitmem.service.reviewed import list_reviewed
from gitmem.service.superseded import find_superseded, find_superseded_declared
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.values import dataclass

_REVIEWED = (Kind.CONVENTION, Kind.PROCEDURE)
_ORDER = list(GROUPS)


@dataclass(frozen=True)
class Conventions:
    """The records, by kind in the order of ``GROUPS``, then title.

    ``unconfirmed`` have the state and kind and are not known to be a person's; ``held_back`` are a person's, and out of
    date or replaced. ``problems`` say what is not proved or not as it should be.
    """

    revision: CommitId
    records: tuple[Record, ...]
    unconfirmed: int = 0
    held_back: int = 0
    problems: tuple[Problem, ...] = ()


def find_conventions(vault: OpenVault) -> Conventions:
    """Return what is confirmed in ``vault``; of its own records alone. Reads.

    Raises ``StateError`` (``baseline-unreadable``) where a record of the baseline can't be read, for it may be a
    boundary, and what reading raises: ``UnavailableError`` (``vault-missing``, ``scanner-failed``,
    ``receipts-unreadable``), ``IntegrityError``.
    """
    vault.settle_abandoned()
    head = vault.head()
    now = vault.clock.now()

    def gather(database: object, report: object) -> Conventions:
        return _gather(Reading(vault, head, database, report, now))  # type: ignore[arg-type]

    return ask(vault, gather, strict=True)  # what is private now must be known


def _gather(reading: Reading) -> Conventions:
    today = reading.now.date()
    signed, unreadable = read_baseline(reading)
    if unreadable:
        first = unreadable[0]
        message = f"{len(unreadable)} records of the baseline can't be read, {first.path} first: {first.message}"
        raise StateError("baseline-unreadable", message, "Mend what `gitmem check` names; it may be a boundary.")
    back = {one.path for one in signed.records if one.id in signed.back}
    confirmed = list_confirmed(reading.vault, signed.records, signed.standing) | back
    baseline = [one for one in signed.records if one.kind in GROUPS]
    declared = [one for one in baseline if one.path in confirmed]
    kept, held = sort_out(declared, today, find_superseded_declared(reading, declared, confirmed))
    promoted = _read_promoted(reading)
    proved = list_reviewed(reading.vault, promoted, signed.standing)
    reviewed = [one for one in promoted if one.path in proved]
    kept_reviewed, held_reviewed = sort_out(reviewed, today, find_superseded(reading, reviewed))
    held += held_reviewed
    return Conventions(
        revision=reading.head,
        records=tuple(sorted((*kept, *kept_reviewed), key=_sort_key)),
        unconfirmed=len(baseline) - len(declared) + len(promoted) - len(reviewed),
        held_back=held.out_of_date + held.superseded,
        problems=(*signed.standing.problems, *_tell_missing(reading, signed, confirmed)),
    )


def _tell_missing(reading: Reading, signed: AsSigned, confirmed: Container[VaultPath]) -> Iterator[Problem]:
    shown = {one.id for one in signed.records if one.path in confirmed}
    missing = count_missing(reading.vault, reading.head, shown, set(), signed.standing)
    if missing:
        number = "1 record that a person declared is" if missing == 1 else f"{missing} records that people declared are"
        yield Problem("declared-missing", f"{number} gone or changed since, by no operation")


def _read_promoted(reading: Reading) -> list[Record]:
    """Return the reviewed conventions and procedures as HEAD has them, masked, without what is private there or now."""
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.query import list_rows
    from gitmem.service.hidden import list_hidden
    from gitmem.service.past import scan_commit

    hidden = list_hidden(reading.vault, reading.database, reading.report, [reading.head])
    past = scan_commit(reading.vault, reading.head, hidden, (State.PROMOTED.folder,))
    rows = list_rows(reading.database, Filters(states=(State.PROMOTED,)))
    others = {(row.path, row.fingerprint) for row in rows if row.kind not in _REVIEWED}
    found = []
    with past.open() as read:
        for path, blob in sorted(past.blobs.items()):
            if (path, blob) in others:
                continue
            with suppress(InputError):
                data = read(path)
                record = past.parse(parse_vault_path(path), data)
                if record is not None and not record.private and record.kind in _REVIEWED:
                    found.append(mask(record, data)[0])
    return found


def _sort_key(record: Record) -> tuple[int, str, str]:
    return (_ORDER.index(record.kind or Kind.FACT), fold(record.title), record.id)
