"""The events that wait to be curated: told by a person or a script, looked at, counted."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.curator.capture import make_event
from gitmem.errors import InputError, StateError
from gitmem.model.answer import Answer, Status
from gitmem.model.event import Event, EventKind, Seen
from gitmem.policy.secrets import check_secrets
from gitmem.service.capture import capture, find_around
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.layout import VaultLayout
from gitmem.vault.spool import Spool, count_waiting, event_to_json, iter_claimed, iter_spools
from gitmem.vault.tally import read_tally

TOLD = tuple(kind for kind in EventKind if kind is not EventKind.UNKNOWN)
"""What can be told by ``add_event``."""


def add_event(vault: OpenVault, seen: Seen) -> Answer:
    """Keep an event that a person or a script tells, and return it as the one row.

    The same is kept of it as of a host's, but what can't be kept is an error: ``InputError`` (``bad-event``),
    ``PolicyError`` (``secret-found``), and nothing is written then. Raises ``StateError`` (``journal-full``) where the
    session's bound is reached, which is counted, and what ``capture`` raises.
    """
    check_secrets({"the session": seen.session, "the tool": seen.tool, "the paths": "\n".join(seen.paths)})
    _check_whole(seen, make_event(seen, find_around(vault, seen)))
    event = capture(vault, seen)
    if event is None:
        raise StateError(
            "journal-full",
            "no more events are kept of this session; this one was counted",
            "`gitmem curate` makes an episode of what is there, and room.",
        )
    return Answer(Status.OK, vault.head(), rows=(event_row(event),))


def list_sessions(vault: OpenVault) -> Answer:
    """Return the sessions of which events wait, the one with the latest event first, as rows.

    A row has ``session``, ``host``, ``events`` (how many), ``first`` and ``last`` (UTC), ``ended``, ``dropped`` (not
    kept, for the session's bound) and ``torn`` (lines that can't be read). ``extra`` has what ``describe_events``
    returns. Raises ``UnavailableError`` (``spool-unreadable``).
    """
    rows = sorted(map(_session_row, _load_all(vault.layout)), key=lambda row: (row["last"], row["session"]))
    rows.reverse()
    status = Status.OK if rows else Status.NO_MATCH
    return Answer(status, vault.head(), rows=tuple(rows), extra={"journal": describe_events(vault)})


def list_events(vault: OpenVault, session: str) -> Answer:
    """Return the events that wait of ``session`` (its name or a unique beginning of it), in order, as rows.

    Raises ``InputError`` (``ambiguous-session``) and ``UnavailableError`` (``spool-unreadable``).
    """
    spool = _find_spool(_load_all(vault.layout), session)
    if spool is None:
        return Answer(Status.NO_MATCH, vault.head(), extra={"session": session, "dropped": 0, "torn": 0})
    extra = {"session": spool.session, "dropped": spool.dropped, "torn": spool.torn}
    return Answer(Status.OK, vault.head(), rows=tuple(map(event_row, spool.events)), extra=extra)


def describe_events(vault: OpenVault) -> dict[str, int]:
    """Return how much waits and what was not kept, counted.

    ``sessions`` and ``events`` wait; ``dropped`` events of theirs were beyond the session's bound. Of all time:
    ``unknown`` to gitmem, ``unreadable``, ``too-large``, ``failed`` to be written, ``sessions-dropped`` and
    ``events-dropped`` to make room. Raises ``UnavailableError`` (``spool-unreadable``).
    """
    waiting = count_waiting(vault.layout)
    tally = {what.value: number for what, number in read_tally(vault.layout).items()}
    return {"sessions": waiting.sessions, "events": waiting.events, "dropped": waiting.dropped} | tally


def event_row(event: Event) -> dict[str, Any]:
    """Return ``event`` as a row: its members as ``schema/event.schema.json`` has them, its kind as ``event``."""
    value = event_to_json(event)
    return {"time": value.pop("time"), "session": value.pop("session"), "event": value.pop("kind")} | value


def _check_whole(seen: Seen, event: Event) -> None:
    if event.session != seen.session:
        raise _refuse("the session's name has a form that is not kept", "Use letters, digits and . _ -, at most 100.")
    if event.tool != seen.tool:
        raise _refuse("the tool's name has a form that is not kept", "Use letters, digits and _ . : -, at most 100.")
    if seen.command_line and not event.command:
        message = "the command is none that gitmem knows, and so would not be kept"
        raise _refuse(message, "docs/capture.md lists the known ones; leave it out otherwise.")
    if event.outside:
        raise _refuse("a path lies outside the project, or can't be shown", "Name files of the project alone.")
    if seen.exit_code is not None and event.exit_code is None:
        message = "the exit code of that line does not tell how its command went"
        raise _refuse(message, "Give the command alone, without what follows it.")


def _refuse(message: str, hint: str) -> InputError:
    return InputError("bad-event", message, hint)


def _load_all(layout: VaultLayout) -> list[Spool]:
    """Return what waits of each session, what was set aside to be curated and is still there first."""
    found: dict[str, Spool] = {}
    for spool in (*iter_claimed(layout), *iter_spools(layout)):
        before = found.get(spool.session, Spool(spool.session, ()))
        events = (*before.events, *spool.events)
        found[spool.session] = Spool(spool.session, events, before.dropped + spool.dropped, before.torn + spool.torn)
    return list(found.values())


def _session_row(spool: Spool) -> dict[str, Any]:
    times = sorted(event.time for event in spool.events) or [""]
    return {
        "session": spool.session,
        "host": next((event.host for event in spool.events if event.host), ""),
        "events": len(spool.events),
        "first": times[0],
        "last": times[-1],
        "ended": bool(spool.events) and spool.events[-1].kind is EventKind.SESSION_END,
        "dropped": spool.dropped,
        "torn": spool.torn,
    }


def _find_spool(spools: Sequence[Spool], session: str) -> Spool | None:
    exact = [spool for spool in spools if spool.session == session]
    found = exact or [spool for spool in spools if spool.session.startswith(session)]
    if len(found) > 1:
        message = f"{len(found)} sessions begin with {session!r}"
        raise InputError("ambiguous-session", message, "Give more of its name; `gitmem journal list` has it whole.")
    return found[0] if found else None
