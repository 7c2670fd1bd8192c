"""Sessions for the tests of curating: events as capture keeps them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from gitmem.model.event import Event, EventKind

START = datetime.datetime(2026, 11, 2, 14, 0, tzinfo=datetime.UTC)


def event(minute: float, kind: EventKind = EventKind.TOOL, session: str = "s1", **fields: object) -> Event:
    """Return an event so many minutes after ``START``."""
    time = (START + datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Event(time, session, kind, **({"host": "claude-code"} | fields))  # type: ignore[arg-type]


def run(minute: float, command: str, exit_code: int | None, session: str = "s1") -> Event:
    return event(minute, session=session, tool="Bash", command=command, exit_code=exit_code)


def edit(minute: float, *paths: str, session: str = "s1") -> Event:
    return event(minute, session=session, tool="Edit", paths=paths)


def a_session(session: str = "s1", minute: float = 0, paths: Sequence[str] = ("src/cache.py",)) -> list[Event]:
    """Return a session of 42 minutes in which the tests fail, a file is changed, and they pass."""
    return [
        event(minute, EventKind.SESSION_START, session, detail="startup"),
        event(minute + 1, EventKind.PROMPT, session, input_bytes=120),
        event(minute + 2, session=session, tool="Read", paths=("README.md",)),
        run(minute + 3, "pytest", 1, session),
        edit(minute + 5, *paths, session=session),
        run(minute + 9, "pytest", 0, session),
        event(minute + 42, EventKind.SESSION_END, session),
    ]
