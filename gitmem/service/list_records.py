"""Records by state, kind and tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.ids import CommitId
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import answer, read_records
from gitmem.service.vault import OpenVault
from gitmem.text import fold

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report


def list_records(vault: OpenVault, filters: Filters, limit: int | None = None) -> Answer:
    """Return the records that ``filters`` admits as hits, sorted by title, then id; at most ``limit``.

    ``extra["omitted"]`` counts those beyond ``limit``. Raises ``InputError`` (``bad-limit``).
    """
    if limit is not None and limit < 1:
        raise InputError("bad-limit", "a limit is a whole number from 1 on", "Leave --limit out to see all.")
    return answer(vault, lambda database, report, head: _list(vault, database, report, head, filters, limit))


def _list(
    vault: OpenVault, database: Database, report: Report, head: CommitId, filters: Filters, limit: int | None
) -> Answer:
    from gitmem.catalog.query import list_rows

    rows = sorted(list_rows(database, to_catalog(filters)), key=lambda row: (fold(row.title), row.id))
    shown = rows[:limit]
    records = read_records(vault, sorted(row.path for row in shown))
    committed = vault.committed_ids(head, [row.path for row in shown])
    hits = tuple(
        Hit(record, uncommitted=committed[row.path] != record.fingerprint)
        for row in shown
        if row.path in records
        for record in [records[row.path][0]]
    )
    status = Status.OK if hits else Status.NO_MATCH
    extra = {"omitted": len(rows) - len(shown)}
    return Answer(status, head, hits, diagnostics=report.problems, extra=extra)
