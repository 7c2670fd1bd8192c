"""What was done to the vault or to one record, told by the commits."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from gitmem.errors import InputError
from gitmem.git.history import iter_commits
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId, OpId, RecordId, is_record_id
from gitmem.model.record import Problem
from gitmem.model.when import parse_period
from gitmem.service.find import get_record
from gitmem.service.hidden import Hidden
from gitmem.service.history import find_committed_place, find_last_place, iter_touches
from gitmem.service.operations import Operation, find_undone, parse_operation
from gitmem.service.reading import find_hidden
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import Any
from gitmem.values import dataclass, replace

_OLDER_BEFORE_STOP = 16
"""How many commits in a row have to be older than asked for before the rest is taken to be: clocks go back at times."""


@dataclass(frozen=True)
class LogFilters:
    """Which operations to tell. An empty field means all.

    ``since`` and ``until`` are texts that ``parse_when`` reads; ``ops`` are names of operations, ``commit`` for what
    was committed outside gitmem; ``actors`` are names, in any case, or surfaces (``human``, ``model``).
    """

    since: str | None = None
    until: str | None = None
    ops: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()


_ALL = LogFilters()


def log(vault: OpenVault, ref: str | None = None, limit: int | None = 20, filters: LogFilters = _ALL) -> Answer:
    """Return operations as rows, newest first, at most ``limit``; of one record when ``ref`` names it.

    A row has ``commit``, ``time``, ``op``, ``op_id``, ``title``, ``note``, ``actor``, ``surface``, ``authority``,
    ``rule``, ``records``, ``undoes`` (the operation that it took back) and ``undone_by`` (the undo that took it back
    and still holds). A commit that was made outside gitmem has the op ``commit`` and its author as actor. What was done
    to a record that is private is told without its name, and to it alone not at all: ``withheld``. A record that is
    no longer there is known by its whole id. Raises ``InputError``: ``bad-date``, ``until-before-since`` and what
    ``get_record`` raises.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    chosen = _Choice(vault.clock.now(), filters)
    if ref is None:
        own, commits = frozenset[RecordId](), iter_commits(vault.repo, head)
    else:
        record_id, path, withheld = _find_record(vault, head, ref)
        if withheld is not None:
            return Answer(Status.WITHHELD, head, diagnostics=(*settled, withheld))
        own, commits = frozenset({record_id}), (one.commit for one in iter_touches(vault, record_id, path))
    undoes: list[Operation] = []
    told = list(islice(_choose(map(parse_operation, commits), chosen, undoes), limit))
    undone = find_undone(undoes)  # an undo is newer than what it takes back, and touches the same records
    rows = [_row(one, undone) for one in _without_private(vault, told, own)]
    return Answer(Status.OK if rows else Status.NO_MATCH, head, rows=tuple(rows), diagnostics=settled)


class _Choice:
    """The filters as they are compared."""

    def __init__(self, now: datetime.datetime, filters: LogFilters) -> None:
        since, until = parse_period(filters.since, filters.until, now, "operation")
        self._since_s = since.timestamp() if since else None
        self._until_s = until.timestamp() if until else None
        self._ops = set(filters.ops)
        self._actors = {fold(name) for name in filters.actors}

    def is_too_old(self, one: Operation) -> bool:
        return self._since_s is not None and one.commit.time < self._since_s

    def admits(self, one: Operation) -> bool:
        if self.is_too_old(one) or (self._until_s is not None and one.commit.time >= self._until_s):
            return False
        if self._ops and one.op not in self._ops:
            return False
        return not self._actors or not self._actors.isdisjoint({fold(one.actor), one.surface})


def _choose(operations: Iterable[Operation], chosen: _Choice, undoes: list[Operation]) -> Iterator[Operation]:
    """Yield the operations that are admitted; put every undo that comes by into ``undoes``."""
    older = 0
    for one in operations:
        if one.undoes is not None:
            undoes.append(one)
        older = older + 1 if chosen.is_too_old(one) else 0
        if older > _OLDER_BEFORE_STOP:
            return
        if chosen.admits(one):
            yield one


def _find_record(vault: OpenVault, head: CommitId, ref: str) -> tuple[RecordId, str, Problem | None]:
    """Return id and place of a record, and what is said instead of its history where it is private."""
    try:
        record, _data = get_record(vault, ref)
    except InputError as error:
        wanted = ref.strip()
        gone = find_last_place(vault, head, RecordId(wanted)) if is_record_id(wanted) else None
        if error.code != "no-such-record" or gone is None:
            raise
        path, was_private = gone
        told = Problem("private", f"the record {wanted} was private; Git has its history")
        is_private = was_private or wanted in find_hidden(vault, ())
        return RecordId(wanted), path, told if is_private else None
    told = Problem("private", f"the record {record.id} is private; Git has its history")
    is_committed = vault.committed_ids(head, [record.path])[record.path] is not None
    committed = None if is_committed else find_committed_place(vault, head, record.id)
    return record.id, committed or record.path, told if record.private else None


def _without_private(vault: OpenVault, told: list[Operation], own: Collection[RecordId]) -> list[Operation]:
    """Return operations without the names of records that are private; those in ``own`` are known not to be."""
    if not any(set(one.records) - set(own) for one in told):
        return told
    hidden = find_hidden(vault, ())
    return [_without_names(one, hidden, own) for one in told]


def _without_names(one: Operation, hidden: Hidden, own: Collection[RecordId]) -> Operation:
    left = tuple(record for record in one.records if record in own or record not in hidden)
    if len(left) == len(one.records):
        return one
    title = f"{len(one.records)} records, private ones among them" if left else "a private record"
    return replace(one, title=title, note="", records=left)


def _row(one: Operation, undone: Mapping[OpId, Operation]) -> dict[str, Any]:
    undo = None if one.op_id is None else undone.get(one.op_id)
    return {
        "commit": one.commit.id,
        "time": one.time,
        "op": one.op,
        "op_id": one.op_id,
        "title": one.title,
        "note": one.note,
        "actor": one.actor,
        "surface": one.surface,
        "authority": one.authority,
        "rule": one.rule,
        "records": list(one.records),
        "undoes": one.undoes,
        "undone_by": None if undo is None else undo.op_id,
    }
