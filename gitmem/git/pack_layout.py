"""The order of a pack, and which object is to be a delta of which: what history says, no search.

A version of a path is tried against the one that came after it. The newest version is whole, so the present is read
without deltas.
"""

from __future__ import annotations

import functools
import heapq
from collections import Counter
from collections.abc import Sequence

from gitmem.errors import GitmemError
from gitmem.git.bloom import make_filter
from gitmem.git.commit import Commit, parse_commit
from gitmem.git.kinds import ObjectType
from gitmem.git.objects import RawTree, parse_tree
from gitmem.git.repo import Repo
from gitmem.git.tree_changes import ReadTree, TreeChange, iter_tree_changes
from gitmem.model.ids import CommitId
from gitmem.values import dataclass, field

MAX_CHAIN = 50
MIN_DELTA_BYTES = 256
_REMEMBERED_TREES = 64
_KIND_ORDER = (ObjectType.COMMIT, ObjectType.TAG, ObjectType.TREE, ObjectType.BLOB)
Object = tuple[ObjectType, bytes]


@dataclass
class Layout:
    """The order of a new pack: each object after the one that it is a delta of."""

    order: list[str] = field(default_factory=list)
    base: dict[str, str] = field(default_factory=dict)
    depth: dict[str, int] = field(default_factory=dict)

    def place(self, object_id: str, base: str | None = None) -> None:
        """Put an object at the end, as a delta of ``base``, which was placed before; one placed before stays there."""
        if object_id in self.depth:
            return
        self.depth[object_id] = self.depth[base] + 1 if base else 0
        if base:
            self.base[object_id] = base
        self.order.append(object_id)


def plan_layout(repo: Repo, chunk: dict[str, Object], filters: dict[bytes, bytes]) -> Layout:
    """Return the order in which to write ``chunk``: what history names, newest first, then the rest by kind and size.

    Puts the filters of its commits into ``filters``.
    """
    layout = Layout()
    commits = []
    for object_id, (kind, data) in chunk.items():
        if kind == ObjectType.COMMIT:
            layout.place(object_id)
            commits.append(_parse(object_id, data))

    @functools.lru_cache(_REMEMBERED_TREES)
    def read_tree(tree: str) -> RawTree:
        return parse_tree(tree, chunk[tree][1]) if tree in chunk else repo.objects.read_tree(tree)

    for commit in order_newest_first([one for one in commits if one]):
        changes = _find_changes(repo, commit, chunk, read_tree)
        for change in changes or ():
            _place_change(layout, change, chunk)
        if changes is not None:
            filters[bytes.fromhex(commit.id)] = make_filter({change.path for change in changes if change.path})
    for object_id in sorted(chunk, key=lambda one: (_KIND_ORDER.index(chunk[one][0]), -len(chunk[one][1]))):
        layout.place(object_id)
    return layout


def order_newest_first(commits: Sequence[Commit]) -> list[Commit]:
    """Return ``commits`` with each before its parents, whatever the clock said, else the newer first."""
    known = {commit.id: commit for commit in commits}
    children = Counter(parent for commit in commits for parent in commit.parents)
    waiting = [(-commit.time, commit.id) for commit in commits if not children[commit.id]]
    heapq.heapify(waiting)
    ordered = []
    while waiting:
        commit = known[heapq.heappop(waiting)[1]]
        ordered.append(commit)
        for parent in commit.parents:
            children[parent] -= 1
            if not children[parent] and parent in known:
                heapq.heappush(waiting, (-known[parent].time, parent))
    return ordered


def _place_change(layout: Layout, change: TreeChange, chunk: dict[str, Object]) -> None:
    old, new = change.old, change.new
    if new is None or new not in chunk:
        return
    layout.place(new)
    if old is None or old not in chunk or len(chunk[old][1]) < MIN_DELTA_BYTES or chunk[old][0] != chunk[new][0]:
        return
    layout.place(old, new if layout.depth[new] < MAX_CHAIN else None)


def _find_changes(repo: Repo, commit: Commit, chunk: dict[str, Object], read_tree: ReadTree) -> list[TreeChange] | None:
    """Return what a commit changed, ``None`` if that can't be read, which only costs room."""
    try:
        parent = None
        if commit.parents:
            known = chunk.get(commit.parents[0])
            parsed = _parse(commit.parents[0], known[1]) if known else None
            parent = parsed.tree if parsed else repo.objects.tree_of_commit(commit.parents[0])
        return list(iter_tree_changes(read_tree, parent, commit.tree))
    except (GitmemError, KeyError):
        return None


def _parse(object_id: str, data: bytes) -> Commit | None:
    try:
        return parse_commit(CommitId(object_id), data)
    except ValueError:
        return None
