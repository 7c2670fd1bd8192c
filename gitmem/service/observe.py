"""Write an observation: something learned, with what shows it."""

from __future__ import annotations

from dataclasses import replace

from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Draft, Kind, State
from gitmem.policy.authority import authority_for
from gitmem.service.draft import make_record
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out, find_earlier, make_change
from gitmem.service.vault import OpenVault


def observe(vault: OpenVault, draft: Draft, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit ``draft`` as a new record in ``observations/YYYY-MM/``; kind ``fact`` unless it says another.

    Raises ``PolicyError`` (``needs-human`` for a model without evidence, ``refused`` for a baseline kind) and what
    ``make_record`` raises; nothing is written then.
    """
    earlier = find_earlier(vault, Action.OBSERVE, op_id)
    if earlier is not None:
        return earlier
    kind = draft.kind or Kind.FACT
    folder = f"{State.OBSERVATION.folder}/{vault.clock.now():%Y-%m}"
    draft = replace(draft, kind=kind)
    record, data = make_record(vault, draft, authority_for(Action.OBSERVE, State.OBSERVATION), folder, actor)
    decision = authorize(Action.OBSERVE, actor, kind=kind, has_evidence=bool(draft.evidence))
    change = make_change(Action.OBSERVE, actor, decision, [(None, record, data)], op_id=op_id, note=record.summary)
    return carry_out(vault, change)
