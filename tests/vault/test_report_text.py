"""A task report as text: what is written is read back, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.task_report import TaskReport
from gitmem.vault.report_text import clean, find_report, format_report

WHOLE = TaskReport(
    answer="An index on `boats.harbour`.\n\n40 ms instead of 900.",
    evidence=("commit:1a2b3c4d", "the profile of  Tuesday"),
    checks=("make test: 214 passed",),
    uncertainty="Not measured with more than 10,000 boats.",
    next="Do the same for bookings.",
)
BODY = """## Answer

An index on `boats.harbour`.

40 ms instead of 900.

## Evidence

- commit:1a2b3c4d
- the profile of Tuesday

## Checks

- make test: 214 passed

## Uncertainty

Not measured with more than 10,000 boats.

## Next

Do the same for bookings."""
PIECES = st.lists(
    st.sampled_from(
        ["## Next", "\\## Answer", "##  next  ", "- ", "* ", "```", "~~~", "> ```", "word", " ", "\n", "\r\n", "#"]
    ),
    max_size=12,
).map("".join)
REPORTS = st.builds(
    TaskReport, PIECES, st.lists(PIECES, max_size=3).map(tuple), st.lists(PIECES, max_size=3).map(tuple), PIECES, PIECES
)


def test_a_report_has_its_parts_in_order() -> None:
    assert format_report(WHOLE) == BODY
    assert find_report(BODY) == clean(WHOLE)


def test_what_is_empty_has_no_heading() -> None:
    assert format_report(TaskReport("Done.", checks=(" ", ""))) == "## Answer\n\nDone."


def test_a_line_that_reads_as_a_heading_stays_text() -> None:
    report = TaskReport("Look:\n## Next\n\\## Answer\n```\n## Checks\n```", next="## Evidence")
    assert format_report(report) == (
        "## Answer\n\nLook:\n\\## Next\n\\\\## Answer\n```\n## Checks\n```\n\n## Next\n\n\\## Evidence"
    )
    assert find_report(format_report(report)) == report


def test_a_code_block_that_nothing_closes_is_refused() -> None:
    for report in (TaskReport("```\nx", next="y"), TaskReport("x", evidence=("```",), next="y")):
        with pytest.raises(InputError) as caught:
            format_report(report)
        assert caught.value.code == "open-code"


def test_what_a_person_wrote_is_read_in_any_order_and_form() -> None:
    text = "Before.\n## next\nGo on.\n## Checks\n* one\n  more\n\n- two\n## ANSWER \nYes.\n## Next\nAnd on."
    assert find_report(text.replace("\n", "\r\n")) == TaskReport(
        "Yes.", checks=("one more", "two"), next="Go on.\nAnd on."
    )
    assert find_report("## Evidence\n\nplain\nlines") is None
    assert find_report("## Answer\n\nx\n\n## Evidence\n\nplain\nlines") == TaskReport("x", evidence=("plain lines",))


@settings(derandomize=True, max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS)
def test_what_is_written_is_read_back(report: TaskReport) -> None:
    if not clean(report).answer:
        return
    try:
        body = format_report(report)
    except InputError:
        assert "```" in str(report) or "~~~" in str(report)
        return
    assert find_report(body) == clean(report)
    assert find_report(body.replace("\n", "\r\n")) == clean(report)
