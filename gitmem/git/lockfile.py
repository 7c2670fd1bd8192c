"""Git's lock files (``index.lock``, ``refs/heads/main.lock``), taken so that one left by a crash is known as ours.

Git's own are empty or hold what is to come. Ours appear in one step with our name inside, so that there is no moment
at which a kill leaves one that nobody can tell from a person's.
"""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass

from gitmem.model.ids import new_token
from gitmem.text import make_visible, one_line

MARK = b"gitmem "
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""Open a file without waiting for a pipe's other end or following a link, as far as the platform can."""
TEMP_PREFIX = "gitmem-lock-"


@dataclass(frozen=True)
class LockFile:
    """A lock file that this process holds. ``content`` is unique, so that only this very lock is ever released."""

    path: str
    content: bytes

    def release(self) -> None:
        """Remove the lock file if it is still this one. May be called again."""
        if read_lock(self.path) == self.content:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)


def take_lock(path: str, holder: str, temp_folder: str) -> LockFile:
    """Create the lock file ``path`` atomically, holding ``holder``; ``temp_folder`` lies on the same file system.

    Raises ``FileExistsError`` when somebody holds it, and what the disk raises; nothing is left then.
    """
    if os.path.lexists(path):  # waiting for a lock should not cost a flushed file each time
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    token = new_token()
    content = MARK + one_line(make_visible(holder)).encode() + b" " + token.encode() + b"\n"
    temp = os.path.join(temp_folder, TEMP_PREFIX + token)
    try:
        _write_new(temp, content)
        try:
            os.link(temp, path)
        except FileExistsError:
            raise
        except OSError:  # no hard links here: a kill between the two calls in _write_new can leave an empty lock
            _write_new(path, content)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp)
    return LockFile(path, content)


def read_lock(path: str) -> bytes | None:
    """Return the first bytes of a lock file, ``None`` when there is none."""
    try:
        handle = os.open(path, READ_FLAGS)
    except OSError:
        return None
    try:
        return os.read(handle, 4096)
    finally:
        os.close(handle)


def is_own(path: str) -> bool:
    """Tell whether the lock file at ``path`` was made by gitmem, in this process or another."""
    return (read_lock(path) or b"").startswith(MARK)


def remove_own(path: str) -> bool:
    """Remove the lock file at ``path`` if gitmem made it; tell whether it did.

    Only for a caller that holds the vault lock: then no other gitmem process can be its living holder.
    """
    if not is_own(path):
        return False
    os.unlink(path)
    return True


def remove_leftovers(temp_folder: str) -> None:
    """Remove what kills in ``take_lock`` left in ``temp_folder``. Under the vault lock only."""
    for name in os.listdir(temp_folder):
        if name.startswith(TEMP_PREFIX):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(temp_folder, name))


def find_age_s(path: str, temp_folder: str) -> float | None:
    """Return how many seconds ago ``path`` was written, by the file system's own clock; ``None`` if that can't be told.

    No clock is asked: a file that is made for the purpose in ``temp_folder`` tells the time.
    """
    temp = os.path.join(temp_folder, TEMP_PREFIX + new_token())
    try:
        with open(temp, "xb") as file:
            now_s = os.fstat(file.fileno()).st_mtime
        os.unlink(temp)
        return max(0.0, now_s - os.lstat(path).st_mtime)
    except OSError:
        return None


def _write_new(path: str, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
