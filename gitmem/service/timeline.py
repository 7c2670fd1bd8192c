"""When did we…: records by when they came to be, newest first, by day, week or session."""

from __future__ import annotations

from gitmem.clock import format_utc, moment_at
from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.record import EPISODIC_KINDS
from gitmem.model.validity import find_marks
from gitmem.service.list_records import match_tags
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass, replace

GROUPS = ("day", "week", "session")
MAX_RECORDS = 1000


@dataclass(frozen=True)
class Stretch:
    """Which part of the past is asked for, and how it is told.

    ``words`` leave the records that hold most of them: a poor match would stand among the good ones. ``by`` is one
    of ``GROUPS``; a week is that of ISO 8601. The time that counts is when a record was created, ``by_update`` when
    it was updated, or else created. At most ``limit`` records.
    """

    words: str = ""
    by: str = "day"
    by_update: bool = False
    limit: int = 50


_ALL = Stretch()


def timeline(vault: OpenVault, filters: Filters, wanted: Stretch = _ALL, as_of: str | None = None) -> Answer:
    """Return the records that ``filters`` admits as rows, newest first, those of one group together.

    A row has its ``hit``, the ``time`` that counts, its ``group`` (``2026-11-30``, ``2026-W49``, a session, ``""`` for
    records without one) and ``is_episode``: whether it tells what happened in a session, and not what is known.
    ``since`` and ``until`` of the filters hold for the time that counts. ``extra`` has the ``groups`` in order, each
    with ``name`` and ``count``; ``omitted`` counts further records, ``undated`` those without such a time. Times are in
    UTC. ``as_of`` asks an earlier commit. Raises ``InputError``: ``bad-limit``, ``bad-group``, and what ``to_catalog``
    raises.
    """
    if not 1 <= wanted.limit <= MAX_RECORDS:
        raise InputError("bad-limit", f"a limit is a whole number from 1 to {MAX_RECORDS}", "Ask for 50.")
    if wanted.by not in GROUPS:
        raise InputError("bad-group", f"there is no timeline by {wanted.by!r}", f"Name one of {', '.join(GROUPS)}.")
    return answer(vault, lambda reading: _tell(reading, filters, wanted), as_of)


def _tell(reading: Reading, filters: Filters, wanted: Stretch) -> Answer:
    from gitmem.catalog.pages import Order, list_timed
    from gitmem.catalog.search import Query, list_best
    from gitmem.relevance.question import parse_question

    admitted = to_catalog(filters, reading)
    if wanted.words.strip():
        query = Query(parse_question(wanted.words), replace(admitted, since=None, until=None))
        admitted = replace(admitted, only=list_best(reading.database, query))
    order = Order.UPDATED if wanted.by_update else Order.CREATED
    found = list_timed(reading.database, admitted, order, wanted.limit)
    records = reading.records(sorted(row.path for _time, row in found.rows))
    uncommitted = reading.uncommitted(record for record, _data in records.values())
    today = reading.now.date()
    groups: dict[str, list[dict[str, Any]]] = {}
    for time_s, row in found.rows:
        if row.path not in records:
            continue
        record = records[row.path][0]
        marks = find_marks(record, today)
        hit = Hit(record, match_tags(record, filters), uncommitted=row.path in uncommitted, marks=marks)
        group = _name_group(wanted.by, time_s, record.source)
        told = {"group": group, "time": format_utc(moment_at(time_s)), "is_episode": record.kind in EPISODIC_KINDS}
        groups.setdefault(group, []).append({**told, "hit": hit})
    rows = tuple(one for ones in groups.values() for one in ones)
    extra: dict[str, Any] = {
        "groups": [{"name": name, "count": len(ones)} for name, ones in groups.items()],
        "omitted": found.total - len(found.rows),
        "undated": found.undated,
    }
    if not rows and not wanted.words.strip():
        from gitmem.service.nothing import explain_nothing

        extra |= explain_nothing(reading, filters)
    status = Status.OK if rows else Status.NO_MATCH
    return Answer(status, reading.head, rows=rows, diagnostics=reading.report.problems, extra=extra)


def _name_group(by: str, time_s: int, source: str | None) -> str:
    if by == "session":
        return source or ""
    day = moment_at(time_s).date()
    if by == "day":
        return day.isoformat()
    year, week, _weekday = day.isocalendar()
    return f"{year}-W{week:02d}"
