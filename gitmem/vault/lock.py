"""The vault lock: one writer a repository, waiters served nearly in order, never broken by age.

It lies in Git's common directory, so that every worktree and every home that knows the vault shares it.

Two OS locks make a turnstile: a waiter holds the turnstile while it waits for the lock proper, so at most one waiter
polls the lock and a crowd can't starve it (performance facts, section 6). The kernel releases both when the holder
dies. The lock file's content names the holder for messages only.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from gitmem.clock import Clock, SystemClock
from gitmem.disk import ensure_folder
from gitmem.errors import UnavailableError, disk_refused

FOLDER = "gitmem"
"""What gitmem keeps inside the repository's own directory: the lock, and files that wait for late writes."""
POLL_S = 0.001
DEFAULT_WAIT_S = 10.0
_SYSTEM_CLOCK = SystemClock()


@contextlib.contextmanager
def hold_lock(
    common_dir: str, what: str, timeout_s: float = DEFAULT_WAIT_S, clock: Clock = _SYSTEM_CLOCK
) -> Iterator[None]:
    """Hold the lock of the repository whose common directory is ``common_dir`` inside the ``with`` block.

    Raises ``UnavailableError`` (``vault-busy``) that names the holder when the lock isn't had within ``timeout_s``
    seconds, or (``disk``) when its files can't be opened; nothing was changed then.
    """
    from filelock import FileLock, Timeout

    folder = os.path.join(common_dir, FOLDER)
    lock_file = os.path.join(folder, "lock")
    turnstile = FileLock(os.path.join(folder, "turnstile"), mode=0o600, poll_interval=POLL_S)
    lock = FileLock(lock_file, mode=0o600, poll_interval=POLL_S)
    deadline_s = clock.monotonic_s() + timeout_s
    try:
        ensure_folder(folder)
        with turnstile.acquire(timeout=timeout_s):
            lock.acquire(timeout=max(0.0, deadline_s - clock.monotonic_s()))
    except Timeout:
        raise UnavailableError(
            "vault-busy",
            f"another operation holds the vault: {_describe_holder(lock_file)}",
            "Wait for it to end and try again. If that process hangs, end it; the lock goes with it.",
        ) from None
    except OSError as error:
        raise disk_refused(error, "Nothing was done.") from error
    try:
        _write_holder(lock_file, what)
        yield
    finally:
        lock.release()


def _describe_holder(lock_file: str) -> str:
    try:
        with open(lock_file, encoding="utf-8") as file:
            holder = json.loads(file.read().strip() or "{}")
        return f"process {holder['pid']} ({holder['what']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown process"


def _write_holder(lock_file: str, what: str) -> None:
    data = json.dumps({"pid": os.getpid(), "what": what}).encode()
    with contextlib.suppress(OSError):
        fd = os.open(lock_file, os.O_WRONLY)
        try:
            os.ftruncate(fd, 0)
            os.write(fd, data)
        finally:
            os.close(fd)
