"""The terminal at which a person reads and answers. What reads single keys is ``keys``."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from dataclasses import dataclass
from typing import TextIO

from gitmem.hosts.cli.call import Call

INTERRUPT_WAIT_S = 0.2
"""How long a wait for keys lasts before it looks whether it was interrupted."""


@dataclass(frozen=True)
class Terminal:
    """Where a person reads (``screen``) and the descriptor on which they answer (``keys``)."""

    screen: TextIO
    keys: int

    def show(self, text: str, *, ends: str = "\n") -> None:
        """Write ``text``, which is fit to be shown, and what ends it; at once."""
        self.screen.write(f"{text}{ends}")
        self.screen.flush()


def find_terminal(call: Call) -> Terminal | None:
    """Return the terminal that standard input and an output stream are; ``None`` where one of them is none.

    With ``--json`` standard output is one document and nothing else, terminal or not.
    """
    screen = find_screen(call)
    return Terminal(screen, sys.stdin.fileno()) if screen is not None and sys.stdin.isatty() else None


def find_screen(call: Call) -> TextIO | None:
    """Return the stream on which a person reads what they are asked, ``None`` where there is no terminal."""
    screens = [sys.stderr] if call.as_json else [sys.stderr, sys.stdout]
    return next((stream for stream in screens if stream.isatty()), None)


def discard_typed(keys: int) -> None:
    """Drop what was typed or pasted and not yet read: it was typed before what it would answer was on the screen."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(termios.error):
        termios.tcflush(keys, termios.TCIFLUSH)


def read_line(keys: int, max_bytes: int) -> bytes:
    """Return the next line of a terminal that hands out whole lines, its line end with it; empty at the end of input.

    A longer one comes in parts. An interrupt is heard at once.
    """
    # An interrupt that comes just before a blocking read is not seen until a key is pressed; so this never blocks long.
    with contextlib.suppress(OSError):  # where a terminal can't be waited for (Windows), reading it has to do
        while not select.select([keys], [], [], INTERRUPT_WAIT_S)[0]:
            pass
    return os.read(keys, max_bytes)
