"""An event: the metadata of something that a host saw. Never a prompt, an output or a file's content. Section 8."""

from __future__ import annotations

from enum import StrEnum

from gitmem.values import dataclass


class EventKind(StrEnum):
    """What happened, whichever host it was."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    TOOL = "tool"
    COMPACTION = "compaction"
    STOP = "stop"
    SESSION_END = "session-end"
    NOTED = "noted"
    """Told by a person or a script with ``gitmem journal add``."""
    UNKNOWN = "unknown"
    """Something that gitmem does not know; it is counted and no more."""


@dataclass(frozen=True)
class Event:
    """One line of a session's spool. ``time`` is RFC 3339 in UTC, sizes are bytes.

    ``command`` is what was run, from a fixed vocabulary of programs and their verbs (``pytest``, ``git commit``), never
    a command line as it was typed. ``paths`` are relative to the workspace, with ``/``; those outside are left out and
    counted in ``outside``, with those that can't be shown or are too many. ``exit_code`` and ``failed`` are ``None``
    where the host doesn't tell. ``commit`` is the commit that the project's repository was at. ``digest`` is a keyed
    hash of what was left out; equal ones mean equal content. ``dropped`` counts events before this one that were not
    kept.
    """

    time: str
    session: str
    kind: EventKind
    host: str = ""
    tool: str = ""
    command: str = ""
    paths: tuple[str, ...] = ()
    outside: int = 0
    exit_code: int | None = None
    failed: bool | None = None
    duration_ms: int | None = None
    input_bytes: int | None = None
    output_bytes: int | None = None
    digest: str = ""
    commit: str = ""
    detail: str = ""
    """One word of the host's about the kind: ``startup``, ``compact``, ``auto``. From a fixed vocabulary, too."""
    dropped: int = 0


@dataclass(frozen=True)
class Seen:
    """What a host told of one event, whole. In memory only, never written: ``curator.capture`` makes an event of it.

    ``session`` and ``folder`` (where the host works, absolute) are as the host has them, so are ``tool``, the command
    line and the paths. ``given`` and ``produced`` are what went into the event and what came out of it, of which the
    size and a keyed hash are kept. ``detail`` is the host's word for the kind.
    """

    kind: EventKind
    session: str
    host: str
    folder: str = ""
    tool: str = ""
    command_line: str = ""
    paths: tuple[str, ...] = ()
    exit_code: int | None = None
    failed: bool | None = None
    duration_ms: int | None = None
    given: bytes | None = None
    produced: bytes | None = None
    detail: str = ""
    prompt: str = ""
    """The prompt, whole; empty for that of a subagent, which a model wrote."""
    is_typed: bool = True
    """Whether a person typed the prompt; unless that is sure, it is no command."""
    turn: str = ""
    """The host's name for what begins with the prompt, the same for all who are told of it; empty if it has none."""


class Fate(StrEnum):
    """What became of an event that was to be kept."""

    KEPT = "kept"
    NO_ROOM = "no-room"
    """A bound is reached; it is counted."""
    AGAIN = "again"
    """The same was told a moment before: a host that has the hook twice. It is kept once."""


class Odd(StrEnum):
    """Why something that a host told was not kept."""

    UNKNOWN = "unknown"
    """An event, or a host, that gitmem does not know."""
    UNREADABLE = "unreadable"
    """No JSON object."""
    TOO_LARGE = "too-large"
    """A payload beyond the bound; it was not looked at."""
    FAILED = "failed"
    """An event that could not be written."""
    SESSION_DROPPED = "sessions-dropped"
    """A session that had to give way to newer ones."""
    EVENT_DROPPED = "events-dropped"
    """An event of such a session."""
