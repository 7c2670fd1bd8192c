"""Calls carried out in threads, a few at once and the others in turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

MAX_WAITING = 64
"""How many calls may wait for their turn."""


class Job:
    """One call. ``is_cancelled`` says that nobody wants to know any more what comes of it."""

    def __init__(self, work: Callable[[Job], None]) -> None:
        self.work = work
        self.is_cancelled = False


class Turns:
    """A few threads that carry jobs out in the order in which they came; ``together`` says how many at once.

    A job that was begun is never broken off; one that is cancelled before is not begun.
    """

    def __init__(self, together: int) -> None:
        self._together = together
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._threads = self._running = 0
        self._is_closed = False

    def add(self, job: Job) -> bool:
        """Have ``job`` carried out; return whether there was room for it to wait."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING or self._is_closed:
                return False
            self._waiting.append(job)
            if self._threads < self._together:
                self._threads += 1
                threading.Thread(target=self._run, daemon=True).start()
            self._changed.notify()
        return True

    def close(self) -> None:
        """Begin no further job."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()

    def wait(self, timeout_s: float) -> bool:
        """Wait until no job runs, at most ``timeout_s`` seconds; return whether none does."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                job = self._waiting.popleft()
                if job.is_cancelled:
                    continue
                self._running += 1
            try:
                job.work(job)
            finally:
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()
