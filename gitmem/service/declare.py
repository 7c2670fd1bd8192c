"""Write a baseline record as a person: a boundary, a preference, a goal, the state of the project."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Draft, State
from gitmem.service.draft import write_draft
from gitmem.service.drafts import write_drafts
from gitmem.service.vault import OpenVault


def declare(vault: OpenVault, draft: Draft, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit ``draft`` as a new record in ``baseline/`` with authority ``user_declared``.

    Raises ``PolicyError`` (``needs-human`` on a model surface, ``refused`` for another kind) and what ``write_draft``
    raises; nothing is written then.
    """
    return write_draft(vault, Action.DECLARE, State.BASELINE, draft, actor, op_id)


def declare_all(
    vault: OpenVault,
    drafts: Sequence[Draft],
    actor: Actor,
    op_id: OpId | None = None,
    lines: Sequence[int] | None = None,
) -> Receipt:
    """Commit all ``drafts`` as baseline records in one commit.

    Raises as ``write_drafts`` does, nothing written then.
    """
    return write_drafts(vault, Action.DECLARE, State.BASELINE, drafts, actor, op_id, lines)
