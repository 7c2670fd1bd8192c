"""Candidates on disk: one JSON file each in runtime, and what became of those that were decided. Never in Git.

A file that can't be read is told as a problem and left as it is; it is never taken for an empty inbox.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence

from gitmem.clock import Clock, SystemClock
from gitmem.disk import ensure_folder, flush_folder, read_regular, replace_file
from gitmem.errors import GitmemError, InputError, UnavailableError
from gitmem.model.authority import Surface
from gitmem.model.candidate import Candidate, Decided, Fate, Near, Wants
from gitmem.model.ids import OpId, RecordId, is_record_id
from gitmem.model.record import Problem
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.draft_json import draft_from_json, draft_to_json
from gitmem.vault.layout import VaultLayout
from gitmem.vault.os_lock import try_lock
from gitmem.vault.schema import validate

MAX_CANDIDATE_BYTES = 1 << 20
MAX_ACCEPTING_BYTES = 64 << 20
DEFAULT_WAIT_S = 10.0
POLL_S = 0.002
_SYSTEM_CLOCK = SystemClock()


@dataclass(frozen=True)
class Inbox:
    """The candidates that wait, oldest first, and a problem for each file that can't be read."""

    candidates: tuple[Candidate, ...]
    problems: tuple[Problem, ...] = ()


def load_inbox(layout: VaultLayout) -> Inbox:
    """Return what waits. Raises ``UnavailableError`` (``inbox-unreadable``) where the folder itself can't be read."""
    found, problems = [], []
    for name in _names(layout.inbox):
        try:
            found.append(candidate_from_json(_read(os.path.join(layout.inbox, name), "candidate")))
        except (OSError, ValueError, GitmemError) as error:
            problems.append(Problem("candidate-unreadable", f"a candidate can't be read: {error}", f"inbox/{name}"))
    return Inbox(tuple(sorted(found, key=lambda one: (one.created, one.id))), tuple(problems))


def load_candidate(layout: VaultLayout, candidate_id: str) -> Candidate | None:
    """Return one candidate, ``None`` where none of that id waits. Raises ``InputError`` (``candidate-unreadable``)."""
    if not is_record_id(candidate_id):
        return None
    try:
        return candidate_from_json(_read(_file_of(layout.inbox, candidate_id), "candidate"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, GitmemError) as error:
        hint = f"Look at inbox/{candidate_id}.json in the vault's runtime folder."
        raise InputError("candidate-unreadable", f"the candidate can't be read: {error}", hint) from None


def save_candidate(layout: VaultLayout, candidate: Candidate) -> None:
    """Write ``candidate``, new or in place of the one with its id; durable. Raises ``InputError`` (``schema``)."""
    value = candidate_to_json(candidate)
    validate("candidate", value)
    ensure_folder(layout.inbox)
    replace_file(_file_of(layout.inbox, candidate.id), _format(value))


def save_decided(layout: VaultLayout, decided: Decided) -> None:
    """Write what became of a candidate and take it out of the inbox, in this order; durable, and can run twice."""
    value = _decided_to_json(decided)
    validate("candidate", value["candidate"])
    ensure_folder(layout.decided)
    replace_file(_file_of(layout.decided, decided.candidate.id), _format(value))
    _remove(layout.inbox, decided.candidate.id)


def save_accepting(layout: VaultLayout, op_id: OpId, decided: Sequence[Decided]) -> None:
    """Write what ``decided`` is to be once the commit of ``op_id`` is made; durable.

    Whoever finds it later knows by the operation whether it came to that, see ``load_accepting``.
    """
    ensure_folder(layout.inbox)
    value = {"op_id": op_id, "decided": [_decided_to_json(one) for one in decided]}
    replace_file(layout.accepting_file, _format(value))


def load_accepting(layout: VaultLayout) -> tuple[OpId, tuple[Decided, ...]] | None:
    """Return what ``save_accepting`` wrote and nobody brought to its end, ``None`` for nothing.

    A file that can't be read counts as nothing: the ids of the records that it led to tell the same. Raises
    ``OSError``.
    """
    try:
        value = json.loads(read_regular(layout.accepting_file, MAX_ACCEPTING_BYTES))
        return OpId(value["op_id"]), tuple(map(_decided_from_json, value["decided"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, GitmemError):
        return None


def drop_accepting(layout: VaultLayout) -> None:
    """Take the file of ``save_accepting`` away, if it is there; durable."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(layout.accepting_file)
        flush_folder(layout.inbox)


@contextlib.contextmanager
def hold_inbox(layout: VaultLayout, timeout_s: float = DEFAULT_WAIT_S, clock: Clock = _SYSTEM_CLOCK) -> Iterator[None]:
    """Let nobody else write to the inbox inside the ``with`` block. Not to be taken with the vault's lock held.

    Raises ``UnavailableError``: ``inbox-busy`` after ``timeout_s`` seconds, ``inbox-unwritable`` for a lock that can't
    be made.
    """
    try:
        ensure_folder(layout.runtime)
        end_s = clock.monotonic_s() + timeout_s
        while (lock := try_lock(layout.inbox_lock)) is None:
            if clock.monotonic_s() >= end_s:
                message = "another process writes to the inbox"
                raise UnavailableError("inbox-busy", message, "Try again in a moment.")
            clock.sleep_s(POLL_S)
    except OSError as error:
        raise UnavailableError(
            "inbox-unwritable",
            f"the inbox can't be written: {error.strerror or error}",
            f"Look at what lies in {layout.runtime} and who may write there.",
        ) from None
    try:
        yield
    finally:
        lock.release()


def load_decided(layout: VaultLayout) -> tuple[Decided, ...]:
    """Return what was decided, oldest first; files that can't be read are passed over, they only save asking again."""
    found = []
    for name in _names(layout.decided):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, GitmemError):
            found.append(_decided_from_json(_read(os.path.join(layout.decided, name))))
    return tuple(sorted(found, key=lambda one: (one.time, one.candidate.id)))


def drop_decided(layout: VaultLayout, ids: Iterable[str]) -> None:
    """Forget that these were decided, so that the same may be proposed again. Those that are not there do no harm."""
    for one in ids:
        _remove(layout.decided, one)


def drop_oldest_decided(layout: VaultLayout, keep: int) -> None:
    """Forget the oldest of what was decided, until ``keep`` are left. Reads nothing where there are no more."""
    if len(_names(layout.decided)) > keep:
        decided = load_decided(layout)
        drop_decided(layout, [one.candidate.id for one in decided[: max(0, len(decided) - keep)]])


def take_back(layout: VaultLayout, candidate_id: str) -> Candidate | None:
    """Put a decided candidate back into the inbox and return it; ``None`` where none of that id was decided."""
    decided = next((one for one in load_decided(layout) if one.candidate.id == candidate_id), None)
    if decided is None:
        return None
    save_candidate(layout, decided.candidate)
    _remove(layout.decided, candidate_id)
    return decided.candidate


def candidate_to_json(one: Candidate) -> dict[str, Any]:
    """Return the candidate as ``schema/candidate.schema.json`` describes it; what is empty is left out."""
    value: dict[str, Any] = {
        "id": one.id,
        "created": one.created,
        "expires": one.expires,
        "deferred": one.deferred,
        "deferred_by": one.deferred_by.value if one.deferred_by else None,
        "wants": one.wants.value,
        **draft_to_json(one.draft),
        "targets": list(one.targets),
        "reason": one.reason,
        "actor": one.actor,
        "surface": one.surface.value,
        "sources": list(one.sources),
        "seen": one.seen,
        "why": list(one.why),
        "near": [{"id": near.id, "share": near.share, "is_candidate": near.is_candidate} for near in one.near],
        "contradicts": list(one.contradicts),
        "worth": one.worth,
    }
    return {name: member for name, member in value.items() if member not in (None, "", []) or name == "body"}


def candidate_from_json(value: dict[str, Any]) -> Candidate:
    """Return the candidate that ``candidate_to_json`` made. Raises ``InputError`` (``schema``) for anything else."""
    validate("candidate", value)
    return Candidate(
        id=RecordId(value["id"]),
        created=value["created"],
        draft=draft_from_json(value),
        wants=Wants(value["wants"]),
        targets=tuple(map(RecordId, value.get("targets", ()))),
        reason=value.get("reason", ""),
        actor=value["actor"],
        surface=Surface(value["surface"]),
        sources=tuple(value.get("sources", ())),
        seen=value["seen"],
        why=tuple(value.get("why", ())),
        near=tuple(Near(RecordId(one["id"]), one["share"], one["is_candidate"]) for one in value.get("near", ())),
        contradicts=tuple(map(RecordId, value.get("contradicts", ()))),
        worth=value["worth"],
        expires=value.get("expires"),
        deferred=value.get("deferred"),
        deferred_by=Surface(value["deferred_by"]) if "deferred_by" in value else None,
    )


def _decided_to_json(one: Decided) -> dict[str, Any]:
    return {
        "candidate": candidate_to_json(one.candidate),
        "fate": one.fate.value,
        "time": one.time,
        "reason": one.reason,
        "op_id": one.op_id,
    }


def _decided_from_json(value: dict[str, Any]) -> Decided:
    candidate = candidate_from_json(value["candidate"])
    return Decided(candidate, Fate(value["fate"]), value["time"], value["reason"], value["op_id"])


def _read(path: str, schema: str | None = None) -> dict[str, Any]:
    value = json.loads(read_regular(path, MAX_CANDIDATE_BYTES))
    if schema is not None:
        validate(schema, value)
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - what is wrong is the file, not a caller
    return value


def _format(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _file_of(folder: str, candidate_id: str) -> str:
    return os.path.join(folder, f"{candidate_id}.json")


def _remove(folder: str, candidate_id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_file_of(folder, candidate_id))
        flush_folder(folder)


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if is_record_id(name.removesuffix(".json")))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(error, folder) from None


def _unreadable(error: OSError, folder: str) -> UnavailableError:
    return UnavailableError(
        "inbox-unreadable",
        f"the inbox can't be read: {error.strerror or error}",
        f"Look at what lies in {folder} and who may read it.",
    )
