"""Making a commit and publishing it: the commit's bytes, the branch moved by compare-and-swap, and the proof.

libgit2's own ``create_commit`` can return an id of a commit that it never wrote, and its branch locks look like
anybody's after a kill. So the commit goes through the object store, and the branch file is moved here, as Git does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence

from gitmem.disk import NO_FOLLOW, ensure_own_file, flush_file, replace_file
from gitmem.errors import IntegrityError, StateError, UnavailableError
from gitmem.git.commit import format_commit
from gitmem.git.head import read_head, read_ref
from gitmem.git.history import read_commit
from gitmem.git.kinds import ObjectType
from gitmem.git.library import failures, writing
from gitmem.git.lockfile import TEMP_PREFIX, LockFile, take_lock
from gitmem.git.objects import TreeId
from gitmem.git.repo import PathT, Repo, check_branch, open_repo
from gitmem.model.ids import CommitId, Fingerprint, new_token
from gitmem.text import make_visible, one_line

_NO_COMMIT = "0" * 40


def write_commit(
    repo: Repo,
    tree: TreeId,
    parents: Sequence[CommitId],
    author: tuple[str, str],
    time: tuple[int, int],
    message: str,
) -> CommitId:
    """Write a commit, flushed and read back; no branch moves.

    ``author`` is (name, email), used as committer too; what can't stand in a commit's header is left out. ``time`` is
    (seconds since 1970, minutes east of UTC). Raises ``UnavailableError`` (``git-write-failed``), ``IntegrityError``
    (``object-poisoned``).
    """
    data = format_commit(tree, parents, author, time, message)
    return CommitId(repo.objects.write(ObjectType.COMMIT, data))


def move_branch(repo: Repo, branch: str, old: CommitId | None, new: CommitId, note: str) -> None:
    """Move ``branch`` from ``old`` (``None``: it must not exist) to ``new``, flushed; ``note`` goes into the reflog.

    Atomic, whoever else moves it: either the branch stands at ``new`` or nothing happened. Raises ``StateError``
    (``branch-moved``) when the branch is elsewhere, ``UnavailableError`` (``branch-locked``, ``git-write-failed``),
    ``InputError`` (``bad-branch``), ``IntegrityError`` (``ref-unreadable``, ``object-unreadable``).
    """
    name = check_branch(branch)
    committer = read_commit(repo, new).committer
    with writing(f"the branch {branch}"):
        path = os.path.join(repo.common_dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = _lock_branch(repo, path, note)
        try:
            found = read_ref(repo.common_dir, name)
            if found != old:
                raise _moved(branch, old, found)
            _replace_ref(repo, path, new)
        finally:
            lock.release()
    line = f"{old or _NO_COMMIT} {new} {committer}\t{one_line(make_visible(note))}\n"
    _append_reflogs(repo, name, line.encode())


def flush_branch(repo: Repo, branch: str) -> None:
    """Flush where ``branch`` stands, for one that may have been moved without that; it does not move.

    Raises ``UnavailableError`` (``git-write-failed``).
    """
    path = os.path.join(repo.common_dir, check_branch(branch))
    with writing(f"the branch {branch}"), contextlib.suppress(FileNotFoundError):  # one that a person's Git packed
        flush_file(path)


def prove(
    root: str,
    branch: str,
    commit: CommitId,
    parent: CommitId | None,
    tree: TreeId,
    blobs: Mapping[PathT, Fingerprint | None],
) -> None:
    """Check on a freshly opened repository that ``commit`` is published as it should be; reads only.

    HEAD is on ``branch`` and at ``commit``, which has exactly that parent and tree; each path of ``blobs`` is there,
    reads back and hashes to its id (or, at ``None``, is not there). Raises ``IntegrityError``
    (``publish-not-proved``); what was written stays.
    """
    repo = open_repo(root)
    try:
        problem = _find_unproved(repo, branch, commit, parent, tree, blobs)
    except (IntegrityError, *failures()) as error:
        raise _not_proved(str(error)) from error
    finally:
        repo.close()
    if problem:
        raise _not_proved(problem)


def _find_unproved(
    repo: Repo,
    branch: str,
    commit: CommitId,
    parent: CommitId | None,
    tree: TreeId,
    blobs: Mapping[PathT, Fingerprint | None],
) -> str | None:
    handle = repo.handle
    if handle.head_is_detached or handle.head.shorthand != branch or str(handle.head.target) != commit:
        return f"HEAD is not at {commit} on {branch}"
    published = read_commit(repo, commit)
    if published.parents != ((parent,) if parent else ()):
        return "the commit has other parents"
    if published.tree != tree:
        return "the commit has another tree"
    for path, blob in blobs.items():
        entry = repo.objects.find_entry(tree, path)
        if (entry and entry[0]) != blob:
            return f"{path} is not what was written"
        if blob is not None:
            repo.read_object(blob)  # raises unless the bytes on disk are that blob
    return None


def _lock_branch(repo: Repo, path: str, note: str) -> LockFile:
    lock = take_lock(path + ".lock", note, repo.common_dir)
    if lock is None:
        raise UnavailableError(
            "branch-locked",
            "another program is moving the branch, or crashed while it did",
            f"Try again. If no Git command is running, look at {path}.lock.",
            path=path + ".lock",
        )
    return lock


def _replace_ref(repo: Repo, path: str, new: CommitId) -> None:
    if os.path.isdir(path):  # empty folders of branches that are gone; Git makes room the same way
        os.rmdir(path)
    replace_file(path, new.encode() + b"\n", 0o666, os.path.join(repo.common_dir, TEMP_PREFIX + new_token()))


def _append_reflogs(repo: Repo, name: str, line: bytes) -> None:
    head = read_head(repo.git_dir, repo.common_dir)
    logs = [os.path.join(repo.common_dir, "logs", name)]
    if head.branch is not None and name == f"refs/heads/{head.branch}":
        logs.append(os.path.join(repo.git_dir, "logs", "HEAD"))
    # The branch has moved: a log that can't be written must not make a failure of that.
    with contextlib.suppress(OSError):
        for path in logs:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            ensure_own_file(path)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_FOLLOW, 0o666)
            with open(handle, "wb") as file:
                file.write(line)


def _moved(branch: str, old: CommitId | None, found: CommitId | None) -> StateError:
    return StateError(
        "branch-moved",
        f"{branch} is at {found or 'no commit'}, not at {old or 'no commit'}: someone else committed",
        "Try again; the operation then builds on what is there.",
        expected=old,
        found=found,
    )


def _not_proved(why: str) -> IntegrityError:
    return IntegrityError(
        "publish-not-proved",
        f"the commit could not be proved after publishing: {why}",
        "Write nothing more; check the disk and run `git fsck` in the vault.",
    )
