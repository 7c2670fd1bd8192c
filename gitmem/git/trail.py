"""Following one path back through history: from commit to commit that may have changed it.

Git's commit graph says which commits can't have; where there is none, it is stale or damaged, each commit is looked at,
and the answer is the same.
"""

from __future__ import annotations

from gitmem.disk import open_regular
from gitmem.git.commit import Commit
from gitmem.git.history import read_commit
from gitmem.git.names import encode_name
from gitmem.git.packed_graph import PackedGraph, graph_path
from gitmem.git.repo import Repo
from gitmem.model.ids import CommitId
from gitmem.typed import NamedTuple


class Step(NamedTuple):
    """A commit on the way. ``time`` is in seconds since 1970; ``commit`` is all of it, where it had to be read."""

    id: CommitId
    parents: tuple[CommitId, ...]
    tree: str
    time: int
    commit: Commit | None = None


class Trail:
    """The way back through one repository's history. Knows where it was; make a new one for another question."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._graph = _load_graph(repo)
        self._passed = bytearray(len(self._graph) if self._graph else 0)
        self._read: dict[CommitId, int] = {}

    def go_on(self, commit: CommitId, path: str, mark: int) -> Step | None:
        """Return the first commit from ``commit`` back that may have changed ``path``, or is a merge.

        ``commit`` itself, where it may have. ``None`` where there is none, and where a commit comes that was passed
        with this ``mark`` (from 1 on) or a higher one. Raises ``IntegrityError`` (``object-unreadable``).
        """
        at = None if self._graph is None else self._graph.find(commit)
        if self._graph is not None and at is not None:
            try:
                found = self._graph.skip(at, encode_name(path), self._passed, mark)
                return None if found is None else _make_step(self._graph, found)
            except IndexError:  # it leads out of itself: history is as well told without it
                self._graph = None
        if self._read.get(commit, 0) >= mark:
            return None
        self._read[commit] = mark
        read = read_commit(self._repo, commit)
        return Step(commit, read.parents, read.tree, read.time, read)


def _load_graph(repo: Repo) -> PackedGraph | None:
    try:
        with open_regular(graph_path(repo)) as file:
            return PackedGraph(file.read())
    except (OSError, ValueError):
        return None


def _make_step(graph: PackedGraph, at: int) -> Step:
    parents = tuple(CommitId(graph.commit_at(parent)) for parent in graph.parents_at(at))
    return Step(CommitId(graph.commit_at(at)), parents, graph.tree_at(at), graph.time_at(at))
