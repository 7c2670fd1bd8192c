"""Records by state, kind and tag."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.text import fold


def list_records(vault: OpenVault, filters: Filters, limit: int | None = None, as_of: str | None = None) -> Answer:
    """Return the records that ``filters`` admits as hits, sorted by title, then id; at most ``limit``.

    ``extra["omitted"]`` counts those beyond ``limit``. ``as_of`` asks an earlier commit, see ``reading.answer``. Raises
    ``InputError`` (``bad-limit``, ``no-such-revision``).
    """
    if limit is not None and limit < 1:
        raise InputError("bad-limit", "a limit is a whole number from 1 on", "Leave --limit out to see all.")
    return answer(vault, lambda reading: _list(reading, filters, limit), as_of)


def _list(reading: Reading, filters: Filters, limit: int | None) -> Answer:
    from gitmem.catalog.query import list_rows

    rows = sorted(list_rows(reading.database, to_catalog(filters, reading)), key=lambda row: (fold(row.title), row.id))
    shown = rows[:limit]
    records = reading.records(sorted(row.path for row in shown))
    uncommitted = reading.uncommitted(record for record, _data in records.values())
    hits = tuple(
        Hit(record, uncommitted=row.path in uncommitted)
        for row in shown
        if row.path in records
        for record in [records[row.path][0]]
    )
    status = Status.OK if hits else Status.NO_MATCH
    extra = {"omitted": len(rows) - len(shown)}
    return Answer(status, reading.head, hits, diagnostics=reading.report.problems, extra=extra)
