"""Bring a retired record back to the state that it was retired from."""

from __future__ import annotations

from gitmem.errors import StateError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.links import LinkTargets
from gitmem.model.record import Record, State, state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.find import find_linked_path, find_linked_record, get_record
from gitmem.service.gate import authorize
from gitmem.service.history import iter_touches
from gitmem.service.own import is_own
from gitmem.service.plan import (
    Move,
    carry_out_allowed,
    edit_record,
    find_earlier,
    make_change,
    path_in,
    stamp,
)
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import iter_link_targets


def restore(vault: OpenVault, ref: str, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Move the retired record ``ref`` back where it was, and take back the links that its successor got.

    Where history does not tell where it was, it becomes an observation. Raises ``StateError`` (``not-retired``),
    ``PolicyError`` (``needs-human``); nothing is written then.
    """
    request = describe_request(ref=ref)
    earlier = find_earlier(vault, Action.RESTORE, op_id, request)
    if earlier is not None:
        return earlier
    record, data = get_record(vault, ref)
    if record.state is not State.RETIRED:
        message = f"the record {record.id} is {record.state.value}, not retired"
        raise StateError("not-retired", message, "There is nothing to do.")
    path = find_earlier_path(vault, record) or path_in(State.OBSERVATION, record.path, vault.clock.now())
    to_state = state_of(path)
    now = stamp(vault)
    unlinked = _unlink_successors(vault, record, now)

    def ask() -> Decision:
        for newer, _after, _data in unlinked:
            authorize(Action.EDIT, actor, record=newer, own=newer is not None and is_own(vault, newer, actor))
        return authorize(Action.RESTORE, actor, record=record, own=is_own(vault, record, actor), to_state=to_state)

    def plan(rule: str) -> Change:
        back = edit_record(record, data, {"updated": now, "superseded_by": None}, path)
        note = f"Back from {record.state.value} to {to_state.value if to_state else 'observation'}."
        moves = [(record, *back), *unlinked]
        return make_change(Action.RESTORE, actor, rule, moves, op_id=op_id, note=note, request=request)

    return carry_out_allowed(vault, ask, plan)


def find_earlier_path(vault: OpenVault, record: Record) -> VaultPath | None:
    """Return where the record lay before the operation that retired it, as history tells; ``None`` if it doesn't."""
    for touch in iter_touches(vault, record.id, record.path):
        if touch.before is not None and state_of(touch.before) not in (None, State.RETIRED):
            return parse_vault_path(touch.before)
    return None


def _unlink_successors(vault: OpenVault, record: Record, now: str) -> list[Move]:
    if not record.superseded_by:
        return []
    targets = LinkTargets(iter_link_targets(vault))
    found = [find_linked_record(vault, targets, link, record.path) for link in record.superseded_by]
    moves: list[Move] = []
    for newer, data in {one[0].id: one for one in found if one is not None}.values():
        left = [link for link in newer.supersedes if find_linked_path(targets, link, newer.path) != record.path]
        if len(left) < len(newer.supersedes):
            moves.append((newer, *edit_record(newer, data, {"supersedes": left or None, "updated": now})))
    return moves
