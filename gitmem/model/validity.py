"""Whether a record still holds: what is out of date is said, not hidden. Pure; the day of asking is handed in."""

from __future__ import annotations

import datetime

from gitmem.model.record import Record
from gitmem.typed import NamedTuple, Protocol

OUT_OF_DATE, NOT_YET, REVIEW_DUE, SUPERSEDED = "out-of-date", "not-yet-valid", "review-due", "superseded"


class Dated(Protocol):
    """What may hold for some days only: a record, or what the catalog knows of one."""

    @property
    def valid_from(self) -> str | None:
        """The first day."""

    @property
    def valid_until(self) -> str | None:
        """The last day."""


class Mark(NamedTuple):
    """One thing to mind about a record: a stable ``code``, and a few words for people."""

    code: str
    text: str


def find_marks(record: Record, today: datetime.date) -> tuple[Mark, ...]:
    """Return what is to be minded about ``record`` on the day ``today`` (UTC), the weightiest first; none for most.

    ``valid_until`` is the last day on which it holds, ``valid_from`` the first; a review is due from ``review_after``
    on.
    """
    marks = []
    until, start, review = (_parse_day(text) for text in (record.valid_until, record.valid_from, record.review_after))
    if until is not None and until < today:
        marks.append(Mark(OUT_OF_DATE, f"out of date since {until}"))
    if record.superseded_by:
        marks.append(Mark(SUPERSEDED, "superseded"))
    if start is not None and start > today:
        marks.append(Mark(NOT_YET, f"not valid before {start}"))
    if review is not None and review <= today:
        marks.append(Mark(REVIEW_DUE, "review due"))
    return tuple(marks)


def is_in_force(record: Dated, today: datetime.date) -> bool:
    """Whether ``today`` is neither after the last day on which ``record`` holds nor before the first."""
    until, start = _parse_day(record.valid_until), _parse_day(record.valid_from)
    return (until is None or until >= today) and (start is None or start <= today)


def _parse_day(text: str | None) -> datetime.date | None:
    """Return the day of a date or time; ``None`` where there is none, or it is on no calendar."""
    try:
        return None if text is None else datetime.date.fromisoformat(text[:10])
    except ValueError:
        return None
