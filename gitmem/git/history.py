"""Reading history: commits newest first, and the commit of an operation."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator

from gitmem.git.commit import Commit, parse_commit
from gitmem.git.head import read_ref
from gitmem.git.kinds import ObjectType
from gitmem.git.library import reading
from gitmem.git.message import OP_ID, parse_message
from gitmem.git.repo import Repo
from gitmem.model.ids import CommitId
from gitmem.patterns import late

__all__ = ["Commit", "find_named", "find_op", "iter_commits", "list_tips", "read_commit"]
_FURTHER_COMMITS = 16
_WHOLE_ID = late(r"[0-9a-f]{40}", re.ASCII)
_REF_NAME = late(r"[^\x00-\x20\x7f~^:?*\[\\/.-][^\x00-\x20\x7f~^:?*\[\\]*(?<![/.])")
_TIPS = ("refs/heads/", "refs/remotes/", "refs/stash")
_MAX_TAGS = 10
"""How many tags of tags are followed."""


def read_commit(repo: Repo, commit: CommitId) -> Commit:
    """Return one commit. Raises ``IntegrityError`` (``object-unreadable``) when it is damaged or not there."""
    data = repo.objects.read(commit, ObjectType.COMMIT)
    with reading(f"the commit {commit}"):
        return parse_commit(commit, data)


def iter_commits(repo: Repo, start: CommitId, stop: CommitId | None = None) -> Iterator[Commit]:
    """Yield ``start`` and its ancestors, newest first, without ``stop`` and its ancestors.

    Reads as it goes; with ``stop``, all of what it yields at the first step. Raises ``IntegrityError``
    (``object-unreadable``).
    """
    return _walk(repo, start) if stop is None else iter(_commits_between(repo, start, stop))


def find_op(repo: Repo, start: CommitId, op_id: str, stop: CommitId | None = None) -> Commit | None:
    """Return the newest commit from ``start`` back to ``stop`` (exclusive) that carries the operation id, or ``None``.

    Only a commit's own trailers count, not its text. Raises ``IntegrityError`` (``object-unreadable``).
    """
    for commit in iter_commits(repo, start, stop):
        if op_id in commit.message and (OP_ID, op_id) in parse_message(commit.message).trailers:
            return commit
    return None


def find_named(repo: Repo, name: str) -> CommitId | None:
    """Return the commit that ``HEAD``, a branch, a tag, a whole ref or a whole id names, or ``None``.

    Where one name is several of these, a tag wins, then a branch, as in Git. Raises ``IntegrityError``
    (``object-unreadable``, ``ref-unreadable``).
    """
    if name in ("HEAD", "@"):
        return repo.head().commit
    if _WHOLE_ID.fullmatch(name):
        return _peel(repo, CommitId(name)) if repo.objects.exists(name) else None
    if not _REF_NAME.fullmatch(name) or any(part in name for part in ("..", "//", "/.", "@{", ".lock")):
        return None
    places = (
        (name,) if name.startswith("refs/") else ("refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name)
    )
    for place in places:
        found = read_ref(repo.common_dir, place)
        if found is not None:
            return _peel(repo, found)
    return None


def _peel(repo: Repo, object_id: CommitId) -> CommitId | None:
    """Return the commit that the object is or, as a tag, stands for; ``None`` for a file or folder."""
    for _ in range(_MAX_TAGS):
        kind, data = repo.objects.read_any(object_id)
        if kind == ObjectType.COMMIT:
            return object_id
        if kind != ObjectType.TAG:
            return None
        object_id = CommitId(data[len("object ") : len("object ") + 40].decode("ascii", "replace"))
    return None


def list_tips(repo: Repo, max_tips: int) -> list[CommitId]:
    """Return the commits that branches, those of remotes too, and the newest stash are at; at most ``max_tips``.

    Raises ``IntegrityError`` (``object-unreadable``, ``ref-unreadable``).
    """
    with reading("the names of the branches"):
        names = [name for name in repo.handle.references if name.startswith(_TIPS)]
    tips = (read_ref(repo.common_dir, name) for name in names[:max_tips])
    return list(dict.fromkeys(tip for tip in tips if tip is not None))


def _walk(repo: Repo, start: CommitId) -> Iterator[Commit]:
    seen = {start}
    waiting = [_ranked(read_commit(repo, start), 0)]
    while waiting:
        commit = heapq.heappop(waiting)[-1]
        yield commit
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                heapq.heappush(waiting, _ranked(read_commit(repo, parent), len(seen)))


def _commits_between(repo: Repo, start: CommitId, stop: CommitId) -> list[Commit]:
    """Return ``start`` and its ancestors without ``stop`` and its ancestors, reading little beyond them.

    What lies behind ``stop`` is followed until it is older than all that was found, and, as in Git, somewhat further:
    where a clock went back, a commit can be older than its parent.
    """
    hidden = {stop}
    found: dict[CommitId, Commit] = {}
    read = {commit: read_commit(repo, commit) for commit in (start, stop)}
    waiting = [_ranked(commit, number) for number, commit in enumerate(read.values())]
    heapq.heapify(waiting)
    oldest, further = read[start].time, _FURTHER_COMMITS
    while waiting and further:
        commit = heapq.heappop(waiting)[-1]
        if commit.id not in hidden:
            found[commit.id] = commit
            oldest = min(oldest, commit.time)
        elif commit.time < oldest and all(one[-1].id in hidden for one in waiting):
            further -= 1
        for parent in commit.parents:
            newly_hidden = commit.id in hidden and parent not in hidden
            if newly_hidden:
                hidden.add(parent)
            if newly_hidden or parent not in read:
                read[parent] = read.get(parent) or read_commit(repo, parent)
                heapq.heappush(waiting, _ranked(read[parent], len(read) + len(hidden)))
    return [commit for commit in found.values() if commit.id not in hidden]


def _ranked(commit: Commit, number: int) -> tuple[int, int, Commit]:
    return -commit.time, number, commit
