"""The last task reports of a vault: where the sessions before this one left the work."""

from __future__ import annotations

import datetime

from gitmem.model.record import Kind, Record, State
from gitmem.model.validity import is_in_force
from gitmem.service.reading import Reading
from gitmem.service.superseded import find_superseded
from gitmem.vault.report_text import find_report

MAX_REPORTS = 3
MAX_AGE_DAYS = 30
"""An older report tells where the work stood, not where it stands."""


def list_recent_reports(reading: Reading) -> list[tuple[Record, str]]:
    """Return the last task reports that are committed and in force, newest first, at most ``MAX_REPORTS``.

    Each with what it says is next, or its answer where it says nothing. Those that a person reviewed are among the
    reviewed records, not here. Reads.
    """
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.pages import Order, list_page

    since = reading.now - datetime.timedelta(days=MAX_AGE_DAYS)
    filters = Filters(states=(State.OBSERVATION,), kinds=(Kind.TASK,), since=since)
    rows = list_page(reading.database, filters, Order.UPDATED, 4 * MAX_REPORTS).rows
    found = reading.records(row.path for row in rows)
    records = [found[row.path][0] for row in rows if row.path in found]
    uncommitted = reading.uncommitted(records)
    superseded = find_superseded(reading, records)
    today = reading.now.date()
    told = []
    for one in records:
        report = find_report(one.body)
        is_current = is_in_force(one, today) and not one.superseded_by and one.path not in superseded
        if report is not None and is_current and one.path not in uncommitted:
            told.append((one, f"Next: {report.next}" if report.next else report.answer))
    return told[:MAX_REPORTS]
