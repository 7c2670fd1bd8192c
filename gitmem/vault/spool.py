"""Events on disk: one file of JSON lines a session in runtime, append-only and bounded. Never in Git.

The file is named by a hash of the session, so that no host's name for one can lead anywhere. All that change it hold
its lock meanwhile, which the system takes back from a process that dies.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator

from gitmem.disk import NO_FOLLOW, READ_FLAGS, ensure_folder, flush_folder, read_regular
from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.event import Event, EventKind, Fate, Odd
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.layout import VaultLayout
from gitmem.vault.tally import add_to_tally

MAX_SESSION_BYTES = 1 << 20
MAX_LINE_BYTES = 16 << 10
MAX_SESSIONS = 300
"""How many sessions wait at most; the ended ones go first, the longest untouched of them before others."""
MAX_ALL_BYTES = 32 << 20
MAX_AGE_DAYS = 90
"""A session to which nothing came for so long gives way."""
_NAME = late(r"[0-9a-f]{32}\.jsonl")
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LAST_BYTES = 4 << 10
_RECENT_BYTES = 16 << 10
_END = f'"kind": "{EventKind.SESSION_END.value}"'.encode()


@dataclass(frozen=True)
class Spool:
    """What is kept of one session, in order. ``dropped`` were not kept, ``torn`` lines can't be read."""

    session: str
    events: tuple[Event, ...]
    dropped: int = 0
    torn: int = 0


@dataclass(frozen=True)
class Outline:
    """When the events of one file came, and of what kind they are; ``moments`` in the order in which they were kept.

    ``folder`` is where the file lies and ``name`` the one it has in each, by the session. Times are whole seconds.
    """

    folder: str
    name: str
    session: str = ""
    host: str = ""
    moments: tuple[tuple[int, EventKind], ...] = ()


@dataclass(frozen=True)
class Waiting:
    """How much waits to be curated: ``sessions``, their ``events``, and how many of theirs were ``dropped``."""

    sessions: int = 0
    events: int = 0
    dropped: int = 0


def append_event(layout: VaultLayout, event: Event, again_within_s: int = 0) -> Fate:
    """Append ``event`` to its session's file in one write, or count it where the bound is reached; tells which.

    With ``again_within_s``, one that differs from an event of so many seconds before in nothing but its time is the
    same, told again, and not appended; of processes at the same moment one appends it.
    Not flushed: a power cut may take the last events, a crash of the process none. A new session may drop old ones
    (``MAX_SESSIONS`` and the other bounds), which is counted. Raises ``OSError``; nothing is half written then.
    """
    ensure_folder(layout.events)
    if os.path.islink(layout.events):
        raise OSError(errno.ELOOP, "a link stands where events are kept", layout.events)
    line = json.dumps(event_to_json(event), ensure_ascii=False).encode("utf-8", "replace")
    with _hold(_file_of(layout, event.session)) as fd:
        size = os.fstat(fd).st_size
        is_kept = len(line) <= MAX_LINE_BYTES and size + len(line) <= MAX_SESSION_BYTES
        if again_within_s and _is_told(fd, size, line, again_within_s):
            return Fate.AGAIN
        if is_kept:
            _append(fd, size, line + b"\n")
        elif size < 2 * MAX_SESSION_BYTES:
            # One byte for each event that is not kept; it counts, and can't be confused with an event.
            _append(fd, size, b"\n")
    if size == 0:
        _drop_old(layout, _file_of(layout, event.session), event.time)
    return Fate.KEPT if is_kept else Fate.NO_ROOM


def read_spool(layout: VaultLayout, session: str) -> Spool:
    """Return what is kept of ``session``; nothing where nothing is. Raises ``UnavailableError`` (``spool-unreadable``).

    Lines that a crash tore are counted and passed over.
    """
    return _read(_file_of(layout, session), session)


def iter_spools(layout: VaultLayout) -> Iterator[Spool]:
    """Yield the sessions of which something is kept. Raises ``UnavailableError`` (``spool-unreadable``).

    A file with nothing in it, which a full disk or a crash leaves, is no session.
    """
    for name in _list_names(layout.events):
        spool = _read(os.path.join(layout.events, name), "")
        if spool.events or spool.dropped or spool.torn:
            yield spool


def count_waiting(layout: VaultLayout) -> Waiting:
    """Return how much waits, without looking into events. Raises ``UnavailableError`` (``spool-unreadable``)."""
    sessions: set[str] = set()
    events, dropped = 0, 0
    for folder in (layout.curating, layout.events):
        for name in _list_names(folder):
            lines = _read_bytes(os.path.join(folder, name)).splitlines()
            if any(lines):
                sessions.add(name)
            dropped += lines.count(b"")
            events += len(lines) - lines.count(b"")
    return Waiting(len(sessions), events, dropped)


def iter_outlines(*folders: str) -> Iterator[Outline]:
    """Yield what each file of ``folders`` (``events``, ``curating``) has in outline, folder by folder; lines that can't
    be read are passed over. Raises ``UnavailableError`` (``spool-unreadable``)."""
    for folder in folders:
        for name in _list_names(folder):
            session, host, moments = "", "", []
            data = _read_bytes(os.path.join(folder, name))
            for line in data.splitlines():
                with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
                    value = json.loads(line)
                    at = int(datetime.datetime.fromisoformat(value["time"]).timestamp())
                    moments.append((at, EventKind(value["kind"])))
                    session, host = session or str(value["session"]), host or str(value.get("host", ""))
            if data:  # it may have gone since it was listed
                yield Outline(folder, name, session, host, tuple(moments))


def claim_spool(layout: VaultLayout, session: str) -> bool:
    """Set what is kept of ``session`` aside to be curated, durable; what comes later starts a new file.

    ``False`` where nothing is kept of it, or where something of it was set aside before and is still there. Raises
    ``OSError``.
    """
    path = _file_of(layout, session)
    target = os.path.join(layout.curating, os.path.basename(path))
    if not os.path.lexists(path) or os.path.lexists(target):
        return False
    ensure_folder(layout.curating)
    with _hold(path) as fd:
        os.fsync(fd)
        os.rename(path, target)
    flush_folder(layout.curating)
    return True


def iter_claimed(layout: VaultLayout) -> Iterator[Spool]:
    """Yield the sessions that are set aside. Raises ``UnavailableError`` (``spool-unreadable``)."""
    for name in _list_names(layout.curating):
        yield _read(os.path.join(layout.curating, name), "")


def drop_claimed(layout: VaultLayout, session: str) -> None:
    """Remove what was set aside of ``session``, once it is curated; durable."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(layout.curating, os.path.basename(_file_of(layout, session))))
        flush_folder(layout.curating)


def event_to_json(event: Event) -> dict[str, Any]:
    """Return the event as ``schema/event.schema.json`` describes it; what is empty is left out."""
    value: dict[str, Any] = vars(event) | {"kind": event.kind.value, "paths": list(event.paths)}
    kept = {name: member for name, member in value.items() if member not in (None, "", [])}
    return {name: member for name, member in kept.items() if member or name not in ("dropped", "outside")}


def event_from_json(value: dict[str, Any]) -> Event:
    """Return the event that ``event_to_json`` made. Raises ``InputError`` (``schema``) for anything else."""
    from gitmem.vault.schema import validate

    validate("event", value)
    return Event(**(value | {"kind": EventKind(value["kind"]), "paths": tuple(value.get("paths", ()))}))


@contextlib.contextmanager
def _hold(path: str) -> Iterator[int]:
    """Hold the session's file, which is made where it is missing, open and locked. Raises ``OSError``."""
    while True:
        fd = os.open(path, _APPEND, 0o600)
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            _lock(fd)
            if _is_at(path, info):
                yield fd
                return
        finally:
            os.close(fd)


def _lock(fd: int) -> None:
    with contextlib.suppress(ImportError):  # a platform without it: a line in one write is whole all the same
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX)


def _is_at(path: str, info: os.stat_result) -> bool:
    """Tell whether the file is still the one at ``path``: it may have been dropped while its lock was waited for."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(info, os.stat(path, follow_symlinks=False))
    return False


def _is_told(fd: int, size: int, line: bytes, within_s: int) -> bool:
    """Tell whether one of the last events is that of ``line``, but for the time, and not older than ``within_s``."""
    now, _comma, behind = line.partition(b",")
    for last in reversed(_read_from(fd, max(0, size - _RECENT_BYTES)).splitlines()):
        then, _comma, rest = last.partition(b",")
        if rest == behind:
            with contextlib.suppress(ValueError, IndexError):  # torn
                return abs(_seconds(now) - _seconds(then)) <= within_s
    return False


def _seconds(member: bytes) -> float:
    """Return the time in the first member of a line, as ``event_to_json`` has it."""
    return datetime.datetime.fromisoformat(member.decode().split('"')[3]).timestamp()


def _append(fd: int, size: int, line: bytes) -> None:
    is_torn = size > 0 and _read_from(fd, size - 1) != b"\n"
    data = b"\n" + line if is_torn else line
    try:
        if os.write(fd, data) < len(data):
            raise OSError(errno.ENOSPC, "no room for an event")
    except OSError:
        os.ftruncate(fd, size)
        raise


def _read_from(fd: int, start: int) -> bytes:
    os.lseek(fd, start, os.SEEK_SET)
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _drop_old(layout: VaultLayout, newest: str, time: str) -> None:
    """Remove sessions until the bounds on all of them hold; that which ``newest`` is the file of stays."""
    now_s = datetime.datetime.fromisoformat(time).timestamp()
    with contextlib.suppress(OSError):  # the next session tries again
        files = []
        with os.scandir(layout.events) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name):
                    info = entry.stat(follow_symlinks=False)
                    files.append((info.st_mtime, info.st_size, entry.path))
        count, size = len(files), sum(one[1] for one in files)
        is_over = count > MAX_SESSIONS or size > MAX_ALL_BYTES
        old = [one for one in files if now_s - one[0] > MAX_AGE_DAYS * 86_400]
        others = sorted(set(files) - set(old), key=lambda one: (not _is_ended(one[2]), one[0])) if is_over else []
        for number, (_mtime, file_bytes, path) in enumerate([*old, *others]):
            if number >= len(old) and count <= MAX_SESSIONS and size <= MAX_ALL_BYTES:
                break
            if path != newest:
                count, size = count - 1, size - file_bytes
                _drop(layout, path)


def _drop(layout: VaultLayout, path: str) -> None:
    lines = _read_bytes(path).splitlines()
    os.unlink(path)
    add_to_tally(layout, Odd.SESSION_DROPPED)
    add_to_tally(layout, Odd.EVENT_DROPPED, len(lines))


def _is_ended(path: str) -> bool:
    with contextlib.suppress(OSError):
        fd = os.open(path, READ_FLAGS | NO_FOLLOW)
        try:
            size = os.fstat(fd).st_size
            return _END in _read_from(fd, max(0, size - _LAST_BYTES)).rstrip().rpartition(b"\n")[2]
        finally:
            os.close(fd)
    return False


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(filter(_NAME.fullmatch, os.listdir(folder)))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(folder, error) from None


def _read_bytes(path: str) -> bytes:
    try:
        return read_regular(path, 2 * MAX_SESSION_BYTES + MAX_LINE_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _unreadable(path, error) from None


def _read(path: str, session: str) -> Spool:
    data = _read_bytes(path)
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
