"""A person's staging area: locked with Git's own lock, read, and changed for exactly the paths of one commit.

The area is prepared as a private file beside it and renamed into place after the commit. It is a derived thing: one
that is missing or damaged is made again from HEAD, and nothing in it decides what is committed.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping

from gitmem.disk import NO_FOLLOW, READ_FLAGS, open_regular, replace_file, write_new
from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.git.index_file import (
    NO_STAT,
    VERSIONS,
    FileStat,
    IndexFile,
    NewEntry,
    StagedEntry,
    find_version,
    load_index,
    new_index,
)
from gitmem.git.library import writing
from gitmem.git.lockfile import (
    MARK,
    LockFile,
    find_age_s,
    is_own,
    iter_branch_locks,
    read_lock,
    remove_leftovers,
    remove_own,
    take_lock,
)
from gitmem.git.objects import REGULAR
from gitmem.git.repo import NOT_A_FILE, PathT, Repo
from gitmem.model.ids import CommitId, Fingerprint, fingerprint
from gitmem.patterns import late
from gitmem.text import make_visible
from gitmem.typed import Self
from gitmem.values import dataclass

UNMERGED = Fingerprint("unmerged")
INTENT_TO_ADD = Fingerprint("intent-to-add")
"""What ``staged_ids`` says, beside ``NOT_A_FILE``, of entries that equal no blob of a commit."""
DAMAGED = "damaged-index"
"""What a damaged staging area is kept as, in the Git directory, when it is made again."""
_NAME = late(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_32_BITS = 0xFFFFFFFF


@dataclass(frozen=True)
class IndexLock:
    """Git's ``index.lock``, held. While it is, no Git command changes the staging area."""

    lock: LockFile

    def release(self) -> None:
        """Remove the lock file if it is still this one. May be called again."""
        self.lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def lock_index(repo: Repo, holder: str, now_ns: int | None = None) -> IndexLock:
    """Take Git's own index lock, without waiting; ``holder`` is one line that says who, for people who find it.

    Raises ``UnavailableError``: ``index-locked`` with the fields ``path``, ``age_s`` (``None`` unless ``now_ns``, the
    time since 1970, is given) and ``foreign`` (not made by gitmem), or ``git-write-failed``. Nothing is left then.
    """
    path = _lock_path(repo)
    with writing("the lock of the staging area"):
        lock = take_lock(path, holder, repo.git_dir)
    if lock is None:
        raise _locked(path, now_ns)
    return IndexLock(lock)


def read_index_lock(repo: Repo, now_ns: int | None = None) -> str | None:
    """Return one line on who holds the index lock, ``None`` when nobody does; reads only.

    It says since when if ``now_ns``, the time since 1970, is given.
    """
    path = _lock_path(repo)
    return _describe_lock(path, now_ns) if os.path.lexists(path) else None


def remove_own_stale_lock(repo: Repo) -> bool:
    """Remove the locks that a gitmem crash left on the staging area and on branches; tell whether there were any.

    Only under the vault lock: then none of them can have a living holder. A person's lock is never touched. Temporary
    files of locks go too. Raises ``UnavailableError`` (``git-write-failed``).
    """
    with writing("the repository's locks"):
        for folder in {repo.git_dir, repo.common_dir}:
            remove_leftovers(folder)
        removed = remove_own(_lock_path(repo))
    return remove_own_branch_locks(repo) or removed


def remove_own_branch_locks(repo: Repo) -> bool:
    """Remove the locks that gitmem left on branches, and no person's; tell whether there were any.

    Only under the vault lock. Raises ``UnavailableError`` (``git-write-failed``).
    """
    with writing("the repository's locks"):
        return bool([path for path in iter_branch_locks(repo.common_dir) if remove_own(path)])


def staged_ids(repo: Repo, paths: Iterable[str]) -> dict[str, Fingerprint | None]:
    """Return the blob id that each path has in the person's staging area, ``None`` where it is not there.

    ``UNMERGED``, ``INTENT_TO_ADD`` and ``NOT_A_FILE`` (a link, another repository) stand for entries that are no
    committable file; they equal no blob id. A staging area that has to be made again counts as HEAD. Raises
    ``StateError`` (``index-unsupported``), ``IntegrityError`` (``object-unreadable``).
    """
    index = load_index(repo.index_path)
    if index is None:
        return repo.find_blobs(repo.head().commit, paths)
    return {path: _staged_id(index.find(path)) for path in paths}


def find_staged_modes(repo: Repo, base: CommitId, paths: Iterable[str]) -> list[str]:
    """Return those of ``paths`` whose executable bit is staged otherwise than ``base`` has it, in their order.

    Raises what ``staged_ids`` raises.
    """
    index = load_index(repo.index_path)
    if index is None:
        return []
    committed = repo.blob_ids(base, paths)
    modes = {
        path: (entry[1], found[0].mode) for path, entry in committed.items() if entry and (found := index.find(path))
    }
    return [
        path for path, (old, new) in modes.items() if stat.S_ISREG(old) and stat.S_ISREG(new) and (old ^ new) & 0o111
    ]


def prepare_index(repo: Repo, base: CommitId | None, edits: Mapping[PathT, Fingerprint | None], name: str) -> str:
    """Write the private file ``index.op-<name>``: the person's staging area with only ``edits`` changed.

    Returns its path. A path's blob id replaces its entry, ``None`` removes it. Where the work tree's file holds that
    very blob the entry gets the file's times, so that Git sees it as clean at once; anything else it will look at.
    Starts from the tree of ``base`` when the area has to be made again. Flushed; the person's area is untouched. Call
    it with the index lock held. Raises ``StateError`` (``index-unsupported``, ``index-clash``), ``UnavailableError``
    (``git-write-failed``).
    """
    index = load_index(repo.index_path)
    if index is None:
        _keep_damaged(repo)
        index = _index_of(repo, base)
    data = index.edit(
        {
            path: None if blob is None else NewEntry(REGULAR, blob, _stat_of(repo, path, blob))
            for path, blob in edits.items()
        }
    )
    path = _private_path(repo, name)
    with writing("the staging area"):
        with contextlib.suppress(FileNotFoundError):  # what a crash left under this name
            os.unlink(path)
        write_new(path, data, 0o666)
        with contextlib.suppress(FileNotFoundError):  # a shared repository's index may be writable for a group
            os.chmod(path, os.stat(repo.index_path).st_mode & 0o777)
    return path


def install_index(repo: Repo, private: str) -> None:
    """Rename a prepared staging area into place. The index lock must be held by gitmem, and stays held.

    Raises ``StateError`` (``index-lock-lost``) with the person's area untouched, ``UnavailableError``
    (``git-write-failed``).
    """
    if not is_own(_lock_path(repo)):
        raise StateError(
            "index-lock-lost",
            "Git's index lock is no longer gitmem's",
            "Something removed it. Look at `git status` in the vault; the next command completes the operation.",
        )
    with writing("the staging area"):
        version = find_version(repo.index_path)
        if version is not None and version not in VERSIONS:
            # Git can't read it either, but a Git to come might, and find what a person staged in it.
            os.replace(repo.index_path, f"{repo.index_path}.version-{version}")
        os.replace(private, repo.index_path)


def discard_private_index(repo: Repo, name: str) -> None:
    """Remove the private file of ``prepare_index`` if it is still there. Idempotent."""
    with writing("the staging area"), contextlib.suppress(FileNotFoundError):
        os.unlink(_private_path(repo, name))


def _staged_id(entries: list[StagedEntry]) -> Fingerprint | None:
    if not entries:
        return None
    entry = entries[0]
    if entry.stage:
        return UNMERGED
    if entry.intent_to_add:
        return INTENT_TO_ADD
    return Fingerprint(entry.blob) if stat.S_ISREG(entry.mode) else NOT_A_FILE


def _keep_damaged(repo: Repo) -> None:
    """Copy a damaged staging area to ``damaged-index``: ids of what was staged may still be told from it."""
    with writing("the damaged staging area"), contextlib.suppress(FileNotFoundError):
        with open_regular(repo.index_path) as file:
            data = file.read()
        if data:
            replace_file(os.path.join(repo.git_dir, DAMAGED), data, 0o644)


def _index_of(repo: Repo, base: CommitId | None) -> IndexFile:
    if base is None:
        return new_index(())
    tree = repo.objects.tree_of_commit(base)
    return new_index((path, NewEntry(mode, blob)) for path, mode, blob in repo.objects.iter_tree(tree))


def _stat_of(repo: Repo, path: str, blob: Fingerprint) -> FileStat:
    """Return the file's stat if its bytes are ``blob``. Taken unseen, it would hide an edit made just now from Git."""
    full = os.path.join(repo.root, path)
    try:
        handle = os.open(full, READ_FLAGS | NO_FOLLOW)
        with open(handle, "rb") as file:
            before = os.fstat(handle)
            sound = stat.S_ISREG(before.st_mode) and fingerprint(file.read()) == blob
        after = os.lstat(full)
    except OSError:
        return NO_STAT
    if not sound or _file_stat(before) != _file_stat(after):
        return NO_STAT
    return _file_stat(after)


def _file_stat(found: os.stat_result) -> FileStat:
    return FileStat(
        ctime=(found.st_ctime_ns // 10**9 & _32_BITS, found.st_ctime_ns % 10**9),
        mtime=(found.st_mtime_ns // 10**9 & _32_BITS, found.st_mtime_ns % 10**9),
        dev=found.st_dev & _32_BITS,
        ino=found.st_ino & _32_BITS,
        uid=found.st_uid & _32_BITS,
        gid=found.st_gid & _32_BITS,
        size=found.st_size & _32_BITS,
    )


def _lock_path(repo: Repo) -> str:
    return repo.index_path + ".lock"


def _private_path(repo: Repo, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError("bad-index-name", f"{name!r} can't name a staging area", "Use letters, digits, - and _.")
    return f"{repo.index_path}.op-{name}"  # never Git's own index.lock


def _locked(path: str, now_ns: int | None) -> UnavailableError:
    return UnavailableError(
        "index-locked",
        _describe_lock(path, now_ns),
        "Finish the Git command or close the commit editor that is open in this vault, then try again. If none is, "
        f"an earlier one crashed and left {path}.",
        path=path,
        age_s=None if now_ns is None else find_age_s(path, now_ns),
        foreign=not is_own(path),
    )


def _describe_lock(path: str, now_ns: int | None) -> str:
    content = read_lock(path) or b""
    holder = content[len(MARK) :].decode(errors="replace").strip() if content.startswith(MARK) else "a Git command"
    age_s = None if now_ns is None else find_age_s(path, now_ns)
    since = "" if age_s is None else f" since {age_s:.0f} s"
    return f"the staging area is locked by {make_visible(holder)}{since}"
