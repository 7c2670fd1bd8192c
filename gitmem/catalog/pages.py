"""Records of the search catalog in the order of a property, a page at a time. Reads; expect a reconciled catalog."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gitmem.catalog.database import Database
from gitmem.catalog.filters import Filters, format_filters
from gitmem.catalog.query import Row, load_rows
from gitmem.text import fold


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


_TIMES = {
    Order.UPDATED: "-CAST(strftime('%s', upper(coalesce(updated, created))) AS INTEGER)",
    Order.CREATED: "-CAST(strftime('%s', upper(created)) AS INTEGER)",
    Order.REVIEW: "date(upper(review_after))",
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
