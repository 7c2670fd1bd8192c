"""Take a record out of use and keep it: moved to ``retired/`` with a reason, perhaps in favour of a newer one."""

from __future__ import annotations

from gitmem.errors import InputError, StateError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record, State
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.own import is_own
from gitmem.service.plan import (
    Move,
    carry_out_allowed,
    edit_record,
    find_earlier,
    link_to,
    make_change,
    path_in,
    stamp,
)
from gitmem.service.retry import describe_request
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
    request = describe_request(ref=ref, reason=reason, superseded_by=superseded_by)
    earlier = find_earlier(vault, Action.RETIRE, op_id, request)
    if earlier is not None:
        return earlier
    reason = one_line(reason)
    if not reason:
        raise InputError("empty-reason", "retiring needs a reason", "Say with --reason why it no longer holds.")
    old = get_record(vault, ref)
    if old[0].state is State.RETIRED:
        raise StateError("already-retired", f"{old[0].title!r} is retired already", "There is nothing to do.")
    new = None if superseded_by is None else get_record(vault, superseded_by)
    if new is not None:
        _check_successor(old[0], new[0])

    def ask() -> Decision:
        if new is not None:
            authorize(Action.EDIT, actor, record=new[0], own=is_own(vault, new[0], actor))
        return authorize(Action.RETIRE, actor, record=old[0], own=is_own(vault, old[0], actor))

    def plan(rule: str) -> Change:
        note = f"Reason: {reason}"
        if new is not None:
            note += f"\nSuperseded by: {new[0].title} ({new[0].id})"
        moves = _plan_moves(vault, old, new)
        return make_change(Action.RETIRE, actor, rule, moves, op_id=op_id, note=note, request=request)

    return carry_out_allowed(vault, ask, plan)


def _plan_moves(vault: OpenVault, old: tuple[Record, bytes], new: tuple[Record, bytes] | None) -> list[Move]:
    record, data = old
    now = stamp(vault)
    path = path_in(State.RETIRED, record.path, vault.clock.now())
    if new is None:
        return [(record, *edit_record(record, data, {"updated": now}, path))]
    newer, newer_data = new
    superseded_by = [*record.superseded_by, link_to(newer)]
    supersedes = [*newer.supersedes, link_to(record)]
    return [
        (record, *edit_record(record, data, {"updated": now, "superseded_by": superseded_by}, path)),
        (newer, *edit_record(newer, newer_data, {"supersedes": supersedes, "updated": now})),
    ]


def _check_successor(record: Record, newer: Record) -> None:
    if newer.id == record.id:
        raise InputError("supersedes-itself", "a record can't supersede itself", "Name the newer record.")
    if newer.state is State.RETIRED:
        raise StateError(
            "successor-retired", f"{newer.title!r} is retired itself", "Name a record that is in use, or restore it."
        )
