"""One open catalog for all who read one vault in this process, and one reconciliation for all who wait for one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from gitmem.catalog.database import Database
from gitmem.catalog.reconcile import Report
from gitmem.typed import Generic, TypeVar
from gitmem.values import dataclass, field

_T = TypeVar("_T")


@dataclass
class _Turn(Generic[_T]):
    """One run of the work; ``results`` is empty until it ends, and stays so where it failed."""

    is_over: bool = False
    results: list[_T] = field(default_factory=list)

    def has_ended(self) -> bool:
        return self.is_over


class Turns(Generic[_T]):
    """Runs a piece of work for one caller at a time, and once for all who wait meanwhile.

    Nobody gets the result of a run that had begun before they asked: it may not have seen what they know of.
    ``waiting`` counts the callers whose run has not begun.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._condition = threading.Condition()
        self._is_running = False
        self._next: _Turn[_T] | None = None

    def take(self, work: Callable[[], _T]) -> _T:
        """Return what ``work`` returned in a run that began after this call, perhaps another caller's.

        Raises what ``work`` raises in a run of one's own; where another's fails, each who waited for it tries anew.
        """
        while True:
            with self._condition:
                turn = self._next
                if turn is None:
                    turn = self._next = _Turn()
                    break
                self._wait_for(turn.has_ended)
                if turn.results:
                    return turn.results[0]
        has_begun = False
        try:
            with self._condition:
                self._wait_for(lambda: not self._is_running)
                self._next = None
                self._is_running = has_begun = True
            turn.results.append(work())
            return turn.results[0]
        finally:
            # Also where Control-C ends the wait: nobody may wait for a turn that will not be.
            with self._condition:
                turn.is_over = True
                if has_begun:
                    self._is_running = False
                else:
                    self._next = None
                self._condition.notify_all()

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        self.waiting += 1
        try:
            self._condition.wait_for(condition)
        finally:
            self.waiting -= 1


class SharedCatalog:
    """The catalog of one vault; whoever got it from ``share`` closes it once."""

    def __init__(self, name: str, database: Database) -> None:
        self.database = database
        self.users = 1
        self._name = name
        self._turns: dict[bool, Turns[Report]] = {False: Turns(), True: Turns()}

    def reconcile(self, work: Callable[[], Report], *, strict: bool) -> Report:
        """Return the report of a reconciliation that began after this call; see ``Turns.take``.

        One that need not be ``strict`` is not shared with those who want one that is.
        """
        return self._turns[strict].take(work)

    def close(self) -> None:
        """Let go of the catalog; the last one who does closes the database."""
        with _guard:
            self.users -= 1
            if self.users:
                return
            if _open.get(self._name) is self:
                del _open[self._name]
        self.database.close()


def share(name: str, make: Callable[[], Database]) -> SharedCatalog:
    """Return the catalog called ``name``, opened by ``make`` where this process has not got it yet. Thread-safe.

    A process that was forked has none of its parent's.
    """
    with _guard:
        found = _open.get(name)
        if found is None:
            found = _open[name] = SharedCatalog(name, make())
        else:
            found.users += 1
        return found


def _forget() -> None:
    global _guard  # noqa: PLW0603 - a lock that another thread of the parent held would never be free
    _guard = threading.Lock()
    _open.clear()


_guard = threading.Lock()
_open: dict[str, SharedCatalog] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
