"""Where repositories lie, found by plain reads: no libgit2, no configuration, nothing executed."""

from __future__ import annotations

import os

from gitmem.disk import READ_FLAGS

_MAX_POINTER_BYTES = 8192


def find_repository(folder: str) -> tuple[str, str] | None:
    """Return ``(root of the work tree, git directory)`` of the repository that ``folder`` lies in, ``None`` if in none.

    Walks up from ``folder`` (absolute) as Git does: an empty ``.git`` is passed over, a broken pointer ends the search.
    """
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            git_dir = find_git_dir(folder)
            if git_dir is not None and _is_git_dir(git_dir):
                return folder, git_dir
            if not os.path.isdir(os.path.join(folder, ".git")):
                return None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def find_git_dir(root: str) -> str | None:
    """Return the git directory of the work tree ``root``: ``.git`` itself or what the file of that name points to.

    ``None`` when there is neither. Whether it is a sound repository is another question.
    """
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    pointer = read_pointer(dot_git)
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(root, pointer.removeprefix("gitdir:").strip()))


def find_common_dir(git_dir: str) -> str:
    """Return the directory that holds branches and objects: ``git_dir``, or the main one of a linked work tree."""
    pointer = read_pointer(os.path.join(git_dir, "commondir"))
    return git_dir if pointer is None else os.path.normpath(os.path.join(git_dir, pointer))


def main_worktree(root: str) -> str:
    """Return the root of the main work tree of the repository checked out at ``root``.

    That is ``root`` unless it is a linked work tree. A linked work tree of a bare repository has no main one; then the
    repository's own directory is returned, which names the project as well.
    """
    git_dir = find_git_dir(root)
    if git_dir is None:
        return root
    common_dir = find_common_dir(git_dir)
    if is_same_place(common_dir, git_dir):
        return root
    return os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else common_dir


def is_same_place(one: str, other: str) -> bool:
    """Tell whether two paths lead to one place, whatever links are on the way."""
    return os.path.realpath(one) == os.path.realpath(other)


def read_pointer(path: str) -> str | None:
    """Return the one line of a small pointer file, ``None`` when ``path`` is no regular file of that kind."""
    try:
        handle = os.open(path, READ_FLAGS)
    except OSError:
        return None
    try:
        data = os.read(handle, _MAX_POINTER_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    if not data or len(data) > _MAX_POINTER_BYTES or b"\0" in data:
        return None
    return os.fsdecode(data).rstrip("\r\n")


def _is_git_dir(git_dir: str) -> bool:
    common_dir = find_common_dir(git_dir)
    return os.path.lexists(os.path.join(git_dir, "HEAD")) and os.path.isdir(os.path.join(common_dir, "objects"))
