"""What hosts told and was not kept, counted: a file in runtime with one letter for each. Bounded.

Letters are appended, so that processes never wait for each other and a crash loses none; what was there is never read.
"""

from __future__ import annotations

import os

from gitmem.disk import NO_FOLLOW, ensure_folder, read_regular
from gitmem.model.event import Odd
from gitmem.vault.layout import VaultLayout

MAX_TALLY_BYTES = 1 << 20
"""Beyond so many nothing more is counted."""


_LETTERS = {
    Odd.UNKNOWN: b"u",
    Odd.UNREADABLE: b"i",
    Odd.TOO_LARGE: b"l",
    Odd.FAILED: b"f",
    Odd.SESSION_DROPPED: b"s",
    Odd.EVENT_DROPPED: b"e",
}


def add_to_tally(layout: VaultLayout, what: Odd, count: int = 1) -> None:
    """Count ``what``. Not flushed. Raises ``OSError``."""
    ensure_folder(layout.runtime)
    fd = os.open(layout.events_tally, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_FOLLOW, 0o600)
    try:
        room = max(0, MAX_TALLY_BYTES - os.fstat(fd).st_size)
        os.write(fd, _LETTERS[what] * min(count, room))
    finally:
        os.close(fd)


def read_tally(layout: VaultLayout) -> dict[Odd, int]:
    """Return how often each was counted; nothing where nothing was, or where it can't be read."""
    try:
        data = read_regular(layout.events_tally, 2 * MAX_TALLY_BYTES)
    except OSError:
        data = b""
    return {what: data.count(letter) for what, letter in _LETTERS.items()}
