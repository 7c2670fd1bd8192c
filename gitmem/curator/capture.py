"""What is kept of an event: metadata in known forms, and nothing else. Pure; the one gate between a host and the disk.

Whatever a host says, only this comes through (INV-METADATA-ONLY): words of fixed vocabularies, numbers, a keyed hash,
the name of a tool and of a session in a plain form, and paths below the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b

from gitmem.model.event import Event, EventKind, Seen
from gitmem.patterns import late
from gitmem.text import find_hidden
from gitmem.values import dataclass

MAX_PATHS = 40
MAX_PATH_CHARS = 300
MAX_PATHS_BYTES = 8 << 10
_MAX_NUMBER = 1 << 53
_TOOL = late(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
_SESSION = late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HOST = late(r"[a-z][a-z0-9-]{0,39}")
_DETAILS = frozenset(
    (
        *("startup", "resume", "clear", "compact", "fork", "auto", "manual", "logout", "exit", "other", "completed"),
        *("prompt-input-exit", "bypass-permissions-disabled", "window-close", "user-close", "aborted", "error"),
    )
)
AT_A_COMMIT = frozenset((EventKind.SESSION_START, EventKind.PROMPT, EventKind.STOP, EventKind.SESSION_END))
"""Events of which it is kept where the project's repository was; of prompts, for hosts that tell of no start."""


@dataclass(frozen=True)
class Around:
    """What is known where the event is seen.

    ``time`` is RFC 3339 in UTC, ``roots`` are the absolute names of the workspace's folder, ``key`` makes hashes (empty
    for none), ``commit`` is where the project's repository is.
    """

    time: str
    roots: tuple[str, ...] = ()
    key: bytes = b""
    commit: str = ""


def make_event(seen: Seen, around: Around) -> Event:
    """Return what may be kept of ``seen``; ``schema/event.schema.json`` describes every event that this makes."""
    command, is_told = _find_command(seen)
    paths, outside = _find_paths(seen.paths, seen.folder, around.roots)
    return Event(
        time=around.time,
        session=keep_session(seen.session, around.key),
        kind=seen.kind,
        host=seen.host if _HOST.fullmatch(seen.host) else "",
        tool=seen.tool if _TOOL.fullmatch(seen.tool) else "",
        command=command,
        paths=paths,
        outside=outside,
        exit_code=seen.exit_code if is_told else None,
        failed=seen.failed if is_told else None,
        duration_ms=_bound(seen.duration_ms),
        input_bytes=None if seen.given is None else len(seen.given),
        output_bytes=None if seen.produced is None else len(seen.produced),
        digest=_hash(seen.given, around.key) if seen.given else "",
        commit=around.commit if seen.kind in AT_A_COMMIT else "",
        detail=_keep_detail(seen.detail),
    )


def _find_command(seen: Seen) -> tuple[str, bool]:
    """Return the command that was run, empty for none, and whether the outcome is its own."""
    if not seen.command_line:
        return "", True
    from gitmem.curator.commands import find_command

    command = find_command(seen.command_line)
    # How a whole line went says nothing of a command in its middle.
    return command.name, not command.name or (command.tells_failure if seen.failed else command.tells_pass)


def keep_session(session: str, key: bytes) -> str:
    """Return the session's name where it has a plain form, else a keyed hash of it."""
    if _SESSION.fullmatch(session):
        return session
    return "h-" + blake2b(session.encode("utf-8", "surrogatepass"), key=key, digest_size=12).hexdigest()


def find_inside(path: str, folder: str, roots: Sequence[str]) -> str | None:
    """Return ``path``, which is absolute or relative to ``folder``, from the workspace's folder, with ``/``.

    ``None`` for one outside of all ``roots``, or of a form that can't be shown. By its name alone, nothing is read.
    """
    if not path or "\0" in path or path.startswith("~") or not (os.path.isabs(path) or os.path.isabs(folder)):
        return None
    whole = os.path.normpath(os.path.join(folder, path))
    for root in roots:
        below = root.rstrip(os.sep) + os.sep
        if whole.startswith(below):
            return _keep_path(whole[len(below) :].replace(os.sep, "/"))
    return None


def _find_paths(paths: Sequence[str], folder: str, roots: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the paths to keep, each once, in order, and how many others there are."""
    kept: dict[str, None] = {}
    outside, size = 0, 0
    for path in paths:
        inside = find_inside(path, folder, roots)
        if inside is not None and inside not in kept:
            size += len(inside.encode()) + 4
        if inside is None or size > MAX_PATHS_BYTES or (len(kept) == MAX_PATHS and inside not in kept):
            outside += 1
        else:
            kept[inside] = None
    return tuple(kept), outside


def _keep_path(path: str) -> str | None:
    is_plain = 0 < len(path) <= MAX_PATH_CHARS and path.isprintable() and not find_hidden(path)
    return path if is_plain and path[0] not in "/\\~" else None


def _keep_detail(detail: str) -> str:
    plain = detail.replace("_", "-")
    return plain if plain in _DETAILS else ""


def _bound(number: int | None) -> int | None:
    return number if number is None or 0 <= number < _MAX_NUMBER else None


def _hash(data: bytes, key: bytes) -> str:
    return blake2b(data, key=key, digest_size=16).hexdigest() if key else ""
