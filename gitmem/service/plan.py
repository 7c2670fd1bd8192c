"""Pieces that the writing verbs share: a record's new place, its edited bytes, and the change they make up."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from gitmem.clock import format_utc
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.vault import OpenVault
from gitmem.vault.frontmatter import edit_note
from gitmem.vault.record_file import parse_record

_MONTHLY = (State.OBSERVATION, State.RETIRED)


def path_in(state: State, path: str, now: datetime.datetime) -> VaultPath:
    """Return where the record at ``path`` lies in ``state``: same file name, same subfolders of its own.

    The month folders that gitmem adds come and go; folders that a note was brought in with stay.
    """
    _top, _slash, rest = path.partition("/")
    first, slash, below = rest.partition("/")
    if slash and _is_month(first):
        rest = below
    month = f"{now:%Y-%m}/" if state in _MONTHLY else ""
    return parse_vault_path(f"{state.folder}/{month}{rest}")


def edit_record(
    record: Record, data: bytes, changes: Mapping[str, Any], path: VaultPath | None = None
) -> tuple[Record, bytes]:
    """Return the record and its bytes after property ``changes``, at ``path`` if it moves. Pure."""
    after = edit_note(data, changes)
    return reread(path or record.path, after), after


def reread(path: VaultPath, data: bytes) -> Record:
    """Return the record in bytes that gitmem made. Raises what ``parse_record`` raises."""
    record = parse_record(path, data)
    assert record is not None
    return record


def file_edits(before: Record | None, after: Record, data: bytes) -> tuple[FileEdit, ...]:
    """Return the edits that bring one record from ``before`` to ``after``, in place or into another file."""
    if before is None:
        return (FileEdit(after.path, None, data),)
    if before.path == after.path:
        return (FileEdit(after.path, before.fingerprint, data),)
    return (FileEdit(after.path, None, data), FileEdit(before.path, before.fingerprint, None))


def make_change(
    action: Action,
    actor: Actor,
    decision: Decision,
    moves: list[tuple[Record | None, Record, bytes]],
    *,
    op_id: OpId | None = None,
    title: str = "",
    note: str = "",
) -> Change:
    """Return the change of an operation on records; each move is a record before, after, and its bytes after."""
    first = moves[0][1]
    return Change(
        action=action,
        op_id=op_id or new_op_id(),
        actor=actor,
        title=title or first.title,
        edits=tuple(edit for before, after, data in moves for edit in file_edits(before, after, data)),
        records=tuple(RecordChange(before, after) for before, after, _data in moves),
        rule=decision.rule,
        authority=first.authority,
        note=note,
    )


def find_earlier(vault: OpenVault, action: Action, op_id: OpId | None) -> Receipt | None:
    """Return the receipt of ``op_id`` when it was carried out before, so that a retry gets the same answer.

    Settles what a crash abandoned first. Raises ``InputError`` (``op-id-reused``) when it was another operation.
    """
    from gitmem.transaction.apply import get_earlier

    vault.settle_abandoned()
    return None if op_id is None else get_earlier(vault.layout, action, op_id)


def carry_out(vault: OpenVault, change: Change) -> Receipt:
    """Apply ``change``. Raises what ``transaction.apply`` raises, with the state that it names."""
    from gitmem.transaction.apply import apply

    return apply(vault.ground, change, vault.tools())


def no_change(action: Action, actor: Actor, op_id: OpId | None) -> Change:
    """Return the change of an operation that turned out to have nothing to do."""
    return Change(
        action=action, op_id=op_id or new_op_id(), actor=actor, title="nothing", edits=(), records=(), rule="no-change"
    )


def stamp(vault: OpenVault) -> str:
    """Return the present as ``created`` and ``updated`` hold it."""
    return format_utc(vault.clock.now())


def _is_month(name: str) -> bool:
    return len(name) == 7 and name[4] == "-" and name[:4].isdigit() and name[5:].isdigit()
