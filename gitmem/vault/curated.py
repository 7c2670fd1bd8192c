"""What is remembered of curating: the newest curated sessions, and which ideas were had. In runtime, never in Git.

Losing it costs little: a later part of a session isn't linked to the earlier one, and what repeats is counted anew.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.ids import RecordId
from gitmem.model.session import MAX_KEPT_CHANGED, Runs, Session
from gitmem.typed import Any
from gitmem.values import dataclass, field, replace
from gitmem.vault.layout import VaultLayout
from gitmem.vault.schema import validate

MAX_SESSIONS = 200
"""How many curated sessions are remembered, the newest."""
MAX_IDEAS = 2000
_MAX_BYTES = 32 << 20


@dataclass(frozen=True)
class Curated:
    """What is remembered. ``sessions`` are oldest first.

    ``ideas`` says of each idea, by the id of its candidate, how many sessions spoke for it when it was last proposed.
    ``place`` is the id of the record that was looked at last. ``is_lost`` says that there was something that can't be
    read.
    """

    sessions: tuple[Session, ...] = ()
    ideas: Mapping[str, int] = field(default_factory=dict)
    place: str = ""
    is_lost: bool = False

    def find_last_part(self, source: str) -> Session | None:
        """Return the newest part of the session ``source`` (``host/session``) that is remembered."""
        return max((one for one in self.sessions if one.source == source), key=lambda one: one.part, default=None)

    def with_sessions(self, sessions: Sequence[Session]) -> Curated:
        """Return this with ``sessions``, each part once; the oldest beyond ``MAX_SESSIONS`` are forgotten."""
        told = {(one.source, one.part): one for one in (*self.sessions, *sessions)}
        ordered = sorted(told.values(), key=lambda one: (one.end, one.source, one.part))
        return replace(self, sessions=tuple(ordered[-MAX_SESSIONS:]))

    def with_ideas(self, ideas: Mapping[RecordId, int]) -> Curated:
        """Return this with ``ideas``, which count as the newest; the oldest beyond ``MAX_IDEAS`` are forgotten."""
        kept = {name: count for name, count in self.ideas.items() if name not in ideas} | dict(ideas)
        return replace(self, ideas=dict(list(kept.items())[-MAX_IDEAS:]))


def load_curated(layout: VaultLayout) -> Curated:
    """Return what is remembered, nothing where nothing is; one that can't be read is as nothing, and said to be lost.

    Raises ``UnavailableError`` (``curated-unreadable``) where the file can't be opened.
    """
    try:
        value: Any = json.loads(read_regular(layout.curated_file, _MAX_BYTES))
        validate("curated", value)
        return Curated(
            sessions=tuple(map(_session_from_json, value["sessions"])),
            ideas=value["ideas"],
            place=value["place"],
        )
    except FileNotFoundError:
        return Curated()
    except OSError as error:
        raise _unreadable(layout, error) from None
    except (ValueError, RecursionError, GitmemError):
        return Curated(is_lost=True)


def save_curated(layout: VaultLayout, curated: Curated) -> None:
    """Write what is remembered; durable. Raises ``OSError``."""
    value = {
        "sessions": [_session_to_json(one) for one in curated.sessions],
        "ideas": dict(curated.ideas),
        "place": curated.place,
    }
    ensure_folder(layout.runtime)
    replace_file(layout.curated_file, (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


@contextlib.contextmanager
def hold_curating(layout: VaultLayout, timeout_s: float) -> Iterator[None]:
    """Let nobody else curate this vault inside the ``with`` block.

    Raises ``UnavailableError``: ``curate-busy`` after ``timeout_s`` seconds, ``curated-unreadable`` where the lock
    can't be made.
    """
    from filelock import FileLock, Timeout

    try:
        ensure_folder(layout.runtime)
        lock = FileLock(layout.curate_lock, mode=0o600)
        lock.acquire(timeout=timeout_s)
    except Timeout:
        raise UnavailableError("curate-busy", "another process curates this vault", "Try again in a moment.") from None
    except OSError as error:
        raise _unreadable(layout, error) from None
    try:
        yield
    finally:
        lock.release()


def _session_to_json(one: Session) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(replace(one, changed=one.changed[:MAX_KEPT_CHANGED]))


def _session_from_json(value: dict[str, Any]) -> Session:
    runs = tuple(Runs(**(run | {"between": tuple(run["between"])})) for run in value["runs"])
    tools = tuple((name, number) for name, number in value["tools"])
    return Session(**(value | {"runs": runs, "tools": tools, "changed": tuple(value["changed"])}))


def _unreadable(layout: VaultLayout, error: OSError) -> UnavailableError:
    return UnavailableError(
        "curated-unreadable",
        f"what was curated before can't be told: {error.strerror or error}",
        f"Look at {layout.curated_file} and who may read it.",
    )
