"""Whether a record is an actor's own: written by it, touched by nobody else since. Receipts tell, not the file.

A commit that somebody amended, squashed or picked keeps its trailers, so these prove nothing by themselves. Only a
commit whose receipt is in this vault's runtime is known to hold what the actor wrote and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.authority import Actor, Surface
from gitmem.model.change import RecordChange
from gitmem.model.ids import CommitId
from gitmem.model.record import Record, State
from gitmem.service.built_upon import iter_touching
from gitmem.service.operations import Found, iter_operations
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass


def is_own(vault: OpenVault, record: Record, actor: Actor) -> bool:
    """Tell whether every commit that touched ``record`` was made by ``actor`` on the model surface.

    Always false for a human surface, which needs no such permission, for anything but an observation or an
    observation that was retired, and where receipts are missing. Walks history; its cost grows with the number of
    commits.
    """
    if actor.surface is Surface.HUMAN or record.state not in (State.OBSERVATION, State.RETIRED):
        return False
    return _is_own(vault, record, _read_commits(vault, actor))


def is_own_operation(vault: OpenVault, found: Found, records: Sequence[RecordChange], actor: Actor) -> bool:
    """Tell whether ``actor`` made an operation, on the model surface, on nothing but records of its own.

    ``records`` are as its undo would change them: ``before`` is what HEAD has, just as the operation left it, ``after``
    what was there before the operation. Nobody else may have touched them before, or their places since: what an
    operation of the actor's own did in between was allowed on the same terms. Walks history.
    """
    if actor.surface is Surface.HUMAN or not records:
        return False
    commits = _read_commits(vault, actor)
    commit = found.operation.commit
    if commit.id not in commits.own:
        return False
    paths = sorted({side.path for one in records for side in (one.before, one.after) if side is not None})
    since = iter_operations(vault, found.head, commit.id)  # those of merged branches too, however old
    others = (one for one in since if one.commit.id not in commits.own)
    if any(True for _one in iter_touching(vault, others, paths)):
        return False
    earlier = [one.after for one in records if one.after is not None]
    return all(_is_own(vault, record, commits, commit.parents[0]) for record in earlier)


@dataclass(frozen=True)
class _Commits:
    """The commits that receipts name: ``own`` are the actor's, ``proved`` all of them."""

    own: set[CommitId]
    proved: set[CommitId]


def _is_own(vault: OpenVault, record: Record, commits: _Commits, start: CommitId | None = None) -> bool:
    from gitmem.service.history import iter_touches

    touches = [touch.commit.id for touch in iter_touches(vault, record.id, record.path, start, commits.proved)]
    return bool(touches) and commits.own.issuperset(touches)


def _read_commits(vault: OpenVault, actor: Actor) -> _Commits:
    from gitmem.transaction.receipts import iter_receipts

    found = _Commits(set(), set())
    for receipt in iter_receipts(vault.layout):
        if receipt.commit is not None:
            found.proved.add(receipt.commit)
            if receipt.surface == Surface.MODEL.value and receipt.actor == actor.name:
                found.own.add(receipt.commit)
    return found
