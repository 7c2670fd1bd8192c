"""Bring retired records back to the state that they were retired from."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import StateError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId, RecordId
from gitmem.model.links import LinkTargets
from gitmem.model.record import Record, State, state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.find import find_linked_path, find_linked_record
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
from gitmem.service.together import authorize_all, describe, get_records
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import iter_link_targets
from gitmem.typed import Any


def restore(vault: OpenVault, refs: Sequence[str], actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Move the retired records ``refs`` back where they were, and take back the links that their successors got.

    All of them in one commit, or none. Where history does not tell where one was, it becomes an observation. Raises
    ``StateError`` (``not-retired``), ``PolicyError`` (``needs-human``), and what ``get_records`` raises; nothing is
    written then.
    """
    request = describe_request(refs=list(refs))
    earlier = find_earlier(vault, Action.RESTORE, op_id, request)
    if earlier is not None:
        return earlier
    found = get_records(vault, refs, _check_state)
    places = {record.id: _find_place(vault, record) for record, _data in found}
    unlinked = _unlink_successors(vault, [record for record, _data in found])

    def ask() -> Decision:
        for newer, _data, _left in unlinked.values():
            authorize(vault.entry.scope, Action.EDIT, actor, record=newer, own=is_own(vault, newer, actor))
        return authorize_all(found, ask_for)

    def ask_for(record: Record) -> Decision:
        own = is_own(vault, record, actor)
        to_state = state_of(places[record.id])
        return authorize(vault.entry.scope, Action.RESTORE, actor, record=record, own=own, to_state=to_state)

    def plan(rule: str) -> Change:
        now = stamp(vault)
        moves: list[Move] = []
        for record, data in found:
            changes: dict[str, Any] = {"updated": now, "superseded_by": None}
            if record.id in unlinked:  # it superseded another one that comes back, too
                changes["supersedes"] = unlinked[record.id][2] or None
            moves.append((record, *edit_record(record, data, changes, places[record.id])))
        said = describe(moves, _tell_place(places[found[0][0].id]))
        back = set(places)
        for newer, data, left in (one for one in unlinked.values() if one[0].id not in back):
            moves.append((newer, *edit_record(newer, data, {"supersedes": left or None, "updated": now})))
        return make_change(Action.RESTORE, actor, rule, moves, op_id=op_id, request=request, **said)

    return carry_out_allowed(vault, ask, plan)


def _check_state(record: Record) -> None:
    if record.state is not State.RETIRED:
        message = f"the record {record.id} is {record.state.value}, not retired"
        raise StateError("not-retired", message, "There is nothing to do.")


def _find_place(vault: OpenVault, record: Record) -> VaultPath:
    return find_earlier_path(vault, record) or path_in(State.OBSERVATION, record.path, vault.clock.now())


def _tell_place(path: VaultPath) -> str:
    state = state_of(path)
    return f"Back from {State.RETIRED.value} to {state.value if state else State.OBSERVATION.value}."


def find_earlier_path(vault: OpenVault, record: Record) -> VaultPath | None:
    """Return where the record lay before the operation that retired it, as history tells; ``None`` if it doesn't."""
    for touch in iter_touches(vault, record.id, record.path):
        if touch.before is not None and state_of(touch.before) not in (None, State.RETIRED):
            return parse_vault_path(touch.before)
    return None


def _unlink_successors(vault: OpenVault, back: Sequence[Record]) -> dict[RecordId, tuple[Record, bytes, list[str]]]:
    """Return the records that superseded one of ``back``, by id, with the links that they keep in ``supersedes``."""
    if not any(record.superseded_by for record in back):
        return {}
    targets = LinkTargets(iter_link_targets(vault))
    unlinked: dict[RecordId, tuple[Record, bytes, list[str]]] = {}
    for record in back:
        for link in record.superseded_by:
            found = find_linked_record(vault, targets, link, record.path)
            if found is None:
                continue
            newer, data = found
            had = unlinked[newer.id][2] if newer.id in unlinked else list(newer.supersedes)
            left = [one for one in had if find_linked_path(targets, one, newer.path) != record.path]
            if len(left) < len(had):
                unlinked[newer.id] = (newer, data, left)
    return unlinked
