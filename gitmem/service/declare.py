"""Write a baseline record as a person: a boundary, a preference, a goal, the state of the project."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import BASELINE_KINDS, Draft, State
from gitmem.policy.authority import authority_for
from gitmem.service.draft import make_record
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out, find_earlier, make_change
from gitmem.service.vault import OpenVault


def declare(vault: OpenVault, draft: Draft, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit ``draft`` as a new record in ``baseline/`` with authority ``user_declared``.

    Raises ``PolicyError`` (``needs-human``) on a model surface, ``InputError`` (``not-a-baseline-kind``) and what
    ``make_record`` raises; nothing is written then.
    """
    earlier = find_earlier(vault, Action.DECLARE, op_id)
    if earlier is not None:
        return earlier
    kind = draft.kind
    if kind is None or kind not in BASELINE_KINDS:
        kinds = ", ".join(sorted(BASELINE_KINDS))
        raise InputError(
            "not-a-baseline-kind",
            f"a declaration has one of the kinds {kinds}",
            "Give --kind, or use `gitmem observe`.",
        )
    authority = authority_for(Action.DECLARE, State.BASELINE)
    record, data = make_record(vault, draft, authority, State.BASELINE.folder, actor)
    decision = authorize(Action.DECLARE, actor, kind=kind)
    change = make_change(Action.DECLARE, actor, decision, [(None, record, data)], op_id=op_id, note=record.summary)
    return carry_out(vault, change)
