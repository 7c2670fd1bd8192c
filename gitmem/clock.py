"""Time. ``SystemClock`` is the one thing that reads the machine's clock; everything else is handed a ``Clock``."""

from __future__ import annotations

import datetime
import sys
import time

from gitmem.typed import Protocol

_IS_LINUX = sys.platform == "linux"
_REALTIME_COARSE = 5  # CLOCK_REALTIME_COARSE, which Python has no name for


class Clock(Protocol):
    """Wall-clock time, monotonic seconds, and waiting."""

    def now(self) -> datetime.datetime:
        """Return the current time in UTC, whole seconds."""

    def time_ns(self) -> int:
        """Return nanoseconds since 1970, on the scale of file times."""

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never goes back."""

    def sleep_s(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime.datetime:
        """Return the current time in UTC, whole seconds."""
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)

    def time_ns(self) -> int:
        """Return nanoseconds since 1970, on the scale of file times."""
        return time.time_ns()

    def file_time_ns(self) -> int:
        """Return a time on the scale of file times that no file written from now on is older than."""
        # Files get the time of the kernel's last tick, which this clock tells; elsewhere a tick is 10 ms or less.
        if _IS_LINUX:
            return time.clock_gettime_ns(_REALTIME_COARSE)
        return time.time_ns() - 20_000_000

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()

    def sleep_s(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def moment_at(seconds: float) -> datetime.datetime:
    """Return the moment so many seconds after the beginning of 1970, as Git and file systems count them, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def format_utc(moment: datetime.datetime) -> str:
    """Return ``moment`` as RFC 3339 in UTC with a ``Z``, whole seconds: ``2026-11-30T14:00:00Z``."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
