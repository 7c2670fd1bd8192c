"""Write an observation: something learned, with what shows it."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Draft, Kind, State
from gitmem.service.draft import write_draft
from gitmem.service.drafts import write_drafts
from gitmem.service.vault import OpenVault
from gitmem.values import replace


def observe(vault: OpenVault, draft: Draft, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit ``draft`` as a new record in ``observations/YYYY-MM/``; kind ``fact`` unless it says another.

    Raises ``PolicyError`` (``needs-human`` for a model without evidence, ``refused`` for a baseline kind) and what
    ``write_draft`` raises; nothing is written then.
    """
    return write_draft(vault, Action.OBSERVE, State.OBSERVATION, _with_kind(draft), actor, op_id)


def observe_all(
    vault: OpenVault,
    drafts: Sequence[Draft],
    actor: Actor,
    op_id: OpId | None = None,
    lines: Sequence[int] | None = None,
) -> Receipt:
    """Commit all ``drafts`` as new observations in one commit; raises as ``write_drafts`` does, nothing written then.

    On a model surface each of them needs evidence.
    """
    wanted = [_with_kind(draft) for draft in drafts]
    return write_drafts(vault, Action.OBSERVE, State.OBSERVATION, wanted, actor, op_id, lines)


def _with_kind(draft: Draft) -> Draft:
    return replace(draft, kind=draft.kind or Kind.FACT)
