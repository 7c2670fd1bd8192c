"""Questions to the search catalog. All are reads; all expect a reconciled catalog.

Where SQLite fails they raise ``UnavailableError`` (``catalog-failed``) on a repaired, perhaps empty catalog; ask inside
``Database.attempt`` together with ``reconcile``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.catalog.database import Database
from gitmem.catalog.filters import Filters, format_filters, marks
from gitmem.catalog.rank import Found, find_exact, find_scores, find_telling, format_expression, rank
from gitmem.errors import InputError
from gitmem.model.authority import Authority
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Kind, State
from gitmem.model.vault_path import VaultPath
from gitmem.text import fold, one_line

MAX_LIMIT = 1000
_COLUMNS = (
    "path, id, fingerprint, state, kind, authority, title, key, aliases, tags, summary, created, updated,"
    " verified, valid_from, valid_until, review_after"
)
_SPARE_HITS = 10
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
_NO_FILTERS = Filters()


@dataclass(frozen=True)
class Query:
    """A question in words: the text as it was typed, and its terms, each with the word that it comes from."""

    text: str
    tokens: tuple[tuple[str, str], ...]
    filters: Filters = _NO_FILTERS


@dataclass(frozen=True)
class Match:
    """A record that answers a query. ``matched`` says why, a string for each field: ``title: two workers``.

    ``words`` holds the words of the record that matched, for a snippet. ``score`` is higher for the better match among
    those found in the same way; the order of the matches is the ranking.
    """

    row: Row
    matched: tuple[str, ...]
    words: tuple[str, ...]
    score: float


def search(database: Database, query: Query, limit: int = 10) -> list[Match]:
    """Return at most ``limit`` records that answer ``query``, the best first; none where nothing fits.

    First come records whose key, title or alias the text is, or whose key is a compound word in it; then those with
    every term; then, where these are fewer than ``limit``, those with any of them, by BM25 over the weighted fields. An
    exact word breaks near-ties. Raises ``InputError`` (``bad-limit``) outside 1 to ``MAX_LIMIT``.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InputError("bad-limit", f"a limit is a whole number from 1 to {MAX_LIMIT}", "Ask for 10.")
    terms = [term for term, _word in query.tokens]
    condition, values = format_filters(query.filters)
    text = fold(one_line(query.text.encode("utf-8", "replace").decode()))
    keys = [text, *{fold(word) for _term, word in query.tokens if not word.isalnum()}]
    with database.reading() as connection:
        exact = find_exact(connection, text, keys, condition, values)
        every = find_scores(connection, format_expression(terms, "AND"), condition, values, limit + _SPARE_HITS)
        some: dict[int, float] = {}
        if len(terms) > 1 and len(exact.keys() | every.keys()) < limit:
            expression = format_expression(find_telling(connection, terms), "OR")
            some = find_scores(connection, expression, condition, values, limit + len(every) + _SPARE_HITS)
        found = rank(connection, [every, {row: some[row] for row in some if row not in every}], query.tokens)
        order = [*exact, *(row for row in found if row not in exact)][:limit]
        rows = load_rows(connection, order)
    return [_make_match(rows[row], exact.get(row), found.get(row)) for row in order]


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


def find_by_prefix(database: Database, prefix: str, limit: int = 10) -> list[Row]:
    """Return at most ``limit`` records whose id starts with ``prefix``, by id; none for an empty prefix."""
    if not prefix:
        return []
    return _select(
        database, "id >= ? AND id < ? AND is_shadowed = 0 ORDER BY id LIMIT ?", (prefix, f"{prefix}~", limit)
    )


def find_by_key(database: Database, key: str) -> Row | None:
    """Return the record with this key, whatever its case, or ``None``; the first by path where several have it."""
    return _first_of(_select(database, f"{_HAS_KEY} AND is_shadowed = 0 ORDER BY path", (fold(key),)))


def list_by_key(database: Database, key: str) -> list[Row]:
    """Return every record with this key, whatever its case, by path."""
    return _select(database, f"{_HAS_KEY} ORDER BY path", (fold(key),))


def list_rows(database: Database, filters: Filters = _NO_FILTERS, limit: int = -1) -> list[Row]:
    """Return the records that ``filters`` admits, by path, at most ``limit`` where it is not negative."""
    condition, values = format_filters(filters)
    return _select(database, f"is_shadowed = 0{condition} ORDER BY path LIMIT ?", (*values, limit))


def list_links(database: Database, name: str) -> list[tuple[str, str]]:
    """Return the links that may lead to a file called ``name``, by the path of the note that holds each, then target.

    ``name`` is what ``model.links.link_name`` makes of a path. Each is ``(path, target as written)``; notes that are
    no records are among them, private ones not.
    """
    with database.reading() as connection:
        return connection.execute(
            "SELECT path, target FROM links WHERE name = ? ORDER BY path, target", (name,)
        ).fetchall()


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


def _make_match(row: Row, exact: str | None, found: Found | None) -> Match:
    by_field = found.words if found else {}
    matched = [f"{field}: {' '.join(words)}" for field, words in by_field.items()]
    if exact:
        field, _colon, _name = exact.partition(":")
        matched = [exact, *(reason for reason in matched if not reason.startswith(f"{field}:"))]
    words = dict.fromkeys(word for words in by_field.values() for word in words)
    return Match(row, tuple(matched), tuple(words), found.score if found else 0.0)


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
