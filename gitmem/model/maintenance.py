"""What a round of maintenance did to how a vault is stored; what the vault says never changes by it."""

from __future__ import annotations

from gitmem.values import dataclass


@dataclass(frozen=True)
class Storage:
    """How much lies in the object store: loose objects, packs, and the bytes of both."""

    loose: int = 0
    packs: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Maintenance:
    """What was done, or with ``dry_run`` what there is to do.

    ``packed`` and ``merged`` count objects and packs. ``graph`` is how many commits Git's commit graph holds,
    ``graph_new`` how many of them are new in it. ``litter`` counts files of gitmem's own that crashes had left.
    ``left_alone`` says what was not touched and why, one line each.
    """

    before: Storage
    after: Storage
    packed: int = 0
    merged: int = 0
    graph: int = 0
    graph_new: int = 0
    shards_before: int = 1
    shards_after: int = 1
    litter: int = 0
    left_alone: tuple[str, ...] = ()
    dry_run: bool = False
