"""What the time of sessions went into, from when their events came. Pure.

Between two events of a session its time is of one sort, by the first of them: an agent works after a prompt and after
a tool, and waits for a person after a stop. Where nothing came for long, nobody knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from gitmem.model.event import EventKind

QUIET_S = 30 * 60
"""After how long without an event nobody knows what a session did."""
_WAITS_AFTER = frozenset({EventKind.SESSION_START, EventKind.STOP, EventKind.SESSION_END})


class Spent(StrEnum):
    """What a stretch of time went into. Where stretches overlap, the first of these counts."""

    WORKING = "working"
    WAITING = "waiting"
    QUIET = "quiet"
    UNSPLIT = "unsplit"
    """Of a curated session, whose events are gone: only when it began and ended is known."""


class Stretch(NamedTuple):
    """Some time, from ``start`` to ``end``, in whole seconds since 1970."""

    start: int
    end: int
    spent: Spent


def split_time(moments: Iterable[tuple[int, EventKind]]) -> list[Stretch]:
    """Return the stretches between the events of one session, each its time and kind, in whatever order they came."""
    return [
        Stretch(start, end, _judge(kind, end - start))
        for (start, kind), (end, _next) in pairwise(sorted(moments, key=lambda one: one[0]))
        if end > start
    ]


def sum_up_time(stretches: Sequence[Stretch]) -> dict[Spent, int]:
    """Return how many seconds went into each, where every second of ``stretches`` counts exactly once.

    The sum is the length of all of them together, overlaps counted once.
    """
    found = dict.fromkeys(Spent, 0)
    changes = sorted([(one.start, 1, one.spent) for one in stretches] + [(one.end, -1, one.spent) for one in stretches])
    under_way: Counter[Spent] = Counter()
    for (at, step, spent), (until, _step, _spent) in pairwise([*changes, (0, 0, Spent.QUIET)]):
        under_way[spent] += step
        now = next((one for one in Spent if under_way[one]), None)
        if now is not None:
            found[now] += until - at
    return found


def _judge(kind: EventKind, seconds: int) -> Spent:
    if seconds >= QUIET_S:
        return Spent.QUIET
    return Spent.WAITING if kind in _WAITS_AFTER else Spent.WORKING
