"""Files on disk: written so that they last, read and listed so that nothing odd in their place hangs or stops it.

Durable means that the file's bytes, and then its folder's entry, were flushed before the function returns.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator

from gitmem.typed import BinaryIO

MAX_FILE_BYTES = 256 << 20
"""No file that gitmem or Git keeps for itself is near this size; one that claims more is not read."""
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Don't open a link at the end of a path, as far as the platform can tell."""
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Open a file for reading without waiting for the other end where a pipe took its place."""


class NotAFileError(OSError):
    """What lies there is a pipe, a folder or a device where a regular file was to be read."""


def ensure_folder(path: str, mode: int = 0o700) -> None:
    """Make ``path`` and its parents, each with ``mode``, where they are missing; flush each new entry."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        ensure_folder(parent, mode)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode)
        flush_folder(parent)


def flush_folder(path: str) -> None:
    """Flush the entries of a folder to disk. Does nothing where folders can't be opened (Windows)."""
    if os.name == "nt":
        return
    fd = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def flush_file(path: str) -> None:
    """Flush a file that is there, and its folder's entry, to disk."""
    fd = os.open(path, (os.O_RDWR if os.name == "nt" else os.O_RDONLY) | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    flush_folder(os.path.dirname(path))


def iter_files(
    root: str,
    skips: Callable[[str], bool] = lambda _name: False,
    on_error: Callable[[str, OSError], None] = lambda _inside, _error: None,
) -> Iterator[str]:
    """Yield the path from ``root`` (``/`` between names) of all below it that is no folder; links are not followed.

    A folder's own come before those of its folders, both by name. Folders whose name ``skips`` names are left out; one
    that can't be read is told to ``on_error`` by its path, empty for ``root``. Any depth is fine.
    """
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        within = f"{inside}/" if inside else ""
        folders: list[str] = []
        others: list[str] = []
        try:
            with os.scandir(os.path.join(root, inside)) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else others).append(entry.name)
        except OSError as error:
            on_error(inside, error)
            continue
        yield from (within + name for name in sorted(others))
        waiting += (within + name for name in sorted(folders, reverse=True) if not skips(name))


def open_regular(path: str, max_bytes: int = MAX_FILE_BYTES) -> BinaryIO:
    """Open a regular file for reading, without waiting where a pipe took its place.

    Raises ``NotAFileError`` for one, ``OSError`` for a file larger than ``max_bytes`` (it may be all hole and fill the
    memory) and what the system raises.
    """
    fd = os.open(path, READ_FLAGS)
    info = os.fstat(fd)
    if stat.S_ISREG(info.st_mode) and info.st_size <= max_bytes:
        return os.fdopen(fd, "rb")
    os.close(fd)
    if stat.S_ISREG(info.st_mode):
        raise OSError(errno.EFBIG, f"larger than {max_bytes >> 20} MiB", path)
    raise NotAFileError(errno.EINVAL, "not a regular file", path)


def is_being_written(path: str) -> bool | None:
    """Tell whether any program has the file open for writing, or mapped so; ``None`` where the platform can't tell.

    Linux grants a read lease only on a file that nobody has open for writing. It is given back at once. Raises
    ``OSError`` for a file that can't be opened.
    """
    try:
        import fcntl
        import signal

        commands = (fcntl.F_SETSIG, fcntl.F_SETLEASE)
    except (ImportError, AttributeError):
        return None
    fd = os.open(path, READ_FLAGS | NO_FOLLOW)
    try:
        # Whoever opens the file in this moment makes the kernel send a signal: one that does nothing by itself.
        fcntl.fcntl(fd, commands[0], signal.SIGURG)
        fcntl.fcntl(fd, commands[1], fcntl.F_RDLCK)
        fcntl.fcntl(fd, commands[1], fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:  # another account's file, or a file system that knows no leases
        return None
    finally:
        os.close(fd)
    return False


def read_regular(path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return the bytes of a regular file. Raises what ``open_regular`` raises."""
    with open_regular(path, max_bytes) as file:
        return file.read()


def write_new(path: str, data: bytes, mode: int = 0o600, dir_fd: int | None = None) -> None:
    """Write a file that must not exist yet and flush its bytes, not its folder. Raises ``FileExistsError``.

    ``path`` is relative to the open folder ``dir_fd`` where one is given.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags, mode, dir_fd=dir_fd)
    try:
        _write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str, data: bytes, mode: int = 0o600, temp: str | None = None) -> None:
    """Write ``path`` so that it holds either its old bytes or ``data``, whatever happens; durable.

    ``temp`` is a name on the same file system under which the bytes are written first; a kill can leave it behind.
    """
    temp = temp or f"{path}.{os.getpid()}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temp)
    try:
        write_new(temp, data, mode)
        os.replace(temp, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise
    flush_folder(os.path.dirname(path))


def ensure_own_file(path: str) -> None:
    """Part a regular file from its other names (hard links), so that what is appended to it does not show in them.

    Does nothing where it has none, or is not there. Durable.
    """
    with contextlib.suppress(FileNotFoundError):
        info = os.lstat(path)
        if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            replace_file(path, read_regular(path), stat.S_IMODE(info.st_mode))


def append_line(path: str, line: bytes, mode: int = 0o600) -> None:
    """Append ``line`` and a line feed in one write, and flush. A torn last line of an earlier crash is ended first."""
    is_new = not os.path.exists(path)
    ensure_own_file(path)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW | getattr(os, "O_BINARY", 0), mode)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        size = info.st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n" if hasattr(os, "pread") else False
        _write_all(fd, (b"\n" if torn else b"") + line + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    if is_new:
        flush_folder(os.path.dirname(path))


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
