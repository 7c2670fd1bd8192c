"""Move an observation to the reviewed knowledge, as a person."""

from __future__ import annotations

from gitmem.errors import StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record, State
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out_allowed, edit_record, find_earlier, make_change, path_in, stamp
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault


def promote(vault: OpenVault, ref: str, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Move the observation ``ref`` to ``promoted/`` under its own file name and mark it verified today.

    Raises ``StateError`` (``not-an-observation``) for a record in another state, ``PolicyError`` (``needs-human``) on a
    model surface, and what ``get_record`` raises; nothing is written then.
    """
    request = describe_request(ref=ref)
    earlier = find_earlier(vault, Action.PROMOTE, op_id, request)
    if earlier is not None:
        return earlier
    record, data = get_record(vault, ref)
    _check_state(record)

    def plan(rule: str) -> Change:
        now = stamp(vault)
        path = path_in(State.PROMOTED, record.path, vault.clock.now())
        after = edit_record(record, data, {"updated": now, "verified": now[:10]}, path)
        moves = [(record, *after)]
        return make_change(Action.PROMOTE, actor, rule, moves, op_id=op_id, note=record.summary, request=request)

    return carry_out_allowed(
        vault, lambda: authorize(Action.PROMOTE, actor, record=record, to_state=State.PROMOTED), plan
    )


def _check_state(record: Record) -> None:
    if record.state is not State.OBSERVATION:
        hint = "Restore it first." if record.state is State.RETIRED else "There is nothing to do."
        raise StateError("not-an-observation", f"{record.title!r} is {record.state.value}, not an observation", hint)
