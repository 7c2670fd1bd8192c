"""Take a record out of use and keep it: moved to ``retired/`` with a reason, perhaps in favour of a newer one."""

from __future__ import annotations

from gitmem.errors import InputError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record, State
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.own import is_own
from gitmem.service.plan import carry_out, edit_record, find_earlier, make_change, path_in, stamp
from gitmem.service.vault import OpenVault
from gitmem.text import one_line


def retire(
    vault: OpenVault,
    ref: str,
    reason: str,
    actor: Actor,
    superseded_by: str | None = None,
    op_id: OpId | None = None,
) -> Receipt:
    """Move the record ``ref`` to ``retired/YYYY-MM/``; ``reason`` stands in the commit.

    With ``superseded_by`` the two records link to each other, both in the same commit. Raises ``InputError``
    (``empty-reason``, ``supersedes-itself``), ``StateError`` (``already-retired``, ``successor-retired``),
    ``PolicyError`` (``needs-human``); nothing is written then.
    """
    earlier = find_earlier(vault, Action.RETIRE, op_id)
    if earlier is not None:
        return earlier
    reason = one_line(reason)
    if not reason:
        raise InputError("empty-reason", "retiring needs a reason", "Say with --reason why it no longer holds.")
    record, data = get_record(vault, ref)
    decision = authorize(Action.RETIRE, actor, record=record, own=is_own(vault, record, actor))
    if record.state is State.RETIRED:
        raise StateError("already-retired", f"{record.title!r} is retired already", "There is nothing to do.")
    now = stamp(vault)
    changes: dict[str, object] = {"updated": now}
    moves: list[tuple[Record | None, Record, bytes]] = []
    note = f"Reason: {reason}"
    if superseded_by is not None:
        newer, newer_data = get_record(vault, superseded_by)
        _check_successor(record, newer)
        authorize(Action.EDIT, actor, record=newer, own=is_own(vault, newer, actor))
        changes["superseded_by"] = [*record.superseded_by, _link(newer)]
        supersedes = [*newer.supersedes, _link(record)]
        moves.append((newer, *edit_record(newer, newer_data, {"supersedes": supersedes, "updated": now})))
        note += f"\nSuperseded by: {newer.title} ({newer.id})"
    path = path_in(State.RETIRED, record.path, vault.clock.now())
    moves.insert(0, (record, *edit_record(record, data, changes, path)))
    return carry_out(vault, make_change(Action.RETIRE, actor, decision, moves, op_id=op_id, note=note))


def _check_successor(record: Record, newer: Record) -> None:
    if newer.id == record.id:
        raise InputError("supersedes-itself", "a record can't supersede itself", "Name the newer record.")
    if newer.state is State.RETIRED:
        raise StateError(
            "successor-retired", f"{newer.title!r} is retired itself", "Name a record that is in use, or restore it."
        )


def _link(record: Record) -> str:
    return f"[[{record.stem}]]"
