"""A folder below a vault's root, opened so that no symbolic link on the way to it or in it is followed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from types import TracebackType

from gitmem.disk import NO_FOLLOW, READ_FLAGS, ensure_folder
from gitmem.typed import Self

_BY_FD = os.listdir in os.supports_fd and {os.open, os.stat} <= os.supports_dir_fd
_MODE = 0o755
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class Folder:
    """A folder below the root, held open where the platform can, so that no part of its path can be exchanged.

    Use it as a context manager or ``close`` it. ``lstat(name, dir_fd=fd)`` looks at a file in it; ``fd`` is ``None``
    where the platform knows no such thing.
    """

    def __init__(self, root: str, folder: str, *, make: bool = False) -> None:
        """Open ``folder`` (``/`` between parts, empty for the root); ``make`` makes what is missing of it, durable.

        Raises ``OSError``: ``ELOOP`` or ``ENOTDIR`` for a link.
        """
        self._path = os.path.join(root, *folder.split("/"))
        self.fd: int | None = None
        if _BY_FD:
            self.fd = _open_folder(root, folder, make=make)
        else:
            _check_folder(root, folder)
            if make:
                ensure_folder(self._path, _MODE)
        self.lstat: Callable[..., os.stat_result] = os.lstat if _BY_FD else self._lstat_by_path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def names(self) -> list[str]:
        """Return the names of all that lies in the folder, in order."""
        return sorted(os.listdir(self._path if self.fd is None else self.fd))

    def stat(self) -> os.stat_result:
        """Return the metadata of the folder itself."""
        return os.stat(self._path if self.fd is None else self.fd)

    def open(self, name: str) -> int:
        """Return a descriptor to read the file ``name`` with. Raises ``OSError``, ``ELOOP`` for a link."""
        if self.fd is None:
            path = os.path.join(self._path, name)
            _refuse_link(path)
            return os.open(path, READ_FLAGS | NO_FOLLOW)
        return os.open(name, READ_FLAGS | NO_FOLLOW, dir_fd=self.fd)

    def close(self) -> None:
        """Let go of the folder; it can't be used afterwards. May be called again."""
        fd, self.fd = self.fd, None
        if fd is not None:
            os.close(fd)

    def _lstat_by_path(self, name: str, *, dir_fd: None) -> os.stat_result:
        return by_write_time(os.lstat(os.path.join(self._path, name), dir_fd=dir_fd))


def by_write_time(entry: os.stat_result) -> os.stat_result:
    """Return ``entry`` with the time of the last write as change time on Windows, where that is the creation time.

    On POSIX the change time covers every edit, and no tool can set it back.
    """
    return os.stat_result(entry, {"st_ctime_ns": entry.st_mtime_ns}) if os.name == "nt" else entry


def _open_folder(root: str, folder: str, *, make: bool) -> int:
    fd = os.open(root, _FOLDER_FLAGS)
    for part in folder.split("/") if folder else []:
        try:
            inner = _open_inner(part, fd, make=make)
        finally:
            os.close(fd)
        fd = inner
    return fd


def _open_inner(part: str, fd: int, *, make: bool) -> int:
    try:
        return os.open(part, _FOLDER_FLAGS | NO_FOLLOW, dir_fd=fd)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, _MODE, dir_fd=fd)
        os.fsync(fd)
    return os.open(part, _FOLDER_FLAGS | NO_FOLLOW, dir_fd=fd)


def _check_folder(root: str, folder: str) -> None:
    """Refuse links on the way to ``folder``, where the platform can't hold it open: better than following them."""
    path = root
    for part in folder.split("/") if folder else []:
        path = os.path.join(path, part)
        _refuse_link(path)


def _refuse_link(path: str) -> None:
    if os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
