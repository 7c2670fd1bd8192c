"""Whether a record is an actor's own: written by it, touched by nobody else since. Receipts tell, not the file.

A commit that somebody amended, squashed or picked keeps its trailers, so these prove nothing by themselves. Only a
commit whose receipt is in this vault's runtime is known to hold what the actor wrote and no more.
"""

from __future__ import annotations

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Record, State
from gitmem.service.vault import OpenVault


def is_own(vault: OpenVault, record: Record, actor: Actor) -> bool:
    """Tell whether every commit that touched ``record`` was made by ``actor`` on the model surface.

    Always false for a human surface, which needs no such permission, for anything but an observation or an
    observation that was retired, and where receipts are missing. Walks history; its cost grows with the number of
    commits.
    """
    if actor.surface is Surface.HUMAN or record.state not in (State.OBSERVATION, State.RETIRED):
        return False
    from gitmem.service.history import iter_touches
    from gitmem.transaction.receipts import iter_receipts

    own = {
        receipt.commit
        for receipt in iter_receipts(vault.layout)
        if receipt.surface == Surface.MODEL.value and receipt.actor == actor.name
    }
    touches = [touch.commit.id for touch in iter_touches(vault, record.id, record.path)]
    return bool(touches) and own.issuperset(touches)
