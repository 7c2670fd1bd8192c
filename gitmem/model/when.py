"""Moments and stretches of time as people type them. Pure; the time of asking is handed in."""

from __future__ import annotations

import calendar
import datetime
import re

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import NamedTuple

MAX_SHOWN_CHARS = 40
_DATE = late(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_MOMENT = late(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt ](?P<time>\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?(?P<zone>[Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_AGO = late(r"(\d{1,4}) ?([hdwmy])(?: ago)?", re.ASCII)
_AHEAD = late(r"(?:in )?(\d{1,4}) ?([hdwmy])", re.ASCII)
_UNITS = {"h": datetime.timedelta(hours=1), "d": datetime.timedelta(days=1), "w": datetime.timedelta(weeks=1)}
_DAY = _UNITS["d"]
_END_OF_TIME = datetime.datetime.max.replace(tzinfo=datetime.UTC)


class Span(NamedTuple):
    """A stretch of time in UTC, from ``start`` up to but without ``end``; both are equal for a single moment."""

    start: datetime.datetime
    end: datetime.datetime


def parse_when(text: str, now: datetime.datetime) -> Span:
    """Return the stretch of time that ``text`` names, in UTC.

    A year, month or day (``2026``, ``2026-11``, ``2026-11-30``, ``today``, ``yesterday``) is all of it; a time of day
    is its minute or second, in UTC unless it names a zone (``2026-11-30T14:00+01:00``); ``12h``, ``3d``, ``2w``,
    ``6m`` and ``1y`` are the moment so long before ``now``. What would end after the year 9999 ends with it. Raises
    ``InputError`` (``bad-date``).
    """
    wanted = text.strip()
    try:
        span = _parse_day(wanted.lower(), now) or _parse_moment(wanted) or _parse_ago(wanted.lower(), now)
    except (ValueError, OverflowError):  # there is no 2026-02-30, and nothing before the year 1
        span = None
    if span is None:
        shown = repr(wanted[:MAX_SHOWN_CHARS])
        hint = (
            "Write 2026, 2026-11, 2026-11-30, 2026-11-30T14:00Z, today, yesterday, or 3d, 2w, 6m, 1y for so long ago."
        )
        raise InputError("bad-date", f"{shown} is not a date or a time", hint)
    return span


def parse_ahead(text: str, now: datetime.datetime) -> datetime.datetime:
    """Return the moment to come that ``text`` names, in UTC.

    ``tomorrow`` and a date are their beginning; ``12h``, ``3d``, ``2w``, ``6m`` and ``1y`` are so long after ``now``.
    Raises ``InputError`` (``bad-date``; ``date-passed`` for one that is not to come).
    """
    wanted = text.strip().lower()
    ahead = _AHEAD.fullmatch(wanted)
    try:
        if wanted == "tomorrow":
            moment = parse_when("today", now).end
        else:
            moment = _move(now, int(ahead[1]), ahead[2]) if ahead else parse_when(text, now).start
    except (InputError, ValueError, OverflowError):
        hint = "Write 2026-12-31, 2026-12-31T14:00Z, tomorrow, or 3d, 2w, 6m, 1y from now."
        raise InputError("bad-date", f"{text.strip()[:MAX_SHOWN_CHARS]!r} is not a date or a time", hint) from None
    if moment <= now:
        raise InputError("date-passed", "that moment is not to come", "Give a later date, such as 2026-12-31.")
    return moment


def parse_period(
    since: str | None, until: str | None, now: datetime.datetime, sought: str
) -> tuple[datetime.datetime | None, datetime.datetime | None]:
    """Return from when on and until when, in UTC: the beginning of ``since`` to the end of ``until``, as typed.

    ``None`` stays ``None``. Raises ``InputError``: ``bad-date``, ``until-before-since``, which says that no ``sought``
    (``record``) can match.
    """
    first, last = (None if text is None else parse_when(text, now) for text in (since, until))
    if first and last and last.end <= first.start:
        message = f"{until!r} is not later than {since!r}, so no {sought} can match"
        raise InputError("until-before-since", message, "Give the earlier one as --since.")
    return first and first.start, last and last.end


def _parse_day(text: str, now: datetime.datetime) -> Span | None:
    if text in ("today", "yesterday"):
        start = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        start -= _DAY * (text == "yesterday")
        return Span(start, start + _DAY)
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    start = datetime.datetime(year or 0, month or 1, day or 1, tzinfo=datetime.UTC)
    try:
        return Span(start, start + _DAY if day else _add_months(start, 1 if month else 12))
    except (ValueError, OverflowError):
        return Span(start, _END_OF_TIME)


def _parse_moment(text: str) -> Span | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    zone = (match["zone"] or "Z").upper().replace("Z", "+00:00")
    start = datetime.datetime.fromisoformat(f"{match['date']}T{match['time']}{zone}").astimezone(datetime.UTC)
    unit = "seconds" if match["time"].count(":") == 2 else "minutes"
    try:
        return Span(start, start + datetime.timedelta(**{unit: 1}))
    except OverflowError:
        return Span(start, _END_OF_TIME)


def _parse_ago(text: str, now: datetime.datetime) -> Span | None:
    match = _AGO.fullmatch(text)
    if match is None:
        return None
    start = _move(now, -int(match[1]), match[2])
    return Span(start, start)


def _move(moment: datetime.datetime, number: int, unit: str) -> datetime.datetime:
    """Return ``moment`` in UTC, ``number`` of ``unit`` later."""
    moment = moment.astimezone(datetime.UTC)
    if unit in _UNITS:
        return moment + number * _UNITS[unit]
    return _add_months(moment, number * (12 if unit == "y" else 1))


def _add_months(moment: datetime.datetime, months: int) -> datetime.datetime:
    """Return ``moment`` so many months on, on the last day of a month that has no such day."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
