"""Renames of which nobody can see the middle: exchange, and move without replacing.

POSIX in full; elsewhere the nearest thing that loses nothing. What writes a single file durably is ``gitmem.disk``.
"""

from __future__ import annotations

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
