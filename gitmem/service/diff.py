"""What changed between two moments of the vault, told in records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gitmem.clock import format_utc, moment_at
from gitmem.errors import InputError
from gitmem.git.history import read_commit
from gitmem.git.trees import diff_trees, tree_of
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.model.record import Record, State, state_of
from gitmem.service.differences import LineChanges, compare_lines
from gitmem.service.hidden import Hidden
from gitmem.service.reading import find_hidden, mask
from gitmem.service.revision import get_revision
from gitmem.service.sides import Pair, Side, Source, pair_up
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass

CHANGES = ("added", "promoted", "retired", "restored", "moved", "edited", "removed", "unreadable")
"""What may have become of a record, in the order in which records are told."""
_MOVES = {State.PROMOTED: "promoted", State.RETIRED: "retired"}
MAX_SHOWN_LINES = 10_000
MAX_VALUE_CHARS = 1000
MAX_ITEMS = 100


@dataclass(frozen=True)
class Bounds:
    """How much is told: so many records, and so many lines of the text of each."""

    records: int = 50
    lines: int = 12


_BOUNDS = Bounds()


def diff(
    vault: OpenVault,
    older: str | None = None,
    newer: str | None = None,
    *,
    to_worktree: bool = False,
    bounds: Bounds = _BOUNDS,
) -> Answer:
    """Return what became of each record between two moments, as rows: by ``change``, then title.

    ``older`` and ``newer`` are what ``get_revision`` reads. Left out, ``newer`` is HEAD, or with ``to_worktree`` the
    files as they are now, and ``older`` what was before HEAD's commit, or with ``to_worktree`` HEAD; before its first
    commit the vault was empty. A row has ``change`` (one of ``CHANGES``), ``id``, ``path``, ``old_path``,
    ``title``, ``summary``, ``state``, ``kind``,
    ``properties`` (``name``, ``old``, ``new``, long ones cut), ``lines`` of the text as ``diff -u`` shows them with
    ``lines_added``, ``lines_removed`` and ``lines_omitted``, and ``message`` where it can't be read; secrets are
    masked. A note that is no record has no ``id``. Of private records, and those that are private now, nothing but
    their number is told.

    ``extra`` has ``from`` and ``to`` (``commit`` and ``time``; of the work tree ``None``), ``counts`` by change,
    ``private``, ``other_files`` and ``omitted``. Costs what differs, and with ``to_worktree`` a look at every file.
    Raises ``InputError`` (``bad-limit``, ``bad-range`` and what ``get_revision`` raises).
    """
    if bounds.records < 1 or not 0 <= bounds.lines <= MAX_SHOWN_LINES:
        raise InputError("bad-limit", "so many records or lines can't be shown", "Give 1 or more; lines may be 0.")
    if to_worktree and newer is not None:
        raise InputError("bad-range", "the work tree and a second revision can't both be the end", "Leave one out.")
    settled = vault.settle_abandoned()
    head = vault.head()
    old, new = _find_ends(vault, head, older, newer, to_worktree=to_worktree)
    paths = _list_paths(vault, old, new, to_worktree=to_worktree)
    source = Source(vault, old, None if to_worktree else new)
    notes = [path for path in paths if state_of(path) is not None and path.endswith(".md")]
    asked = [new] if old is None else [old, new]
    pairs = pair_up(source, notes)
    shown, private = _split(source, pairs, find_hidden(vault, asked))
    told = {side.path for one in pairs for side in (one.old, one.new) if side is not None}
    ordered = sorted(shown, key=lambda one: (CHANGES.index(_name_change(one)), _title(one).casefold(), one.path))
    rows = tuple(_row(source, one, bounds.lines) for one in ordered[: bounds.records])
    counts = Counter(map(_name_change, shown))
    extra = {
        "from": _moment(vault, old),
        "to": None if to_worktree else _moment(vault, new),
        "counts": {change: counts[change] for change in CHANGES if counts[change]},
        "private": private,
        "other_files": len(set(paths) - told),
        "omitted": len(ordered) - len(rows),
    }
    status = Status.OK if paths else Status.NO_MATCH
    return Answer(status, new, rows=rows, diagnostics=settled, extra=extra)


def _find_ends(
    vault: OpenVault, head: CommitId, older: str | None, newer: str | None, *, to_worktree: bool
) -> tuple[CommitId | None, CommitId]:
    new = head if newer is None else get_revision(vault, newer)
    if older is not None:
        return _find_start(vault, older), new
    if to_worktree:
        return head, new
    parents = read_commit(vault.repo, new).parents
    return (parents[0] if parents else None), new


def _find_start(vault: OpenVault, text: str) -> CommitId | None:
    """Return the commit that ``text`` names, ``None`` for a time before the first one: nothing was there yet."""
    try:
        return get_revision(vault, text)
    except InputError as error:
        if error.code == "no-commit-then":
            return None
        raise


def _list_paths(vault: OpenVault, old: CommitId | None, new: CommitId, *, to_worktree: bool) -> list[str]:
    before = None if old is None else tree_of(vault.repo, old)
    found = set(diff_trees(vault.repo, before, tree_of(vault.repo, new)))
    if to_worktree:
        found |= set(vault.repo.dirty_paths())
    return sorted(found)


def _split(source: Source, pairs: list[Pair], hidden: Hidden) -> tuple[list[Pair], int]:
    """Return the pairs that may be told, and how many may not."""
    shown = [one for one in pairs if not one.is_private and not _is_hidden(source, one, hidden)]
    return shown, len(pairs) - len(shown)


def _is_hidden(source: Source, one: Pair, hidden: Hidden) -> bool:
    sides = [side for side in (one.old, one.new) if side is not None]
    return any(side.id in hidden if side.id else hidden.has_note(side.path, source.read_data(side)) for side in sides)


def _name_change(one: Pair) -> str:
    if one.new is not None and one.new.problem is not None:
        return "unreadable"
    if one.old is None or one.new is None:
        return "added" if one.old is None else "removed"
    before, after = state_of(one.old.path), state_of(one.new.path)
    if before is not after and after is not None:
        return "restored" if before is State.RETIRED else _MOVES.get(after, "moved")
    return "edited" if one.old.path == one.new.path else "moved"


def _title(one: Pair) -> str:
    return (one.new or one.old or Side(one.path)).title


def _row(source: Source, one: Pair, max_lines: int) -> dict[str, Any]:
    old, new = (None if side is None else source.read(side) for side in (one.old, one.new))
    masked = [None if side is None else mask(*side)[0] for side in (old, new)]
    before, after = masked
    here = after or before
    known = {} if here is None else _describe(here)
    is_readable = all(side is None or side.problem is None for side in (one.old, one.new))
    is_pair = is_readable and before is not None and after is not None
    lines = LineChanges()
    properties: list[dict[str, Any]] = []
    if is_readable and before is not None and after is not None:
        lines = compare_lines(before.body, after.body, max_lines)
        properties = _compare_properties(before.properties, after.properties)
    return {
        "change": _name_change(one),
        **known,
        "path": one.path,
        "old_path": one.old.path if one.old is not None and one.old.path != one.path else None,
        "properties": properties,
        "lines": list(lines.lines),
        "lines_added": lines.added,
        "lines_removed": lines.removed,
        "lines_omitted": lines.omitted,
        "unshown": is_pair and one.has_other_bytes and not properties and not (lines.lines or lines.omitted),
        "message": one.new.problem if one.new is not None else None,
    }


def _describe(record: Record) -> dict[str, Any]:
    return {
        **({"id": record.id} if record.id else {}),
        "title": record.title,
        "summary": record.summary,
        "state": record.state.value,
        "kind": record.kind.value if record.kind else None,
    }


def _compare_properties(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the properties that differ, in the order of the newer record, those that went last."""
    names = [*after, *(name for name in before if name not in after)]
    return [
        {"name": name, "old": _bound(before.get(name)), "new": _bound(after.get(name))}
        for name in names
        if name not in before or name not in after or before[name] != after[name]
    ]


def _bound(value: Any) -> Any:
    """Return a property's value no longer than an answer should be: texts cut, of lists the first items."""
    if isinstance(value, str):
        return value if len(value) <= MAX_VALUE_CHARS else value[: MAX_VALUE_CHARS - 1] + "…"
    if isinstance(value, list):
        return [_bound(one) for one in value[:MAX_ITEMS]]
    if isinstance(value, dict):
        return {name: _bound(one) for name, one in list(value.items())[:MAX_ITEMS]}
    return value


def _moment(vault: OpenVault, commit: CommitId | None) -> dict[str, str] | None:
    if commit is None:
        return None
    time = moment_at(read_commit(vault.repo, commit).time)
    return {"commit": commit, "time": format_utc(time)}
