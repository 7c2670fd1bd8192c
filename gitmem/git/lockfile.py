"""Git's lock files (``index.lock``, ``refs/heads/main.lock``), taken so that one left by a crash is known as ours.

Git's own are empty or hold what is to come. Ours appear in one step with our name inside, so that there is no moment
at which a kill leaves one that nobody can tell from a person's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gitmem.disk import NO_FOLLOW, READ_FLAGS, write_new
from gitmem.model.ids import new_token
from gitmem.text import make_visible, one_line
from gitmem.values import dataclass

MARK = b"gitmem "
TEMP_PREFIX = "gitmem-lock-"
_MODE = 0o666  # less the umask, as Git makes its own


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


def take_lock(path: str, holder: str, temp_folder: str) -> LockFile | None:
    """Create the lock file ``path`` atomically, holding ``holder``; ``temp_folder`` lies on the same file system.

    Returns ``None`` when somebody holds it. Raises what the disk raises; nothing is left then.
    """
    if os.path.lexists(path):  # waiting for a lock should not cost a flushed file each time
        return None
    token = new_token()
    content = MARK + one_line(make_visible(holder)).encode() + b" " + token.encode() + b"\n"
    lock = LockFile(path, content)
    temp = os.path.join(temp_folder, TEMP_PREFIX + token)
    try:
        write_new(temp, content, _MODE)
        try:
            os.link(temp, path)
        except FileExistsError:
            raise
        except OSError:  # no hard links here: a kill between making and writing it can leave an empty lock
            write_new(path, content, _MODE)
    except FileExistsError:
        return None
    except BaseException:  # an interrupt may come when the lock is there already
        with contextlib.suppress(OSError):
            lock.release()
        raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temp)
    return lock


def read_lock(path: str) -> bytes | None:
    """Return the first bytes of a lock file, ``None`` when there is none."""
    try:
        handle = os.open(path, READ_FLAGS | NO_FOLLOW)
    except OSError:
        return None
    try:
        return os.read(handle, 4096)
    except OSError:  # a folder, or a pipe that somebody holds open
        return b""
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


def iter_branch_locks(common_dir: str) -> Iterator[str]:
    """Yield the path of every branch's lock file, anybody's."""
    for folder, _folders, files in os.walk(os.path.join(common_dir, "refs", "heads")):
        yield from (os.path.join(folder, name) for name in files if name.endswith(".lock"))


def has_leftovers(git_dir: str, common_dir: str) -> bool:
    """Tell whether locks of gitmem's, or temporary files of them, are there: left by a crash, or of one at work."""
    for folder in {git_dir, common_dir}:
        if any(name.startswith(TEMP_PREFIX) for name in os.listdir(folder)):
            return True
    return is_own(os.path.join(git_dir, "index.lock")) or any(map(is_own, iter_branch_locks(common_dir)))


def find_age_s(path: str, now_ns: int) -> float | None:
    """Return how many seconds before ``now_ns`` (since 1970) the file at ``path`` was written, at least 0.

    ``None`` when there is none.
    """
    try:
        return max(0.0, (now_ns - os.lstat(path).st_mtime_ns) / 10**9)
    except OSError:
        return None
