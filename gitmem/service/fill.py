"""An empty folder becomes a vault: what was made beside it is moved in, so that a kill at any moment can be mended.

The repository comes first, and in one step. From then on it holds the first commit, and so every file that is still
missing: the next ``init`` writes those.
"""

from __future__ import annotations

import contextlib
import errno
import os

from gitmem.disk import ensure_folder, flush_folder, write_new
from gitmem.errors import GitmemError, StateError
from gitmem.model.authority import Action
from gitmem.model.ids import new_op_id, new_token
from gitmem.vault.atomic import move_no_replace
from gitmem.vault.layout import LIFECYCLE_FOLDERS, MANIFEST
from gitmem.vault.lock import hold_lock

_REPOSITORY = ".git"
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)


def put_in(root: str, place: str) -> None:
    """Make ``root``, which is absent or an empty folder, what the folder ``place`` beside it is.

    An empty folder is filled and not replaced, which would take it from under a shell. Raises ``StateError``
    (``folder-not-empty``) for what came into it meanwhile, which stays; ``OSError``. ``place`` is then whole again, as
    far as the disk lets it.
    """
    try:
        if os.path.isdir(root):
            # Another init waits for this one to end. Windows can't move a folder in which a file is open.
            with hold_lock(os.path.join(place, _REPOSITORY), "init") if os.name != "nt" else contextlib.nullcontext():
                _fill(root, place)
        else:
            os.rename(place, root)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        raise StateError(
            "folder-not-empty",
            "another program put something into the folder meanwhile",
            "Name a new or empty folder.",
        ) from error


def complete(root: str) -> None:
    """Write the files of the first commit that an ``init`` in ``root``, killed at it, did not come to put there.

    What lies there already stays as it is; the marker comes last. Does nothing where that ``init`` is at work still and
    comes to its end. Raises what opening and writing raise; may be called again.
    """
    from gitmem.git.repo import open_repo
    from gitmem.git.stage import install_index, lock_index, prepare_index, remove_own_stale_lock

    repo = open_repo(root)
    try:
        with hold_lock(repo.common_dir, "init"):
            remove_own_stale_lock(repo)
            head = repo.head().commit
            assert head is not None
            files = dict(repo.iter_files(head))
            for path in sorted(files, key=lambda path: path == MANIFEST):
                _add(repo.common_dir, os.path.join(root, path), repo.read_object(files[path]))
            for folder in LIFECYCLE_FOLDERS:
                ensure_folder(os.path.join(root, folder), 0o755)
            with lock_index(repo, "init"):
                install_index(repo, prepare_index(repo, head, files, new_op_id()))
    finally:
        repo.close()


def is_begun(root: str) -> bool:
    """Tell whether ``root`` holds the repository of an ``init`` that was killed before its marker was there."""
    from gitmem.git.history import read_commit
    from gitmem.git.message import parse_message
    from gitmem.git.repo import open_repo

    if not os.path.isdir(os.path.join(root, _REPOSITORY)) or os.path.lexists(os.path.join(root, MANIFEST)):
        return False
    try:
        repo = open_repo(root)
        try:
            head = repo.head().commit
            if head is None or repo.read_blob(head, MANIFEST) is None:
                return False
            first = read_commit(repo, head)
            return not first.parents and ("Gitmem-Op", Action.INIT.value) in parse_message(first.message).trailers
        finally:
            repo.close()
    except GitmemError:
        return False


def _fill(root: str, place: str) -> None:
    names = sorted(os.listdir(place), key=lambda name: (name != _REPOSITORY, name == MANIFEST))
    try:
        for name in names:
            _move(place, root, name)
    except BaseException:
        for name in reversed(names):
            if not os.path.lexists(os.path.join(place, name)):
                _move(root, place, name)
        raise
    os.rmdir(place)
    flush_folder(root)


def _move(source: str, target: str, name: str) -> None:
    before, after = os.path.join(source, name), os.path.join(target, name)
    (os.rename if os.path.isdir(before) else move_no_replace)(before, after)


def _add(temp_folder: str, path: str, data: bytes) -> None:
    from gitmem.git.lockfile import TEMP_PREFIX

    if os.path.lexists(path):
        return
    ensure_folder(os.path.dirname(path), 0o755)
    temp = os.path.join(temp_folder, TEMP_PREFIX + new_token())
    write_new(temp, data, 0o644)
    with contextlib.suppress(FileExistsError):
        move_no_replace(temp, path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temp)
    flush_folder(os.path.dirname(path))
