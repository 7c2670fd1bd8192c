"""The commits that were made in a project's repository in a stretch of time. Bounded, and read only.

The project belongs to somebody else: nothing of it is changed, and what can't be read is said.
"""

from __future__ import annotations

import heapq

from gitmem.errors import GitmemError
from gitmem.git.discover import find_repository
from gitmem.git.history import Commit, read_commit
from gitmem.git.repo import Repo, open_repo
from gitmem.model.ids import CommitId
from gitmem.model.session import Made

MAX_READ = 1000
"""How many commits are read at most to tell what is between two."""
MAX_MADE = 50
"""How many of them are told."""
SLACK_S = 60
"""How much older than the beginning a commit may be: clocks differ, and times are whole seconds."""


def list_made(folder: str, first: str, last: str, since_s: int) -> Made:
    """Return the commits that ``last`` has and ``first`` has not, made since ``since_s``, oldest first.

    ``folder`` (absolute) lies in the project's repository; seconds are since 1970. Never raises for what is there: a
    repository that is damaged, foreign or gone, or a commit that is gone, makes ``unknown`` say why.
    """
    if not last or last == first:
        return Made()
    found = find_repository(folder)
    if found is None:
        return Made(unknown="its repository is not there")
    try:
        repo = open_repo(found[0])
        try:
            return _walk(repo, CommitId(first) if first else None, CommitId(last), since_s - SLACK_S)
        finally:
            repo.close()
    except (GitmemError, OSError) as error:
        reason = error.message if isinstance(error, GitmemError) else "its repository can't be read"
        return Made(unknown=reason)


def _walk(repo: Repo, first: CommitId | None, last: CommitId, since_s: int) -> Made:
    """Return what ``list_made`` does, newest commits first, until all that is left is known to ``first`` or older."""
    known = {first} if first else set()
    read: dict[CommitId, Commit] = {}
    waiting: list[tuple[int, CommitId]] = []

    def meet(commit_id: CommitId) -> None:
        if commit_id not in read:
            read[commit_id] = read_commit(repo, commit_id)
            heapq.heappush(waiting, (-read[commit_id].time, commit_id))

    for start in (last, first):
        if start:
            meet(start)
    found: list[Commit] = []
    while waiting and len(read) < MAX_READ:
        commit = read[heapq.heappop(waiting)[1]]
        if commit.time < since_s:
            break
        if commit.id in known:
            known.update(commit.parents)
        else:
            found.append(commit)
        for parent in commit.parents:
            meet(parent)
    made = [commit.id for commit in found if commit.id not in known]
    return Made(tuple(reversed(made[:MAX_MADE])), has_more=len(made) > MAX_MADE or len(read) >= MAX_READ)
