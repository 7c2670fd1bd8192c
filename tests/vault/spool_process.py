"""Processes of their own that append to a spool, for ``test_spool``."""

from __future__ import annotations

import itertools

from gitmem.model.event import Event, EventKind
from gitmem.vault.layout import VaultLayout
from gitmem.vault.spool import append_event

START = Event("2026-12-01T10:00:00Z", "s/../1", EventKind.SESSION_START, host="codex", detail="startup")


def append(runtime: str, event: Event) -> None:
    append_event(VaultLayout("repo", runtime), event)


def append_for_ever(runtime: str, name: str) -> None:
    """Append numbered events to a session that all share, and to one that another process drops meanwhile."""
    for number in itertools.count():
        for session in ("shared", "other"):
            append(runtime, Event(START.time, session, EventKind.TOOL, tool=name, duration_ms=number))
