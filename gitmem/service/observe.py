"""Write an observation: something learned, with what shows it."""

from __future__ import annotations

from dataclasses import replace

from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Draft, Kind, State
from gitmem.service.draft import write_draft
from gitmem.service.vault import OpenVault


def observe(vault: OpenVault, draft: Draft, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit ``draft`` as a new record in ``observations/YYYY-MM/``; kind ``fact`` unless it says another.

    Raises ``PolicyError`` (``needs-human`` for a model without evidence, ``refused`` for a baseline kind) and what
    ``write_draft`` raises; nothing is written then.
    """
    return write_draft(
        vault, Action.OBSERVE, State.OBSERVATION, replace(draft, kind=draft.kind or Kind.FACT), actor, op_id
    )
