"""Records of the search catalog in the order of a property, a page at a time. Reads; expect a reconciled catalog."""

from __future__ import annotations

from enum import StrEnum

from gitmem.catalog.database import Database
from gitmem.catalog.filters import REVIEW_DAY, Filters, format_filters, format_moment
from gitmem.catalog.query import Row, load_rows
from gitmem.text import fold
from gitmem.typed import NamedTuple
from gitmem.values import replace


class Order(StrEnum):
    """By what records are sorted: names ascending, times newest first, reviews the longest due first."""

    TITLE = "title"
    UPDATED = "updated"
    CREATED = "created"
    PATH = "path"
    REVIEW = "review"


class Page(NamedTuple):
    """Some records in order, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int


class Timed(NamedTuple):
    """Some records by time, newest first, each with it in seconds since 1970; how many there are in all, and without.

    ``undated`` counts the records that have no such time.
    """

    rows: tuple[tuple[int, Row], ...]
    total: int
    undated: int


_TIMES = {
    Order.UPDATED: f"-{format_moment('coalesce(updated, created)')}",
    Order.CREATED: f"-{format_moment('created')}",
    Order.REVIEW: REVIEW_DAY,
}


def list_page(database: Database, filters: Filters, order: Order, limit: int | None = None, offset: int = 0) -> Page:
    """Return the records that ``filters`` admits, in ``order``, at most ``limit`` of them behind the first ``offset``.

    Equal ones are sorted by title, then id; those without the time that is sorted by come last. Of the others no more
    than what is sorted by is loaded.
    """
    condition, values = format_filters(filters)
    column = _TIMES.get(order, "path" if order is Order.PATH else "NULL")
    with database.reading() as connection:
        found = connection.execute(
            f"SELECT {column}, title, id, rowid FROM records WHERE is_shadowed = 0{condition}",  # noqa: S608
            values,
        )
        keys = sorted((key is None, key or 0, fold(title), record, number) for key, title, record, number in found)
        numbers = [one[-1] for one in keys[offset : None if limit is None else offset + limit]]
        rows = load_rows(connection, numbers)
    return Page(tuple(rows[number] for number in numbers), len(keys))


def list_timed(database: Database, filters: Filters, order: Order, limit: int) -> Timed:
    """Return the records that ``filters`` admits by when they were created or updated, the newest ``limit`` of them.

    ``since`` and ``until`` of the filters hold for that very time.
    """
    condition, values = format_filters(replace(filters, since=None, until=None))
    since = filters.since.timestamp() if filters.since else float("-inf")
    until = filters.until.timestamp() if filters.until else float("inf")
    with database.reading() as connection:
        found = connection.execute(
            f"SELECT {_TIMES[order]}, title, id, rowid FROM records WHERE is_shadowed = 0{condition}",  # noqa: S608
            values,
        ).fetchall()
        dated = [(key, fold(title), record, number) for key, title, record, number in found if key is not None]
        keys = sorted(one for one in dated if since <= -one[0] < until)
        rows = load_rows(connection, [one[-1] for one in keys[:limit]])
    return Timed(tuple((-one[0], rows[one[-1]]) for one in keys[:limit]), len(keys), len(found) - len(dated))
