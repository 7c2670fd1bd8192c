"""``gitmem report``: from the command line and from files, and what others see of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

OPTIONS = (
    *("--answer", "An index.\n\nFast now.", "--evidence", "commit:1a2b3c4d", "--evidence", "a profile"),
    *("--check", "make test passes", "--uncertainty", "On ARM.", "--next", "Bookings."),
)
PARTS: dict[str, Any] = {
    "answer": "An index.\n\nFast now.",
    "evidence": ["commit:1a2b3c4d", "a profile"],
    "checks": ["make test passes"],
    "uncertainty": "On ARM.",
    "next": "Bookings.",
}
MARKDOWN = """# Speed up the search

## Answer

An index.

Fast now.

## Evidence

- commit:1a2b3c4d
- a profile

## Checks

- make test passes

## Uncertainty

On ARM.

## Next

Bookings.
"""


def show(gitmem: Gitmem, record_id: str) -> dict[str, Any]:
    return gitmem("show", record_id, "--json").document


def report(gitmem: Gitmem, *args: str, stdin: bytes = b"") -> dict[str, Any]:
    document = gitmem("report", *args, "--json", stdin=stdin).document
    assert document["changed"]
    return show(gitmem, document["records"][0]["id"])


def test_a_report_is_an_observation_with_its_parts(gitmem: Gitmem) -> None:
    shown = report(gitmem, "Speed up the search", *OPTIONS, "--tag", "#tool/postgres", "--key", "search-speed")
    assert shown["report"] == PARTS
    assert shown["body"].strip() == MARKDOWN.partition("\n\n")[2].strip()
    row = shown["results"][0]
    wanted = {"title": "Speed up the search", "kind": "task", "state": "observation", "summary": "An index."}
    assert {name: row[name] for name in wanted} == wanted
    assert (row["authority"], row["tags"], row["key"]) == ("workspace_evidence", ["tool/postgres"], "search-speed")
    assert shown["properties"]["evidence"] == ["commit:1a2b3c4d"]
    assert gitmem("show", "search-speed").out.endswith("\n## Next\n\nBookings.\n")
    assert gitmem.git("log", "-1", "--format=%s") == "observe: Speed up the search"


@pytest.mark.parametrize("form", ["json", "markdown", "stdin"])
def test_a_report_comes_from_a_file(gitmem: Gitmem, form: str) -> None:
    as_json = json.dumps({"title": "Speed up the search", "tags": ["#tool/x"], **PARTS, "next": "Bookings."})
    data = (MARKDOWN if form == "markdown" else as_json).encode()
    Path(gitmem.environment.folder, "it").write_bytes(b"\xef\xbb\xbf" + data)
    args = ("--from", "-") if form == "stdin" else ("--from", "it")
    shown = report(gitmem, *args, stdin=data)
    assert shown["report"] == PARTS
    assert shown["results"][0]["title"] == "Speed up the search"
    assert shown["results"][0]["tags"] == ([] if form == "markdown" else ["tool/x"])
    assert report(gitmem, "Other", *args, "--tag", "a", stdin=data)["results"][0]["title"] == "Other"


def test_a_report_under_an_operation_id_is_made_once(gitmem: Gitmem) -> None:
    first = gitmem("report", "T", *OPTIONS, "--op-id", "report-0001", "--json").document
    again = gitmem("report", "T", *OPTIONS, "--op-id", "report-0001", "--json").document
    assert again["commit"] == first["commit"]
    other = gitmem("report", "T", "--answer", "x", "--evidence", "run:1", "--op-id", "report-0001", "--json")
    assert (other.code, other.document["error"]["code"]) == (3, "op-id-reused")


def test_a_report_without_evidence_needs_a_person(gitmem: Gitmem, terminal: Terminal) -> None:
    args = ("report", "T", "--answer", "Not found.", "--evidence", "I looked")
    refused = gitmem(*args, "--json")
    assert (refused.code, refused.document["error"]["code"]) == (5, "needs-human")
    said = terminal(*args)
    assert said.code == 0
    assert "report in the vault" in said.out
    assert "| - I looked" in said.out
    assert gitmem.git("log", "-1", "--format=%(trailers:key=Gitmem-Surface,valueonly)") == "human"


@pytest.mark.parametrize(
    ("args", "data", "code"),
    [
        (("T", "--answer", " "), b"", "no-answer"),
        (("T", "--answer", "x" * 8001), b"", "report-too-long"),
        (("T", "--answer", "x", *("--check", "c") * 33), b"", "report-too-long"),
        (("T", "--answer", "x", "--evidence", "e" * 501), b"", "report-too-long"),
        (("T", "--answer", "```", "--next", "x"), b"", "open-code"),
        (("T", "--answer", "x", "--evidence", "file:/etc/passwd"), b"", "bad-evidence"),
        (("T", "--from", "-"), b"## Checks\n\n- x\n", "no-answer"),
        (("T", "--from", "-"), b"\xff", "not-utf8"),
        (("T", "--from", "-"), b"{", "bad-json"),
        (("T", "--from", "-"), b'{"answer": "x", "anser": "y"}', "unknown-name"),
        (("T", "--from", "-"), b'{"answer": ""}', "schema"),
        (("T", "--from", "-"), b"x" * ((1 << 20) + 1), "file-too-large"),
        (("T", "--from", "nowhere"), b"", "no-such-file"),
    ],
)
def test_what_is_no_report_is_refused_and_nothing_written(
    gitmem: Gitmem, args: tuple[str, ...], data: bytes, code: str
) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    said = gitmem("report", *args, "--json", stdin=data)
    assert (said.code, said.document["error"]["code"]) == (3, code)
    assert gitmem.git("rev-parse", "HEAD") == before


def test_usage(gitmem: Gitmem) -> None:
    assert gitmem("report", "T").code == 2
    assert gitmem("report", "--answer", "x").code == 2
    assert gitmem("report", "T", "--from", "-", "--next", "x").code == 2
    assert gitmem("report", "T", "--from", "-", "--check", "x").err.startswith(
        "error: with --from the file says everything; leave --check out\n"
    )
    assert gitmem("report", "--from", "-", stdin=b"## Answer\n\nx\n").code == 2


def test_other_tasks_have_no_parts(gitmem: Gitmem) -> None:
    assert "report" not in show(gitmem, gitmem.observe("T", "--kind", "task", "--body", "Free text."))
    assert "report" not in show(gitmem, gitmem.observe("U", "--kind", "fact", "--body", "## Answer\n\nx"))
    assert show(gitmem, gitmem.observe("V", "--kind", "task", "--body", "## Answer\n\nx"))["report"]["answer"] == "x"
