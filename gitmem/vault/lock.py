"""The vault lock: one writer a repository, waiters served in order, never broken by age.

It lies in Git's common directory, so that every worktree and every home that knows the vault shares it. It is two
locks of the operating system: one on a file, which names the holder for messages, and one on the directory itself,
which nobody can delete while the vault is in use. Both go with the process that holds them.

Waiters stand in a queue of a few places, each a lock too. One moves up when the place before it is free, so that they
are served in order and only the first of them looks at the lock often. A crowd larger than the queue waits for its last
place. The queue is only for fairness: one who has stood in it for half the time asks for the lock directly, because
somebody in front may be stopped.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterator

from gitmem.clock import Clock, SystemClock, format_utc
from gitmem.disk import open_regular
from gitmem.errors import UnavailableError, disk_refused
from gitmem.values import dataclass
from gitmem.vault.layout import FOLDER_IN_GIT
from gitmem.vault.os_lock import OsLock, try_lock, try_lock_folder

FOLDER = FOLDER_IN_GIT
"""What gitmem keeps inside the repository's own directory: the lock, and files that wait for late writes."""
QUEUE_PLACES = 8
POLL_S = 0.001
"""How often the first in the queue looks; those behind look less often, by their place."""
_MAX_HOLDER_BYTES = 4096
DEFAULT_WAIT_S = 10.0
_SYSTEM_CLOCK = SystemClock()
_BOOT_ID = "/proc/sys/kernel/random/boot_id"


@contextlib.contextmanager
def hold_lock(
    common_dir: str, what: str, timeout_s: float = DEFAULT_WAIT_S, clock: Clock = _SYSTEM_CLOCK
) -> Iterator[None]:
    """Hold the lock of the repository whose common directory is ``common_dir`` inside the ``with`` block.

    Raises ``UnavailableError`` (``vault-busy``) that names the holder when the lock isn't had within ``timeout_s``
    seconds, or (``disk``) when its files can't be opened; nothing was changed then.
    """
    lock_file = os.path.join(common_dir, FOLDER, "lock")
    with contextlib.ExitStack() as held:
        try:
            lock = _Waiter(common_dir, timeout_s, clock).acquire(held, lock_file)
        except OSError as error:
            raise disk_refused(error, "Nothing was done.") from error
        lock.write(_format_holder(what, clock))
        held.callback(lock.write, b"")
        yield


@dataclass
class _Waiter:
    common_dir: str
    timeout_s: float
    clock: Clock

    def acquire(self, held: contextlib.ExitStack, lock_file: str) -> OsLock:
        """Put the two locks into ``held`` and return that on the file.

        Raises ``UnavailableError`` (``vault-busy``) with nothing held.
        """
        begin_s = self.clock.monotonic_s()
        end_s = begin_s + self.timeout_s
        place = self._queue(begin_s + self.timeout_s / 2) if self.timeout_s > 0 else None
        try:
            lock = self._poll(lambda: self._try(lock_file), POLL_S, end_s)
            if lock is None:
                raise _busy(lock_file)
            held.callback(lock.release)
            # Held by one whose lock file was deleted under it: that file's lock no longer keeps anybody out.
            guard = self._poll(lambda: try_lock_folder(self.common_dir), POLL_S, end_s)
            if guard is None:
                raise _busy(lock_file)
            held.callback(guard.release)
            return lock
        finally:
            if place is not None:
                place.release()

    def _queue(self, end_s: float) -> OsLock | None:
        """Move to the head of the queue and return that place; ``None`` when it took too long."""
        place: OsLock | None = None
        for number in reversed(range(QUEUE_PLACES)):
            file = os.path.join(self.common_dir, FOLDER, "queue", str(number))
            ahead = self._poll(lambda name=file: self._try(name), POLL_S * (number + 2), end_s)  # type: ignore[misc]
            if place is not None:
                place.release()
            if ahead is None:
                return None
            place = ahead
        return place

    def _poll(self, attempt: Callable[[], OsLock | None], every_s: float, end_s: float) -> OsLock | None:
        while (lock := attempt()) is None:
            left_s = end_s - self.clock.monotonic_s()
            if left_s <= 0:
                return None
            self.clock.sleep_s(min(every_s, left_s))
        return lock

    def _try(self, file: str) -> OsLock | None:
        try:
            return try_lock(file)
        except FileNotFoundError:  # never made yet, or somebody deleted the folder just now
            folder = os.path.join(self.common_dir, FOLDER)
            for one in (folder, os.path.join(folder, "queue")):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(one, 0o700)
            return try_lock(file)


def _busy(lock_file: str) -> UnavailableError:
    return UnavailableError(
        "vault-busy",
        f"another operation holds the vault: {_describe_holder(lock_file)}",
        "Wait for it to end and try again. If that process hangs, end it; the lock goes with it.",
    )


def _describe_holder(lock_file: str) -> str:
    try:
        with open_regular(lock_file) as file:
            holder = json.loads(file.read(_MAX_HOLDER_BYTES))
        pid, told = int(holder["pid"]), f"process {holder['pid']} ({holder['what']}, since {holder['since']})"
        is_of_this_boot = holder["boot"] == _read_boot_id()
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown process"
    if not is_of_this_boot:
        return "an unknown process"
    return told if _is_alive(pid) else f"{told}, of which only a child is left, or which runs in another container"


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end it there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@functools.cache
def _read_boot_id() -> str:
    with contextlib.suppress(OSError), open(_BOOT_ID, encoding="ascii") as file:
        return file.read().strip()
    return ""


def _format_holder(what: str, clock: Clock) -> bytes:
    holder = {"pid": os.getpid(), "what": what, "since": format_utc(clock.now()), "boot": _read_boot_id()}
    return json.dumps(holder).encode()
