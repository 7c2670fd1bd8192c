"""One lock of the operating system on a file or a folder. The kernel releases it when its holder dies, however."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable

from gitmem.disk import NO_FOLLOW
from gitmem.values import dataclass

_CANNOT_LOCK_FOLDERS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EISDIR)


@dataclass(frozen=True)
class OsLock:
    """A lock that this process holds; threads of one process exclude each other like processes."""

    pid: int
    unlock: Callable[[], None]
    close: Callable[[], None]
    fd: int | None = None

    def write(self, data: bytes) -> None:
        """Let the locked file hold ``data``, as far as the platform lets a locked file be written."""
        if self.fd is not None and os.fstat(self.fd).st_nlink <= 1:  # under a second name it would be another file
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, 0)
                if data:
                    os.pwrite(self.fd, data, 0)

    def release(self) -> None:
        """Give the lock back. In a forked child it only closes its copy: the lock stays with the parent."""
        try:
            if os.getpid() == self.pid:
                self.unlock()
        finally:
            self.close()


def try_lock(path: str) -> OsLock | None:
    """Return the lock on the file ``path``, which is made when it is missing; ``None`` when somebody holds it.

    Never waits. A file that was removed or replaced while it was being locked counts as held: ask again. Raises
    ``OSError`` where it can't be made or opened.
    """
    if os.name == "nt":
        return _try_portable_lock(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o600)
    lock = _try_flock(fd)
    if lock is not None and not _is_still_at(fd, path):
        lock.release()
        return None
    return lock


def try_lock_folder(path: str) -> OsLock | None:
    """Return the lock on the folder ``path``, ``None`` when somebody holds it. Never waits.

    Where the platform can't lock folders (Windows, some network file systems), what is returned locks nothing.
    """
    nothing = OsLock(os.getpid(), lambda: None, lambda: None)
    if os.name == "nt":
        return nothing
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        return _try_flock(fd)
    except OSError as error:
        if error.errno not in _CANNOT_LOCK_FOLDERS:
            raise
        return nothing


def _try_flock(fd: int) -> OsLock | None:
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except BaseException:
        os.close(fd)
        raise
    return OsLock(os.getpid(), lambda: fcntl.flock(fd, fcntl.LOCK_UN), lambda: os.close(fd), fd)


def _is_still_at(fd: int, path: str) -> bool:
    mine = os.fstat(fd)
    with contextlib.suppress(FileNotFoundError):
        there = os.stat(path, follow_symlinks=False)
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)
    return False


def _try_portable_lock(path: str) -> OsLock | None:
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return OsLock(os.getpid(), lock.release, lambda: None)
