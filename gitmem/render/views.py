"""The views: ``catalog.json`` and ``INDEX.md``, pure functions of the committed records (INV-VIEWS). Design section 5.

The catalog holds one record a line, sorted by the random id. Every such line ends in a comma and a ``null`` closes the
list, so that adding a record adds one line and changes no other. The ids are cut into 1,024 buckets by their first
two characters, and a blank line stands between two buckets whether they hold anything or not: Git takes edits of
neighbouring lines for a conflict, and in a small vault every line is a neighbour. With more shards the same buckets
lie in 32 files of 32, or in 1,024 files of one.
"""

from __future__ import annotations

import functools
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from gitmem.errors import IntegrityError
from gitmem.model.change import RecordChange
from gitmem.model.ids import ALPHABET, ID_CHARS, RecordId
from gitmem.model.record import Record, State
from gitmem.model.settings import FORMAT, SHARD_COUNTS
from gitmem.patterns import late
from gitmem.render.index_page import render_index
from gitmem.text import make_visible
from gitmem.typed import Any

CATALOG = "catalog.json"
INDEX = "INDEX.md"

_SHARD = late(f"catalog/[{ALPHABET}]{{1,2}}\\.json")
_ABOUT = "Made by gitmem, one record a line. Don't edit. Blank lines keep merges clean; null ends the list."
_TAIL = b"null]}\n"
_LINE_START = b'{"id":"'
_ID_AT = len(_LINE_START)
_BUCKETS = {f"{a}{b}".encode(): i * 32 + j for i, a in enumerate(ALPHABET) for j, b in enumerate(ALPHABET)}
_LISTED = (f'"state":"{State.BASELINE}"'.encode(), f'"state":"{State.PROMOTED}"'.encode())

Read = Callable[[str], bytes | None]


def is_view(path: str) -> bool:
    """Tell whether ``path`` is one that gitmem generates: the index page, the catalog or one of its shards."""
    return path in (CATALOG, INDEX) or _SHARD.fullmatch(path) is not None


def catalog_line(record: Record) -> str | None:
    """Return the record as one JSON object on one line, or ``None`` for a private one, which no view names.

    Members in this order, absent ones left out: id, path, state, kind, authority, title, summary, tags, key; of a
    retired record only the first three. Hidden characters are written as visible escapes.
    """
    if record.private:
        return None
    entry: dict[str, Any] = {"id": record.id, "path": record.path, "state": record.state}
    if record.state is not State.RETIRED:
        entry |= {
            "kind": record.kind,
            "authority": record.authority,
            "title": make_visible(record.title),
            "summary": make_visible(record.summary),
            "tags": [make_visible(tag) for tag in record.tags],
            "key": make_visible(record.key or ""),
        }
    return json.dumps(
        {name: value for name, value in entry.items() if value}, ensure_ascii=False, separators=(",", ":")
    )


def render_views(records: Iterable[Record], shards: int) -> dict[str, bytes]:
    """Return every view of ``records``, made from scratch, by path. ``shards`` is one of ``SHARD_COUNTS``.

    The order of ``records`` doesn't matter. Where two have the same id, the first path in order is listed.
    """
    by_id: dict[RecordId, Record] = {}
    for record in sorted(records, key=lambda record: record.path):
        by_id.setdefault(record.id, record)
    contents: dict[str, list[bytes]] = {CATALOG: []} if shards == 1 else {}
    for record_id, record in sorted(by_id.items()):
        if line := _encode(record):
            contents.setdefault(_shard_path(record_id, shards), []).append(line)
    views = {path: _format_shard(lines, shards) for path, lines in contents.items()}
    if shards > 1:
        views[CATALOG] = _format_pointer(shards)
    views[INDEX] = _format_index(line for lines in contents.values() for line in lines)
    return views


def update_views(read: Read, changes: Sequence[RecordChange], shards: int) -> dict[str, bytes | None]:
    """Return the views that ``changes`` alter, by path; ``None`` for a shard that holds nothing any more.

    ``read(path)`` gives a view as the last commit has it, ``None`` where it has none; views that are missing
    altogether are begun. Together with the views it leaves out, the result equals ``render_views`` of the records
    after ``changes``. Only the shards of changed records are read and made anew, and all the others only when
    something that the index page lists is added, altered or gone.

    Raises ``IntegrityError`` (``view-damaged``) for a touched view that is out of shape: conflict markers, lines in
    another order, another number of shards. Then ``render_views`` makes all of them anew.
    """
    read = functools.cache(read)
    latest = {change.id: change.after for change in changes}
    touched: dict[str, dict[RecordId, bytes | None]] = {CATALOG: {}} if shards == 1 else {}
    for record_id, record in latest.items():
        line = None if record is None else _encode(record)
        touched.setdefault(_shard_path(record_id, shards), {})[record_id] = line
    views: dict[str, bytes | None] = {}
    index_is_stale = read(INDEX) is None
    for path, new_lines in touched.items():
        lines, changed = _splice(_parse_shard(path, read(path), shards), new_lines)
        index_is_stale |= any(_is_listed(line) for line in changed)
        views[path] = _format_shard(lines, shards) if lines or shards == 1 else None
    if shards > 1:
        views[CATALOG] = _format_pointer(shards)
        if read(CATALOG) not in (None, views[CATALOG]):
            raise _damaged(CATALOG)
    if index_is_stale:
        views[INDEX] = _format_index(_iter_lines(views[p] if p in views else read(p) for p in _shard_paths(shards)))
    return {path: data for path, data in views.items() if data != read(path)}


def reshard_views(read: Read, shards: int, new_shards: int) -> dict[str, bytes | None]:
    """Return the views that change when the catalog goes from ``shards`` to ``new_shards`` files.

    ``None`` stands for files that go. ``read(path)`` gives a view as the last commit has it. No record is read: the
    same lines go into other files. Raises ``IntegrityError`` (``view-damaged``) for a file that is out of shape.
    """
    old = {path: read(path) for path in _shard_paths(shards)}
    contents: dict[str, list[bytes]] = {CATALOG: []} if new_shards == 1 else {}
    for path, data in old.items():
        for line in _parse_shard(path, data, shards):
            record_id = line[_ID_AT : _ID_AT + ID_CHARS].decode()
            contents.setdefault(_shard_path(record_id, new_shards), []).append(line)
    views: dict[str, bytes | None] = {path: None for path, data in old.items() if data is not None}
    views |= {path: _format_shard(lines, new_shards) for path, lines in contents.items()}
    if new_shards > 1:
        views[CATALOG] = _format_pointer(new_shards)
    return views


def _encode(record: Record) -> bytes | None:
    line = catalog_line(record)
    return None if line is None else line.encode() + b","


def _is_listed(line: bytes) -> bool:
    # A quote inside a value is escaped, so no title can look like this member.
    return any(state in line for state in _LISTED)


def _splice(lines: list[bytes], new_lines: Mapping[RecordId, bytes | None]) -> tuple[list[bytes], list[bytes]]:
    """Return the sorted ``lines`` with those of some ids replaced, and the lines that came or went."""
    lines, changed = lines.copy(), []
    for record_id, new in new_lines.items():
        start = _LINE_START + record_id.encode() + b'"'
        at = bisect_left(lines, start)
        end = at + 1 if at < len(lines) and lines[at].startswith(start) else at
        before, after = lines[at:end], [] if new is None else [new]
        if before != after:
            lines[at:end] = after
            changed += before + after
    return lines, changed


def _shard_path(record_id: str, shards: int) -> str:
    prefix = record_id[: SHARD_COUNTS.index(shards)]
    return f"catalog/{prefix}.json" if prefix else CATALOG


def _shard_paths(shards: int) -> list[str]:
    return sorted({_shard_path(bucket.decode(), shards) for bucket in _BUCKETS})


def _format_shard(lines: Iterable[bytes], shards: int) -> bytes:
    """Return the file of sorted ``lines``: head, the lines with a blank one between two buckets, tail."""
    buckets = len(_BUCKETS) // shards
    out, bucket = [_format_head(shards)], 0
    for line in lines:
        at = _BUCKETS[line[_ID_AT : _ID_AT + 2]] % buckets
        out += [b"\n"] * (at - bucket) + [line, b"\n"]
        bucket = at
    out += [b"\n"] * (buckets - 1 - bucket) + [_TAIL]
    return b"".join(out)


def _parse_shard(path: str, data: bytes | None, shards: int) -> list[bytes]:
    if data is None:
        return []
    lines = list(_iter_lines([data]))
    ids = [line[_ID_AT : _ID_AT + ID_CHARS] for line in lines]
    fixed_lines = len(_BUCKETS) // shards + 1
    if (
        not (data.startswith(_format_head(shards)) and data.endswith(_TAIL))
        or data.count(b"\n") != len(lines) + fixed_lines
        or not all(first < second for first, second in pairwise(ids))
        or not all(record_id[:2] in _BUCKETS for record_id in ids)
    ):
        raise _damaged(path)
    return lines


def _damaged(path: str) -> IntegrityError:
    return IntegrityError(
        "view-damaged",
        f"{path} is not as gitmem writes it",
        "Run `gitmem check --repair-views`; it makes the views again from the records.",
        path=path,
    )


def _iter_lines(files: Iterable[bytes | None]) -> Iterator[bytes]:
    for data in files:
        if data is not None:
            yield from (line for line in data.split(b"\n") if line.startswith(_LINE_START))


def _format_head(shards: int) -> bytes:
    return f'{{"about":"{_ABOUT}","format":{FORMAT},"shards":{shards},"records":[\n'.encode()


def _format_pointer(shards: int) -> bytes:
    prefix = "character" if shards == 32 else "two characters"
    pointer = {"about": "Made by gitmem. Don't edit.", "format": FORMAT, "shards": shards}
    return (json.dumps(pointer | {"records_in": f"catalog/<first {prefix} of the id>.json"}, indent=2) + "\n").encode()


def _format_index(lines: Iterable[bytes]) -> bytes:
    return render_index(json.loads(line[:-1]) for line in lines if _is_listed(line)).encode()
