"""Renames of which nobody can see the middle: exchange, and move without replacing.

POSIX in full; elsewhere the nearest thing that loses nothing. What writes a single file durably is ``gitmem.disk``.
"""

from __future__ import annotations

import errno
import functools
import os
import sys

from gitmem.typed import Any

_HERE = -2 if sys.platform == "darwin" else -100
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_MACOS_RENAME_SWAP = 2
_MACOS_RENAME_EXCL = 4
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(a: str, b: str, dir_fd: int | None = None) -> bool:
    """Exchange two files in one step that nobody can see the middle of.

    Both are relative to the open folder ``dir_fd`` where one is given. Returns false where the platform or the file
    system can't (nothing was changed). Other failures raise ``OSError``.
    """
    return _rename(a, b, _RENAME_EXCHANGE, _MACOS_RENAME_SWAP, dir_fd)


def move_no_replace(source: str, target: str, dir_fd: int | None = None) -> None:
    """Rename ``source`` to ``target``, which must not exist. Raises ``FileExistsError``, and then nothing changed.

    Both are relative to the open folder ``dir_fd`` where one is given.
    """
    if _rename(source, target, _RENAME_NOREPLACE, _MACOS_RENAME_EXCL, dir_fd):
        return
    if os.name == "nt":
        os.rename(source, target)  # refuses an existing target on this platform
        return
    os.link(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    os.unlink(source, dir_fd=dir_fd)


def move_aside(source: str, hidden: str, dir_fd: int | None = None) -> None:
    """Rename ``source``, which others may replace at any moment, to a name that only the caller uses.

    Takes whatever file is there at that moment, and no other. Both are relative to the open folder ``dir_fd`` where one
    is given. Raises ``FileExistsError``, and then nothing changed.
    """
    if _rename(source, hidden, _RENAME_NOREPLACE, _MACOS_RENAME_EXCL, dir_fd):
        return
    try:
        os.stat(hidden, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, hidden, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), hidden)


def _rename(a: str, b: str, linux_flag: int, macos_flag: int, dir_fd: int | None) -> bool:
    call = _rename_call()
    if call is None:
        return False
    folder = _HERE if dir_fd is None else dir_fd
    flag = macos_flag if sys.platform == "darwin" else linux_flag
    if not call(folder, os.fsencode(a), folder, os.fsencode(b), flag):
        return True
    import ctypes

    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), a, None, b)


@functools.cache
def _rename_call() -> Any:
    if os.name == "nt":
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    return getattr(library, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
