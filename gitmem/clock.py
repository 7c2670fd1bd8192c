"""Time. ``SystemClock`` is the one thing that reads the machine's clock; everything else is handed a ``Clock``."""

from __future__ import annotations

import datetime
import time
from typing import Protocol


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

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()

    def sleep_s(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def format_utc(moment: datetime.datetime) -> str:
    """Return ``moment`` as RFC 3339 in UTC with a ``Z``, whole seconds: ``2026-11-30T14:00:00Z``."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
