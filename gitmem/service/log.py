"""What was done to the vault or to one record, told by the commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gitmem.git.history import Commit, iter_commits
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId, OpId
from gitmem.service.find import get_record
from gitmem.service.history import iter_touches
from gitmem.service.operations import Operation, find_undone, parse_operation
from gitmem.service.vault import OpenVault


def log(vault: OpenVault, ref: str | None = None, limit: int | None = 20) -> Answer:
    """Return operations as rows, newest first, at most ``limit``; of one record when ``ref`` names it.

    A row has ``commit``, ``time``, ``op``, ``op_id``, ``title``, ``note``, ``actor``, ``surface``, ``authority``,
    ``rule``, ``records``, ``undoes`` (the operation that it took back) and ``undone_by`` (the undo that took it back
    and still holds). A commit that was made outside gitmem has the op ``commit`` and its author as actor.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    operations = [parse_operation(commit) for commit in islice(_iter_commits(vault, head, ref), limit)]
    undone = find_undone(operations)  # an undo is newer than what it takes back, and touches the same records
    rows = tuple(_row(one, undone) for one in operations)
    return Answer(Status.OK if rows else Status.NO_MATCH, head, rows=rows, diagnostics=settled)


def _iter_commits(vault: OpenVault, head: CommitId, ref: str | None) -> Iterator[Commit]:
    if ref is None:
        return iter_commits(vault.repo, head)
    record, _data = get_record(vault, ref)
    return (touch.commit for touch in iter_touches(vault, record.id, record.path))


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
