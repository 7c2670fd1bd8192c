"""Move observations to the reviewed knowledge, as a person, or by a rule of the vault's policy."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import StateError
from gitmem.model.authority import Action, Actor, Decision, Surface
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record, State
from gitmem.service.gate import authorize
from gitmem.service.plan import Move, carry_out_allowed, edit_record, find_earlier, make_change, path_in, stamp
from gitmem.service.policy import find_promote_rule
from gitmem.service.retry import describe_request
from gitmem.service.together import Found, authorize_all, describe, get_records
from gitmem.service.vault import OpenVault


def promote(vault: OpenVault, refs: Sequence[str], actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Move the observations ``refs`` to ``promoted/`` under their own file names, verified today if a person does it.

    All of them in one commit, or none. Raises ``StateError`` (``not-an-observation``) for a record in another state,
    ``PolicyError`` (``needs-human``) on a model surface, unless one rule of the policy of a workspace's vault fits all
    of them, and what ``get_records`` raises; nothing is written then.
    """
    request = describe_request(refs=list(refs))
    earlier = find_earlier(vault, Action.PROMOTE, op_id, request)
    if earlier is not None:
        return earlier
    found = get_records(vault, refs, _check_state)

    def plan(rule: str) -> Change:
        moves = [_plan_move(vault, one, is_verified=actor.surface is Surface.HUMAN) for one in found]
        return make_change(
            Action.PROMOTE, actor, rule, moves, op_id=op_id, request=request, **describe(moves, found[0][0].summary)
        )

    return carry_out_allowed(vault, lambda: _ask(vault, found, actor), plan)


def _ask(vault: OpenVault, found: Sequence[Found], actor: Actor) -> Decision:
    if actor.surface is Surface.MODEL and (opened := find_promote_rule(vault, [record for record, _data in found])):
        return opened
    scope = vault.entry.scope
    return authorize_all(
        found, lambda record: authorize(scope, Action.PROMOTE, actor, record=record, to_state=State.PROMOTED)
    )


def _plan_move(vault: OpenVault, found: Found, *, is_verified: bool) -> Move:
    record, data = found
    now = stamp(vault)
    changes = {"updated": now} | ({"verified": now[:10]} if is_verified else {})
    return (record, *edit_record(record, data, changes, path_in(State.PROMOTED, record.path, vault.clock.now())))


def _check_state(record: Record) -> None:
    if record.state is not State.OBSERVATION:
        hint = "Restore it first." if record.state is State.RETIRED else "There is nothing to do."
        raise StateError("not-an-observation", f"{record.title!r} is {record.state.value}, not an observation", hint)
