"""Take records out of use and keep them: moved to ``retired/`` with a reason, perhaps in favour of a newer one."""

from __future__ import annotations

from collections.abc import Sequence

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
from gitmem.service.together import Found, authorize_all, describe, get_records
from gitmem.service.vault import OpenVault
from gitmem.text import one_line
from gitmem.typed import Any


def retire(
    vault: OpenVault,
    refs: Sequence[str],
    reason: str,
    actor: Actor,
    superseded_by: str | None = None,
    op_id: OpId | None = None,
    *,
    frees_key: bool = False,
) -> Receipt:
    """Move the records ``refs`` to ``retired/YYYY-MM/``, all in one commit or none; ``reason`` stands in the commit.

    ``frees_key`` takes their keys from them, so that others may have these. With ``superseded_by`` each of them and
    that record link to each other, in the same commit. Raises ``InputError`` (``empty-reason``, ``supersedes-itself``),
    ``StateError`` (``already-retired``, ``successor-retired``), ``PolicyError`` (``needs-human``), and what
    ``get_records`` raises; nothing is written then.
    """
    request = describe_request(refs=list(refs), reason=reason, superseded_by=superseded_by, frees_key=frees_key or None)
    earlier = find_earlier(vault, Action.RETIRE, op_id, request)
    if earlier is not None:
        return earlier
    reason = one_line(reason)
    if not reason:
        raise InputError("empty-reason", "retiring needs a reason", "Say with --reason why it no longer holds.")
    old = get_records(vault, refs, _check_state)
    new = None if superseded_by is None else get_record(vault, superseded_by)
    if new is not None:
        _check_successor(old, new[0])

    def ask() -> Decision:
        if new is not None:
            authorize(vault.entry.scope, Action.EDIT, actor, record=new[0], own=is_own(vault, new[0], actor))
        return authorize_all(
            old,
            lambda record: authorize(
                vault.entry.scope, Action.RETIRE, actor, record=record, own=is_own(vault, record, actor)
            ),
        )

    def plan(rule: str) -> Change:
        retired = [_plan_move(vault, one, new, frees_key=frees_key) for one in old]
        said = describe(retired)
        notes = [said["note"], f"Reason: {reason}"]
        if new is not None:
            named = "a private record" if new[0].private else new[0].title
            notes.append(f"Superseded by: {named} ({new[0].id})")
        note = "\n".join(filter(None, notes))
        moves = retired if new is None else [*retired, _plan_successor(vault, old, new)]
        title = said["title"]
        return make_change(Action.RETIRE, actor, rule, moves, op_id=op_id, title=title, note=note, request=request)

    return carry_out_allowed(vault, ask, plan)


def _plan_move(vault: OpenVault, old: Found, new: Found | None, *, frees_key: bool) -> Move:
    record, data = old
    path = path_in(State.RETIRED, record.path, vault.clock.now())
    changes: dict[str, Any] = {"updated": stamp(vault)}
    if frees_key and record.key is not None:
        changes["key"] = None
    if new is not None:
        changes["superseded_by"] = [*record.superseded_by, link_to(new[0])]
    return (record, *edit_record(record, data, changes, path))


def _plan_successor(vault: OpenVault, old: Sequence[Found], new: Found) -> Move:
    record, data = new
    supersedes = [*record.supersedes, *(link_to(older) for older, _data in old)]
    return (record, *edit_record(record, data, {"supersedes": supersedes, "updated": stamp(vault)}))


def _check_state(record: Record) -> None:
    if record.state is State.RETIRED:
        raise StateError("already-retired", f"{record.title!r} is retired already", "There is nothing to do.")


def _check_successor(old: Sequence[Found], newer: Record) -> None:
    if newer.id in [record.id for record, _data in old]:
        raise InputError("supersedes-itself", "a record can't supersede itself", "Name the newer record.")
    if newer.state is State.RETIRED:
        raise StateError(
            "successor-retired", f"{newer.title!r} is retired itself", "Name a record that is in use, or restore it."
        )
