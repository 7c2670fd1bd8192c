"""Dates and times as people type them."""

from __future__ import annotations

import datetime

import pytest

from gitmem.clock import format_utc
from gitmem.errors import InputError
from gitmem.model.when import parse_ahead, parse_period, parse_when

NOW = datetime.datetime(2026, 3, 31, 14, 30, 5, tzinfo=datetime.UTC)

SPANS = {
    "2026": ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    "2026-12": ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    "2024-02-29": ("2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
    " 2026-11-30 ": ("2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"),
    "today": ("2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"),
    "Yesterday": ("2026-03-30T00:00:00Z", "2026-03-31T00:00:00Z"),
    "2026-11-30T14:00:00Z": ("2026-11-30T14:00:00Z", "2026-11-30T14:00:01Z"),
    "2026-11-30T14:00:00.123Z": ("2026-11-30T14:00:00Z", "2026-11-30T14:00:01Z"),
    "2026-11-30 14:00": ("2026-11-30T14:00:00Z", "2026-11-30T14:01:00Z"),
    "2026-11-30T00:30+01:00": ("2026-11-29T23:30:00Z", "2026-11-29T23:31:00Z"),
    "12h": ("2026-03-31T02:30:05Z",) * 2,
    "3d": ("2026-03-28T14:30:05Z",) * 2,
    "2w ago": ("2026-03-17T14:30:05Z",) * 2,
    "1m": ("2026-02-28T14:30:05Z",) * 2,
    "9999": ("9999-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    "9999-12": ("9999-12-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    "9999-12-31": ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59Z"),
    "9999-12-31T23:59Z": ("9999-12-31T23:59:00Z", "9999-12-31T23:59:59Z"),
    "2 y": ("2024-03-31T14:30:05Z",) * 2,
}


NO_TIMES = [
    *("", "soon", "30.11.2026", "-3d", "3", "２０２６", "x" * 10_000),
    *("2026-13", "2026-02-30", "0000", "9999y", "10000"),
    *("2026-11-30T25:00Z", "2026-11-30T14:00:00+99:00"),
]


@pytest.mark.parametrize("text", SPANS)
def test_a_time_is_read_as_meant(text: str) -> None:
    span = parse_when(text, NOW)
    assert (format_utc(span.start), format_utc(span.end)) == SPANS[text]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_when(text, NOW)
    assert caught.value.code == "bad-date"
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("sought", ["record", "operation"])
def test_a_period_that_ends_before_it_begins_is_refused(sought: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_period("2026-11", "2026-09", NOW, sought)
    assert (caught.value.code, caught.value.hint) == ("until-before-since", "Give the earlier one as --since.")
    assert str(caught.value) == f"'2026-09' is not later than '2026-11', so no {sought} can match"


def test_a_period_is_from_the_beginning_of_the_one_to_the_end_of_the_other() -> None:
    since, until = parse_period("2026", "2026", NOW, "record")
    assert since is not None
    assert until is not None
    assert (format_utc(since), format_utc(until)) == SPANS["2026"]
    assert parse_period(None, None, NOW, "record") == (None, None)


AHEAD = {
    "2026-12": "2026-12-01T00:00:00Z",
    "2026-04-01T08:00": "2026-04-01T08:00:00Z",
    "Tomorrow": "2026-04-01T00:00:00Z",
    "12h": "2026-04-01T02:30:05Z",
    "in 3d": "2026-04-03T14:30:05Z",
    " 2 w ": "2026-04-14T14:30:05Z",
    "1m": "2026-04-30T14:30:05Z",
    "1y": "2027-03-31T14:30:05Z",
}


@pytest.mark.parametrize(("text", "moment"), AHEAD.items())
def test_what_is_to_come_is_named_by_its_date_or_how_far_it_is(text: str, moment: str) -> None:
    assert format_utc(parse_ahead(text, NOW)) == moment


@pytest.mark.parametrize("text", ["today", "yesterday", "2026", "2026-03-31", "2w ago", "0d", "soon", "9999y", ""])
def test_what_is_past_or_no_time_is_not_to_come(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_ahead(text, NOW)
    assert caught.value.code == ("bad-date" if text in ("soon", "9999y", "") else "date-passed")
