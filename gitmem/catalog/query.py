"""Questions to the search catalog. All are reads; all expect a reconciled catalog.

Where SQLite fails they raise ``UnavailableError`` (``catalog-failed``) on a repaired, perhaps empty catalog; ask inside
``Database.attempt`` together with ``reconcile``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from gitmem.catalog.database import Database
from gitmem.catalog.expressions import fold_name
from gitmem.catalog.filters import NO_FILTERS, Filters, format_filters, marks
from gitmem.model.authority import Authority
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Kind, State
from gitmem.model.vault_path import VaultPath
from gitmem.typed import Any
from gitmem.values import dataclass

_COLUMNS = (
    "path, id, fingerprint, state, kind, authority, title, key, aliases, tags, summary, created, updated,"
    " verified, valid_from, valid_until, review_after"
)
_MAX_VALUES = 900
"""Some builds of SQLite take no more than 999 values in one statement."""


@dataclass(frozen=True)
class Row:
    """A record as the catalog knows it: its properties without secrets, nothing of its text. Dates as in the record."""

    id: RecordId
    path: VaultPath
    fingerprint: Fingerprint
    state: State
    kind: Kind | None
    authority: Authority | None
    title: str
    key: str | None
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    summary: str
    created: str | None
    updated: str | None
    verified: str | None
    valid_from: str | None
    valid_until: str | None
    review_after: str | None


_HAS_KEY = "records.rowid IN (SELECT record FROM names WHERE name = ? AND field = 'key')"


def find_row(database: Database, record_id: str) -> Row | None:
    """Return the record with this id, or ``None``; the first by path where two files have it."""
    return _first_of(_select(database, "id = ? AND is_shadowed = 0", (record_id,)))


def list_by_id(database: Database, record_id: str) -> list[Row]:
    """Return every file with this id, by path: one, but for copies that nobody has put right yet."""
    return _select(database, "id = ? ORDER BY path", (record_id,))


def find_fingerprints(database: Database, paths: Iterable[str]) -> dict[str, Fingerprint | None]:
    """Return the fingerprint that the record at each of ``paths`` had when it was taken in, ``None`` where none is."""
    sql = "SELECT fingerprint FROM records WHERE path = ?"
    with database.reading() as connection:
        rows = {path: connection.execute(sql, (path,)).fetchone() for path in paths}
    return {path: Fingerprint(row[0]) if row else None for path, row in rows.items()}


def list_ids(database: Database) -> frozenset[RecordId]:
    """Return the ids of all records; private ones are none of them."""
    with database.reading() as connection:
        return frozenset(record_id for (record_id,) in connection.execute("SELECT id FROM records"))


def count_stored(database: Database) -> tuple[int, int]:
    """Return of how many notes the catalog has signatures, and how many records it holds."""
    with database.reading() as connection:
        return connection.execute("SELECT notes, (SELECT count(*) FROM records) FROM progress").fetchone()  # type: ignore[no-any-return]


def find_by_prefix(database: Database, prefix: str, limit: int = 10) -> list[Row]:
    """Return the records whose id starts with ``prefix``, by id; none for an empty prefix.

    At most ``limit`` where it is not negative.
    """
    if not prefix:
        return []
    return _select(
        database, "id >= ? AND id < ? AND is_shadowed = 0 ORDER BY id LIMIT ?", (prefix, f"{prefix}~", limit)
    )


def find_by_key(database: Database, key: str) -> Row | None:
    """Return the record with this key, whatever its case, or ``None``; the first by path where several have it."""
    return _first_of(_select(database, f"{_HAS_KEY} AND is_shadowed = 0 ORDER BY path", (fold_name(key),)))


def list_by_key(database: Database, key: str) -> list[Row]:
    """Return every record with this key, whatever its case, by path."""
    return _select(database, f"{_HAS_KEY} ORDER BY path", (fold_name(key),))


def list_rows(database: Database, filters: Filters = NO_FILTERS, limit: int = -1) -> list[Row]:
    """Return the records that ``filters`` admits, by path, at most ``limit`` where it is not negative."""
    condition, values = format_filters(filters)
    return _select(database, f"is_shadowed = 0{condition} ORDER BY path LIMIT ?", (*values, limit))


def list_places(
    database: Database, states: Sequence[State], key_prefix: str = ""
) -> list[tuple[VaultPath, RecordId, str | None]]:
    """Return path, id and key of the records in one of ``states``, by path: what is needed of very many.

    Only those whose key begins with ``key_prefix``, if one is given, whatever its case.
    """
    sql = f"SELECT path, id, key FROM records WHERE is_shadowed = 0 AND state IN ({marks(states)})"  # noqa: S608
    values = [state.value for state in states]
    if key_prefix:
        start = fold_name(key_prefix)
        sql += " AND rowid IN (SELECT record FROM names WHERE name >= ? AND name < ? AND field = 'key')"
        values += [start, start[:-1] + chr(ord(start[-1]) + 1)]
    with database.reading() as connection:
        return connection.execute(f"{sql} ORDER BY path", values).fetchall()


def list_links(database: Database, name: str) -> list[tuple[str, str]]:
    """Return the links that may lead to a file called ``name``, by the path of the note that holds each, then target.

    ``name`` is what ``model.links.link_name`` makes of a path. Each is ``(path, target as written)``; notes that are
    no records are among them, private ones not.
    """
    with database.reading() as connection:
        return connection.execute(
            "SELECT path, target FROM links WHERE name = ? ORDER BY path, target", (name,)
        ).fetchall()


def list_superseding(database: Database, names: Sequence[str]) -> list[str]:
    """Return the paths of records, none retired, that name in ``supersedes`` a file called one of ``names``.

    ``names`` are as for ``list_links``. Sorted, each once.
    """
    sql = (
        "SELECT DISTINCT records.path FROM links JOIN records ON records.path = links.path"  # noqa: S608
        f" WHERE links.name IN ({marks(names)}) AND links.supersedes = 1 AND state <> ? ORDER BY records.path"
    )
    with database.reading() as connection:
        return [path for (path,) in connection.execute(sql, (*names, State.RETIRED.value))]


def list_private_paths(database: Database) -> list[str]:
    """Return the paths of private records, in order: all that the catalog knows of them."""
    with database.reading() as connection:
        return [path for (path,) in connection.execute("SELECT path FROM private ORDER BY path")]


def load_rows(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Row]:
    """Return the records with these row numbers, by number."""
    found: dict[int, Row] = {}
    for start in range(0, len(numbers), _MAX_VALUES):
        some = tuple(numbers[start : start + _MAX_VALUES])
        rows = connection.execute(f"SELECT {_COLUMNS}, rowid FROM records WHERE rowid IN ({marks(some)})", some)  # noqa: S608
        found |= {row[-1]: _make_row(row[:-1]) for row in rows}
    return found


def _select(database: Database, condition: str, values: tuple[Any, ...]) -> list[Row]:
    with database.reading() as connection:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM records WHERE {condition}", values)  # noqa: S608
        return [_make_row(row) for row in rows]


def _make_row(values: tuple[Any, ...]) -> Row:
    path, record_id, print_, state, kind, authority, title, key, aliases, tags, *rest = values
    return Row(
        record_id,
        path,
        print_,
        State(state),
        Kind(kind) if kind else None,
        Authority(authority) if authority else None,
        title,
        key,
        tuple(aliases.split("\n")) if aliases else (),
        tuple(tags.split("\n")) if tags else (),
        *rest,
    )


def _first_of(rows: Sequence[Row]) -> Row | None:
    return rows[0] if rows else None
