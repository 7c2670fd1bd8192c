"""Records by what is asked for, sorted, a page at a time."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.record import Record
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.text import fold, fold_tag
from gitmem.typed import Any
from gitmem.values import dataclass

SORTS = ("title", "updated", "created", "path", "review")


@dataclass(frozen=True)
class Paging:
    """Which part of a list: at most ``limit`` records (``None``: all) behind the first ``offset``, sorted by ``sort``.

    ``sort`` is one of ``SORTS``; times come newest first, reviews the longest due first.
    """

    limit: int | None = None
    offset: int = 0
    sort: str = "title"


_ALL = Paging()


def list_records(vault: OpenVault, filters: Filters, paging: Paging = _ALL, as_of: str | None = None) -> Answer:
    """Return the records that ``filters`` admits as hits, in the order of ``paging``.

    ``matched`` says which tags of a record answer the tags that were asked for. ``extra["omitted"]`` counts the records
    behind the last one, ``extra["total"]`` all; where there are none, ``hint`` says which tag, folder or link no record
    has. No more files are read than records are returned. ``as_of`` asks an earlier commit, see ``reading.answer``.
    Raises ``InputError`` (``bad-limit``, ``bad-sort``, ``no-such-revision``, and what ``to_catalog`` raises).
    """
    if (paging.limit is not None and paging.limit < 1) or paging.offset < 0:
        hint = "Leave --limit out to see all; --offset starts at 0."
        raise InputError("bad-limit", "a limit is a whole number from 1 on", hint)
    if paging.sort not in SORTS:
        raise InputError("bad-sort", f"records can't be sorted by {paging.sort!r}", f"Name one of {', '.join(SORTS)}.")
    return answer(vault, lambda reading: _list(reading, filters, paging), as_of)


def _list(reading: Reading, filters: Filters, paging: Paging) -> Answer:
    from gitmem.catalog.pages import Order, list_page

    wanted = to_catalog(filters, reading)
    rows, total = list_page(reading.database, wanted, Order(paging.sort), paging.limit, paging.offset)
    records = reading.records(sorted(row.path for row in rows))
    uncommitted = reading.uncommitted(record for record, _data in records.values())
    hits = tuple(
        Hit(record, match_tags(record, filters), uncommitted=row.path in uncommitted)
        for row in rows
        if row.path in records
        for record in [records[row.path][0]]
    )
    status = Status.OK if hits else Status.NO_MATCH
    extra: dict[str, Any] = {"total": total, "omitted": max(0, total - paging.offset - len(rows))}
    if not total:
        from gitmem.service.nothing import explain_nothing

        extra |= explain_nothing(reading, filters)
    return Answer(status, reading.head, hits, diagnostics=reading.report.problems, extra=extra)


def match_tags(record: Record, filters: Filters) -> tuple[str, ...]:
    """Return those tags of ``record`` that are, or lie below, one that was asked for: ``tag: tool/pytest``."""
    wanted = [fold_tag(tag) for tag in (*filters.tags, *filters.any_tags)]
    tags = (*record.tags, *record.inline_tags)
    return tuple(f"tag: {tag}" for tag in tags if any(_is_in(fold(tag), one) for one in wanted))


def _is_in(tag: str, namespace: str) -> bool:
    return tag == namespace or tag.startswith(f"{namespace}/")
