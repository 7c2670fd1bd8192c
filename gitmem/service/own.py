"""Whether a record is an actor's own: written by it, touched by nobody else since. History tells, not the file."""

from __future__ import annotations

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Record, State
from gitmem.service.vault import OpenVault


def is_own(vault: OpenVault, record: Record, actor: Actor) -> bool:
    """Tell whether every operation on ``record`` was made by ``actor`` on the model surface.

    Always false for a human surface, which needs no such permission, and for anything but an observation or an
    observation that was retired. Walks history; its cost grows with the number of commits.
    """
    if actor.surface is Surface.HUMAN or record.state not in (State.OBSERVATION, State.RETIRED):
        return False
    from gitmem.service.history import iter_touches

    touches = list(iter_touches(vault, record.id, record.path))
    model = {"Gitmem-Surface": Surface.MODEL.value, "Gitmem-Actor": actor.name}
    return bool(touches) and all(model.items() <= touch.trailers.items() for touch in touches)
