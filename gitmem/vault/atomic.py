"""Durable file operations: replace, append, exchange. POSIX in full; elsewhere the nearest thing that loses nothing.

Durable means that the file's bytes, and then its folder's entry, were flushed before the function returns.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import sys
from typing import Any

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_MACOS_RENAME_SWAP = 2
_MACOS_RENAME_EXCL = 4
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


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


def write_new(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file that must not exist yet and flush its bytes, not its folder. Raises ``FileExistsError``."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags, mode)
    try:
        _write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write ``path`` so that it holds either its old bytes or ``data``, whatever happens; durable."""
    temp = f"{path}.{os.getpid()}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temp)
    try:
        write_new(temp, data, mode)
        os.replace(temp, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise
    flush_folder(os.path.dirname(path))


def append_line(path: str, line: bytes, mode: int = 0o600) -> None:
    """Append ``line`` and a line feed in one write, and flush. A torn last line of an earlier crash is ended first."""
    is_new = not os.path.exists(path)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), mode)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n" if hasattr(os, "pread") else False
        _write_all(fd, (b"\n" if torn else b"") + line + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    if is_new:
        flush_folder(os.path.dirname(path))


def exchange(a: str, b: str) -> bool:
    """Exchange two files in one step that nobody can see the middle of.

    Returns false where the platform or the file system can't (nothing was changed). Other failures raise ``OSError``.
    """
    return _rename(a, b, _RENAME_EXCHANGE, _MACOS_RENAME_SWAP)


def move_no_replace(source: str, target: str) -> None:
    """Rename ``source`` to ``target``, which must not exist. Raises ``FileExistsError``, and then nothing changed."""
    if _rename(source, target, _RENAME_NOREPLACE, _MACOS_RENAME_EXCL):
        return
    if os.name == "nt":
        os.rename(source, target)  # refuses an existing target on this platform
        return
    os.link(source, target, follow_symlinks=False)
    os.unlink(source)


def _rename(a: str, b: str, linux_flag: int, macos_flag: int) -> bool:
    call = _rename_call()
    if call is None:
        return False
    names = (os.fsencode(a), os.fsencode(b))
    if sys.platform == "darwin":
        failed = call(*names, macos_flag)
    else:
        failed = call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], linux_flag)
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), a, None, b)


@functools.cache
def _rename_call() -> Any:
    if os.name == "nt":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    return getattr(library, "renamex_np" if sys.platform == "darwin" else "renameat2", None)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
