"""What a session was shown last, so that the same is not said again. One small file a session, in ``runtime/recall/``.

A file holds a digest of the text, and the ids of its records; nothing of a prompt, and the session by its hash only.
It is there to save room: one that is damaged, or can't be written, costs that saving and nothing else. Processes of one
session write it one after the other, each whole; sessions never share one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from enum import StrEnum

from gitmem.clock import Clock
from gitmem.disk import NO_FOLLOW, ensure_folder, read_regular
from gitmem.model.ids import ID_CHARS, RecordId, new_token
from gitmem.patterns import late
from gitmem.values import dataclass
from gitmem.vault.layout import VaultLayout

MAX_SESSIONS = 200
"""How many sessions are kept, the latest."""
MAX_AGE_S = 7 * 24 * 3600
"""After which time without a recall a session's file goes."""
MAX_RECORDS = 100
MAX_FILE_BYTES = 16 << 10
_NAME = late(r"[0-9a-f]{32}(?:\.json|-[^/]*\.tmp)")


class News(StrEnum):
    """What a recall is to its session."""

    NEW = "new"
    UNCHANGED = "unchanged"
    SUPERSEDED = "superseded"
    NOTHING = "nothing"


@dataclass(frozen=True)
class _Shown:
    digest: str
    ids: tuple[RecordId, ...]


_NOTHING = _Shown("", ())


def keep_digest(
    layout: VaultLayout, session: str, text: str, ids: Sequence[RecordId], clock: Clock
) -> tuple[News, tuple[RecordId, ...]]:
    """Remember what a recall gave ``session``, and return what it is to it, with the ids that were shown before.

    ``text`` is empty for a prompt that nothing fits. ``unchanged``: the same text was shown last. ``superseded``:
    nothing fits now, and records were shown last. ``nothing``: nothing now, nothing last. Otherwise ``new``, also
    where that can't be remembered. Without a session nothing is kept: ``new`` or ``nothing``. Writes runtime; never
    raises ``OSError``.
    """
    if not session:
        return (News.NEW if text else News.NOTHING), ()
    name = _file_of(layout, session)
    last = _load(name)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""
    now = _Shown(digest, tuple(ids[:MAX_RECORDS]) if text else ())
    if not text and not last.digest:
        return News.NOTHING, ()
    is_kept = _save(name, now, clock)
    if not text:
        return News.SUPERSEDED, last.ids
    return (News.UNCHANGED if is_kept and now == last else News.NEW), last.ids


def reset_digest(layout: VaultLayout, session: str) -> bool:
    """Forget what ``session`` was shown, as after a compaction: the next recall is told in full.

    Tells whether anything was kept. Raises ``OSError`` where it can't be removed.
    """
    if not session or os.path.islink(layout.recall):
        return False
    try:
        os.unlink(_file_of(layout, session))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _file_of(layout: VaultLayout, session: str) -> str:
    hashed = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return os.path.join(layout.recall, f"{hashed}.json")


def _load(name: str) -> _Shown:
    try:
        value = json.loads(read_regular(name, MAX_FILE_BYTES))
        digest, ids = value["digest"], value["ids"]
        if isinstance(digest, str) and isinstance(ids, list) and len(ids) <= MAX_RECORDS and all(map(_is_id, ids)):
            return _Shown(digest, tuple(map(RecordId, ids)))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return _NOTHING


def _is_id(value: object) -> bool:
    return isinstance(value, str) and len(value) == ID_CHARS and value.isascii() and value.isalnum()


def _save(name: str, shown: _Shown, clock: Clock) -> bool:
    """Write the file, or remove it where it can't be written: an old one would be taken for what was shown last."""
    folder = os.path.dirname(name)
    temp = f"{name.removesuffix('.json')}-{new_token()}.tmp"
    try:
        if os.path.islink(folder):
            return False
        is_new = not os.path.lexists(name)
        ensure_folder(folder)
        data = json.dumps({"digest": shown.digest, "ids": shown.ids}).encode()
        # Not flushed: what a power cut takes is told once more.
        with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600), "wb") as file:
            file.write(data)
        os.replace(temp, name)
    except OSError:
        for left in (temp, name):
            with contextlib.suppress(OSError):
                os.unlink(left)
        return False
    if is_new:
        _drop_old(folder, clock)
    return True


def _drop_old(folder: str, clock: Clock) -> None:
    """Remove the files of the oldest sessions beyond ``MAX_SESSIONS``, and all beyond ``MAX_AGE_S``; ours only."""
    with contextlib.suppress(OSError):
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
        found.sort(reverse=True)
        oldest_ns = clock.time_ns() - MAX_AGE_S * 10**9
        for number, (mtime_ns, path) in enumerate(found):
            if number >= MAX_SESSIONS or mtime_ns < oldest_ns:
                os.unlink(path)
