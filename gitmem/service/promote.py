"""Move observations to the reviewed knowledge, as a person."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record, State
from gitmem.service.gate import authorize
from gitmem.service.plan import Move, carry_out_allowed, edit_record, find_earlier, make_change, path_in, stamp
from gitmem.service.retry import describe_request
from gitmem.service.together import Found, authorize_all, describe, get_records
from gitmem.service.vault import OpenVault


def promote(vault: OpenVault, refs: Sequence[str], actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Move the observations ``refs`` to ``promoted/`` under their own file names and mark them verified today.

    All of them in one commit, or none. Raises ``StateError`` (``not-an-observation``) for a record in another state,
    ``PolicyError`` (``needs-human``) on a model surface, and what ``get_records`` raises; nothing is written then.
    """
    request = describe_request(refs=list(refs))
    earlier = find_earlier(vault, Action.PROMOTE, op_id, request)
    if earlier is not None:
        return earlier
    found = get_records(vault, refs, _check_state)

    def plan(rule: str) -> Change:
        moves = [_plan_move(vault, one) for one in found]
        return make_change(
            Action.PROMOTE, actor, rule, moves, op_id=op_id, request=request, **describe(moves, found[0][0].summary)
        )

    return carry_out_allowed(
        vault,
        lambda: authorize_all(
            found,
            lambda record: authorize(vault.entry.scope, Action.PROMOTE, actor, record=record, to_state=State.PROMOTED),
        ),
        plan,
    )


def _plan_move(vault: OpenVault, found: Found) -> Move:
    record, data = found
    now = stamp(vault)
    path = path_in(State.PROMOTED, record.path, vault.clock.now())
    return (record, *edit_record(record, data, {"updated": now, "verified": now[:10]}, path))


def _check_state(record: Record) -> None:
    if record.state is not State.OBSERVATION:
        hint = "Restore it first." if record.state is State.RETIRED else "There is nothing to do."
        raise StateError("not-an-observation", f"{record.title!r} is {record.state.value}, not an observation", hint)
