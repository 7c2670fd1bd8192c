"""Reading history: commits newest first, the commit of an operation, the commits that touched something."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pygit2
from pygit2.enums import SortMode

from gitmem.git.library import reading
from gitmem.git.message import OP_ID, RECORD, parse_message
from gitmem.git.objects import TreeId, find_entry, tree_of_commit
from gitmem.git.repo import Repo
from gitmem.model.ids import CommitId


@dataclass(frozen=True)
class Commit:
    """One commit. ``time`` is when it was committed, in seconds since 1970; ``offset_minutes`` is east of UTC.

    Text that is not UTF-8 comes with replacement characters.
    """

    id: CommitId
    parents: tuple[CommitId, ...]
    tree: TreeId
    author: str
    email: str
    time: int
    offset_minutes: int
    message: str


def read_commit(repo: Repo, commit: CommitId) -> Commit:
    """Return one commit. Raises ``IntegrityError`` (``object-unreadable``) when it is damaged or not there."""
    with reading(f"the commit {commit}"):
        return _to_commit(repo.handle[commit].peel(pygit2.Commit))


def iter_commits(repo: Repo, start: CommitId, stop: CommitId | None = None) -> Iterator[Commit]:
    """Yield ``start`` and its ancestors, newest first, without ``stop`` and its ancestors; reads as it goes.

    Raises ``IntegrityError`` (``object-unreadable``).
    """
    for found in _walk(repo, start, stop):
        yield _to_commit(found)


def find_op(repo: Repo, start: CommitId, op_id: str, stop: CommitId | None = None) -> Commit | None:
    """Return the newest commit from ``start`` back to ``stop`` (exclusive) that carries the operation id, or ``None``.

    Only a commit's own trailers count, not its text. Raises ``IntegrityError`` (``object-unreadable``).
    """
    wanted = op_id.encode()
    for found in _walk(repo, start, stop):
        if wanted in found.raw_message and (OP_ID, op_id) in _trailers(found):
            return _to_commit(found)
    return None


def iter_touching(
    repo: Repo,
    start: CommitId,
    record_ids: Collection[str] = (),
    paths: Collection[str] = (),
    stop: CommitId | None = None,
) -> Iterator[Commit]:
    """Yield the commits, newest first, that name one of ``record_ids`` in a trailer or change one of ``paths``.

    A merge changes a path when the path differs from every parent. Trailers cost little; each path costs a look into
    the trees of every commit. Raises ``IntegrityError`` (``object-unreadable``).
    """
    wanted = {(RECORD, record_id) for record_id in record_ids}
    needle = RECORD.encode()
    for found in _walk(repo, start, stop):
        named = bool(wanted) and needle in found.raw_message and not wanted.isdisjoint(_trailers(found))
        if named or any(_changes(repo, found, path) for path in paths):
            yield _to_commit(found)


def _walk(repo: Repo, start: CommitId, stop: CommitId | None) -> Iterator[pygit2.Commit]:
    with reading("the history"):
        walker = repo.handle.walk(start, SortMode.NONE)
        if stop is not None:
            walker.hide(stop)
    while True:
        with reading("the history"):
            found = next(walker, None)
        if found is None:
            return
        yield found


def _changes(repo: Repo, commit: pygit2.Commit, path: str) -> bool:
    now = find_entry(repo.handle, str(commit.tree_id), path)
    before = [find_entry(repo.handle, tree_of_commit(repo.handle, str(one)), path) for one in commit.parent_ids]
    return all(entry != now for entry in before) if before else now is not None


def _trailers(commit: pygit2.Commit) -> tuple[tuple[str, str], ...]:
    return parse_message(commit.raw_message.decode("utf-8", "replace")).trailers


def _to_commit(found: pygit2.Commit) -> Commit:
    author = found.author
    return Commit(
        id=CommitId(str(found.id)),
        parents=tuple(CommitId(str(parent)) for parent in found.parent_ids),
        tree=TreeId(str(found.tree_id)),
        author=author.raw_name.decode("utf-8", "replace"),
        email=author.raw_email.decode("utf-8", "replace"),
        time=found.commit_time,
        offset_minutes=found.commit_time_offset,
        message=found.raw_message.decode("utf-8", "replace"),
    )
