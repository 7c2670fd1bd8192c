"""libgit2's process-wide switches, and its failures as errors of gitmem."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from gitmem.errors import IntegrityError, UnavailableError


def failures() -> tuple[type[Exception], type[OSError], type[ValueError], type[KeyError]]:
    """Return what pygit2 raises; ask where something was raised, for it loads that.

    Its classes say little: the same fault comes as one or another, so the caller's deed decides.
    """
    import pygit2

    return (pygit2.GitError, OSError, ValueError, KeyError)


@functools.cache
def prepare_libgit2() -> None:
    """Set libgit2's switches, once in a process and before its first repository is opened.

    Flushing must be on before that: opened earlier, a repository flushes objects but neither branches nor their
    folders. What is read from a pack is checked against its id. A person's global configuration must not act on a
    vault, so it is not looked for.
    """
    import pygit2
    from pygit2.enums import ConfigLevel

    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.enable_strict_hash_verification(True)
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""


def library_version() -> str:
    """Return the version of libgit2 that is in use, as ``1.9.7``."""
    import pygit2

    return pygit2.LIBGIT2_VERSION


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn a failure to read ``what`` from the repository into ``IntegrityError`` (``object-unreadable``)."""
    try:
        yield
    except failures() as error:
        raise IntegrityError(
            "object-unreadable",
            f"{what} can't be read from the repository: {_say(error)}",
            "Run `git fsck` in the vault, and bring back the damaged object from a clone or a backup.",
        ) from error


@contextlib.contextmanager
def writing(what: str) -> Iterator[None]:
    """Turn a failure to write ``what`` to the repository into ``UnavailableError`` (``git-write-failed``)."""
    try:
        yield
    except failures() as error:
        raise UnavailableError(
            "git-write-failed",
            f"{what} can't be written to the repository: {_say(error)}",
            "Look at free space and permissions of the vault's .git folder, then try again.",
        ) from error


def _say(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).strip("'\"") or type(error).__name__
