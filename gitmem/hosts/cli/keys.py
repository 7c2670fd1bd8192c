"""Single keys of a terminal, without Enter: only what a person typed in answer to what was on the screen.

What was typed ahead or pasted decides nothing. Where the platform has no such terminals, a line's first letter counts.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self

from gitmem.hosts.cli.terminal import INTERRUPT_WAIT_S, Terminal, discard_typed, read_line

QUIET_S = 0.05
"""Keys are asked for once nothing has been typed for so long; what came before was no answer to this screen."""
TOGETHER_S = 0.02
"""Keys that come within this time of each other were not typed one by one: a paste, or the code of an arrow key."""
MAX_BYTES = 4096
REDRAW = "\0redraw"
"""Not a key: the terminal has another size, or the program was stopped and goes on."""
NOT_ONE_KEY = "\0many"
"""Not a key: several came at once, or one that is no letter. Nothing is meant by it."""


END_OF_TRANSMISSION = b"\x04"
"""Ctrl-D, by which a person says that no more comes."""


class EndOfKeysError(Exception):
    """Nothing more can come from the terminal."""


class Keys:
    """The keys of ``terminal``, one at a time while the ``with`` block runs; the terminal is left as it was found.

    That holds for an interrupt, a stop (Ctrl-Z) and the signals that end a program, too.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._modes: list[Any] | None = None
        self._before: dict[int, Any] = {}
        self._was_stopped = False
        self._size = self._find_size()

    def __enter__(self) -> Self:
        self._take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._give_back()

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal, 0 where it does not tell."""
        return self._find_size()

    def read(self, prompt: str) -> str:
        """Show ``prompt`` and return the next key as a character, or ``REDRAW`` or ``NOT_ONE_KEY``.

        The prompt is shown once nothing has been typed for a moment; only what is typed behind it counts. Raises
        ``EndOfKeysError``.
        """
        if self._modes is None:
            self.terminal.show(prompt, ends="")
            line = read_line(self.terminal.keys, MAX_BYTES)
            if not line:
                raise EndOfKeysError
            return self._decode(line).strip()[:1] or NOT_ONE_KEY
        self._await_quiet()
        self.terminal.show(prompt, ends="")
        while not self._comes(INTERRUPT_WAIT_S):
            if self._was_stopped or self._find_size() != self._size:
                self._was_stopped, self._size = False, self._find_size()
                return REDRAW
        typed = self._read()
        if typed == END_OF_TRANSMISSION:
            raise EndOfKeysError
        while self._comes(TOGETHER_S):
            typed += self._read()
        key = self._decode(typed)
        return key if len(key) == 1 and key.isprintable() else "\n" if key in ("\r", "\n") else NOT_ONE_KEY

    def read_text(self, prompt: str) -> str:
        """Show ``prompt`` and return the line that is typed then, without blanks around. Raises ``EndOfKeysError``."""
        with self.lines():
            discard_typed(self.terminal.keys)
            self.terminal.show(prompt, ends="")
            line = read_line(self.terminal.keys, MAX_BYTES)
        if not line:
            raise EndOfKeysError
        return self._decode(line).strip()

    @contextlib.contextmanager
    def lines(self) -> Iterator[None]:
        """Let the terminal hand out whole lines inside the ``with`` block, as other programs find it."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        try:
            import termios
        except ImportError:
            return
        try:
            modes = termios.tcgetattr(self.terminal.keys)
        except termios.error:
            return
        self._modes = modes
        for number, handler in ((signal.SIGTSTP, self._stop), (signal.SIGTERM, _end), (signal.SIGHUP, _end)):
            with contextlib.suppress(ValueError):  # only the main thread may
                self._before[number] = signal.signal(number, handler)
        self._set_modes()

    def _give_back(self) -> None:
        if self._modes is None:
            return
        import termios

        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(self.terminal.keys, termios.TCSADRAIN, self._modes)
        self._modes = None
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _set_modes(self) -> None:
        import termios

        assert self._modes is not None
        modes = [*self._modes[:6], list(self._modes[6])]
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.terminal.keys, termios.TCSADRAIN, modes)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Stop as any program does, with the terminal as it was found; go on where it was stopped."""
        self._give_back()
        os.kill(os.getpid(), signal.SIGTSTP)
        self._take()
        self._was_stopped = True

    def _await_quiet(self) -> None:
        discard_typed(self.terminal.keys)
        while self._comes(QUIET_S):
            self._read()

    def _comes(self, wait_s: float) -> bool:
        return bool(select.select([self.terminal.keys], [], [], wait_s)[0])

    def _read(self) -> bytes:
        try:
            typed = os.read(self.terminal.keys, MAX_BYTES)
        except OSError:  # the terminal is gone
            typed = b""
        if not typed:
            raise EndOfKeysError
        return typed

    def _decode(self, typed: bytes) -> str:
        return typed.decode(sys.stdin.encoding or "utf-8", "replace")

    def _find_size(self) -> tuple[int, int]:
        try:
            return tuple(os.get_terminal_size(self.terminal.keys))  # type: ignore[return-value]
        except OSError:
            return (0, 0)


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)  # unwinds, so that the terminal is given back
