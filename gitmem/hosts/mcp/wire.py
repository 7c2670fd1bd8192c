"""The lines between client and server, read and written within bounds. Standard output holds nothing else."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator

MAX_LINE_BYTES = 1 << 20
"""The longest message that is read. The largest record that a tool takes needs an eighth of it."""
MAX_UNREAD_BYTES = 32 << 20
"""How much may wait for a client that doesn't read."""
_CHUNK_BYTES = 1 << 16


def iter_lines(source: int) -> Iterator[bytes | None]:
    """Yield the lines of ``source`` that aren't blank, without their ends; ``None`` for one that is too long."""
    line, is_too_long = b"", False
    while chunk := os.read(source, _CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if is_too_long or len(line) + len(part) > MAX_LINE_BYTES:
                yield None
            elif (line + part).strip():
                yield line + part
            line, is_too_long = b"", False
        is_too_long = is_too_long or len(line) + len(rest) > MAX_LINE_BYTES
        line = b"" if is_too_long else line + rest


class Writer:
    """Writes lines in a thread of its own, so that a client that does not read them keeps nothing from ending.

    ``give_up`` is called, in that thread or the one that sends, once the client can't be written to any more.
    """

    def __init__(self, sink: int, give_up: Callable[[], None]) -> None:
        self._sink, self._give_up = sink, give_up
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unread_bytes = 0
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, line: bytes) -> None:
        """Have one line written, behind all that were sent before. Never waits."""
        with self._guard:
            self._unread_bytes += len(line)
            is_too_much = self._unread_bytes > MAX_UNREAD_BYTES
        if is_too_much:
            self._give_up()
        else:
            self._waiting.put(line)

    def end(self, timeout_s: float) -> bool:
        """Wait until all that was sent is written, at most ``timeout_s`` seconds; return whether it is."""
        self._waiting.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (line := self._waiting.get()) is not None:
            rest = line
            try:
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
            except OSError:
                self._give_up()
                return
            with self._guard:
                self._unread_bytes -= len(line)


def take_standard_streams() -> tuple[int, int]:
    """Return descriptors of standard input and output that nobody else in the process has.

    What is read elsewhere is empty, what is printed elsewhere goes to standard error.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink
