"""The vault lock: one writer a vault, waiters served nearly in order, never broken by age.

Two OS locks make a turnstile: a waiter holds the turnstile while it waits for the lock proper, so at most one waiter
polls the lock and a crowd can't starve it (performance facts, section 6). The kernel releases both when the holder
dies. The lock file's content names the holder for messages only.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from gitmem.errors import UnavailableError
from gitmem.vault.atomic import ensure_folder
from gitmem.vault.layout import VaultLayout

POLL_S = 0.001
DEFAULT_WAIT_S = 10.0


@contextlib.contextmanager
def hold_lock(layout: VaultLayout, what: str, timeout_s: float = DEFAULT_WAIT_S) -> Iterator[None]:
    """Hold the vault's lock inside the ``with`` block.

    Raises ``UnavailableError`` (``vault-busy``) that names the holder when the lock isn't had within ``timeout_s``
    seconds; nothing was changed then.
    """
    from filelock import FileLock, Timeout

    ensure_folder(layout.runtime)
    turnstile = FileLock(layout.turnstile_file, mode=0o600, poll_interval=POLL_S)
    lock = FileLock(layout.lock_file, mode=0o600, poll_interval=POLL_S)
    try:
        with turnstile.acquire(timeout=timeout_s):
            lock.acquire(timeout=timeout_s)
    except Timeout:
        raise UnavailableError(
            "vault-busy",
            f"another operation holds the vault: {describe_holder(layout)}",
            "Wait for it to end and try again. If that process hangs, end it; the lock goes with it.",
        ) from None
    try:
        _write_holder(layout.lock_file, what)
        yield
    finally:
        lock.release()


def describe_holder(layout: VaultLayout) -> str:
    """Return who holds (or last held) the lock, in words; for messages only."""
    try:
        with open(layout.lock_file, encoding="utf-8") as file:
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
