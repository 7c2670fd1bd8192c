"""Events on disk: one file of JSON lines a session in runtime, append-only and bounded. Never in Git.

The file is named by a hash of the session, so that no host's name for one can lead anywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitmem.disk import NO_FOLLOW, ensure_folder, read_regular
from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.event import Event, EventKind
from gitmem.vault.layout import VaultLayout
from gitmem.vault.schema import validate

MAX_SESSION_BYTES = 1 << 20
MAX_LINE_BYTES = 16 << 10
_NAME = re.compile(r"[0-9a-f]{32}\.jsonl")


@dataclass(frozen=True)
class Spool:
    """What is kept of one session, in order. ``dropped`` were not kept, ``torn`` lines can't be read."""

    session: str
    events: tuple[Event, ...]
    dropped: int = 0
    torn: int = 0


def append_event(layout: VaultLayout, event: Event) -> bool:
    """Append ``event`` to its session's file in one write; ``False`` where the bound is reached, and it is counted.

    Not flushed: a power cut may take the last events, a crash of the process none. Raises ``OSError``.
    """
    ensure_folder(layout.events)
    path = _file_of(layout, event.session)
    line = json.dumps(event_to_json(event), ensure_ascii=False).encode("utf-8", "replace")
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW, 0o600)
    try:
        size = os.fstat(fd).st_size
        if len(line) > MAX_LINE_BYTES or size + len(line) > MAX_SESSION_BYTES:
            # One byte for each event that is not kept; it counts, and can't be confused with an event.
            os.write(fd, b"\n" if size < 2 * MAX_SESSION_BYTES else b"")
            return False
        os.write(fd, line + b"\n")
    finally:
        os.close(fd)
    return True


def read_spool(layout: VaultLayout, session: str) -> Spool:
    """Return what is kept of ``session``; nothing where nothing is. Raises ``UnavailableError`` (``spool-unreadable``).

    Lines that a crash tore are counted and passed over.
    """
    return _read(_file_of(layout, session), session)


def iter_spools(layout: VaultLayout) -> Iterator[Spool]:
    """Yield the sessions of which something is kept. Raises ``UnavailableError`` (``spool-unreadable``)."""
    try:
        names = sorted(filter(_NAME.fullmatch, os.listdir(layout.events)))
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(layout.events, error) from None
    for name in names:
        yield _read(os.path.join(layout.events, name), "")


def drop_spool(layout: VaultLayout, session: str) -> None:
    """Remove what is kept of ``session``, once it is curated."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_file_of(layout, session))


def event_to_json(event: Event) -> dict[str, Any]:
    """Return the event as ``schema/event.schema.json`` describes it; what is empty is left out."""
    value: dict[str, Any] = vars(event) | {"kind": event.kind.value, "paths": list(event.paths)}
    kept = {name: member for name, member in value.items() if member not in (None, "", [])}
    return {name: member for name, member in kept.items() if member or name not in ("dropped", "outside")}


def event_from_json(value: dict[str, Any]) -> Event:
    """Return the event that ``event_to_json`` made. Raises ``InputError`` (``schema``) for anything else."""
    validate("event", value)
    return Event(**(value | {"kind": EventKind(value["kind"]), "paths": tuple(value.get("paths", ()))}))


def _read(path: str, session: str) -> Spool:
    try:
        data = read_regular(path, 2 * MAX_SESSION_BYTES + MAX_LINE_BYTES)
    except FileNotFoundError:
        return Spool(session, ())
    except OSError as error:
        raise _unreadable(path, error) from None
    events, torn, dropped = [], 0, 0
    for line in data.splitlines():
        if not line:
            dropped += 1
            continue
        try:
            events.append(event_from_json(json.loads(line)))
        except (ValueError, RecursionError, GitmemError):
            torn += 1
    session = session or (events[0].session if events else "")
    return Spool(session, tuple(events), dropped + sum(one.dropped for one in events), torn)


def _file_of(layout: VaultLayout, session: str) -> str:
    hashed = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return os.path.join(layout.events, f"{hashed}.jsonl")


def _unreadable(place: str, error: OSError) -> UnavailableError:
    return UnavailableError(
        "spool-unreadable",
        f"what hosts saw can't be read: {error.strerror or error}",
        f"Look at what lies in {place} and who may read it.",
    )
