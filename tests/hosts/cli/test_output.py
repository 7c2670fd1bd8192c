"""The documents are exactly what the design promises to programs."""

from __future__ import annotations

import json

import pytest

from gitmem.errors import InputError
from gitmem.hosts.cli.output import error_document, format_json, obsidian_url, read_document, write_document
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.authority import Action, Authority
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import CommitId, Fingerprint, OpId, RecordId
from gitmem.model.record import Kind, Problem, Record, State
from gitmem.model.vault_path import VaultPath

ID = RecordId("m7k2q9x4c0de")
PATH = VaultPath("promoted/run tests.md")
RECORD = Record(
    id=ID,
    path=PATH,
    state=State.PROMOTED,
    title="Run tests",
    body="All of them.",
    fingerprint=Fingerprint("0" * 40),
    kind=Kind.FACT,
    summary="Two workers.",
    authority=Authority.WORKSPACE_EVIDENCE,
    tags=("tool/pytest",),
    key="tests",
    created="2026-11-01T00:00:00Z",
    problems=(Problem("property-does-not-fit", "source", PATH, 3),),
)


def test_a_write_names_its_commit_and_records() -> None:
    receipt = Receipt(
        Action.PROMOTE,
        OpId("op1"),
        CommitId("a" * 40),
        True,
        (RecordRef(ID, PATH, State.PROMOTED),),
        notices=("mended",),
    )
    assert write_document(receipt) == {
        "ok": True,
        "op": "promote",
        "op_id": "op1",
        "commit": "a" * 40,
        "changed": True,
        "records": [{"id": "m7k2q9x4c0de", "path": "promoted/run tests.md", "state": "promoted"}],
        "notices": ["mended"],
    }


def test_a_read_gives_records_as_rows() -> None:
    hit = Hit(RECORD, matched=("title: tests",), snippet="Run tests", uncommitted=True)
    answer = Answer(Status.OK, "b" * 40, (hit,), diagnostics=(Problem("unstable", "x.md is being written", "x.md"),))
    problem = {"code": "property-does-not-fit", "message": "source", "path": "promoted/run tests.md", "line": 3}
    assert read_document(answer, "/vault") == {
        "status": "ok",
        "revision": "b" * 40,
        "results": [
            {
                "id": "m7k2q9x4c0de",
                "path": "promoted/run tests.md",
                "title": "Run tests",
                "summary": "Two workers.",
                "state": "promoted",
                "kind": "fact",
                "authority": "workspace_evidence",
                "tags": ["tool/pytest"],
                "matched": ["title: tests"],
                "snippet": "Run tests",
                "uncommitted": True,
                "created": "2026-11-01T00:00:00Z",
                "updated": None,
                "verified": None,
                "valid_from": None,
                "valid_until": None,
                "review_after": None,
                "marks": [],
                "key": "tests",
                "obsidian_url": "obsidian://open?path=%2Fvault%2Fpromoted%2Frun%20tests.md",
                "problems": [problem],
            }
        ],
        "diagnostics": [{"code": "unstable", "message": "x.md is being written", "path": "x.md", "line": None}],
    }


def test_rows_pass_and_the_rest_of_an_answer_stands_beside_the_results() -> None:
    answer = Answer(
        Status.OK,
        None,
        rows=({"op": "observe", "records": (ID,)},),
        extra={"status": "never this", "record": Hit(RECORD)},
    )
    document = read_document(answer, "/vault")
    assert document["results"] == [{"op": "observe", "records": [ID]}]
    assert document["status"] == "ok"
    assert document["record"]["id"] == ID


def test_an_error_keeps_its_named_fields_and_never_loses_its_own() -> None:
    error = InputError("bad-path", "no", "Rename it.", path="a.md", problems=(Problem("x", "y"),))
    error.fields["message"] = "other"
    assert error_document(error) == {
        "ok": False,
        "error": {
            "code": "bad-path",
            "message": "no",
            "hint": "Rename it.",
            "path": "a.md",
            "problems": [{"code": "x", "message": "y", "path": "", "line": None}],
        },
    }


def test_the_link_opens_any_file_name_in_obsidian() -> None:
    assert obsidian_url("/my vault", "promoted/退款&a=b.md") == (
        "obsidian://open?path=%2Fmy%20vault%2Fpromoted%2F%E9%80%80%E6%AC%BE%26a%3Db.md"
    )


def test_what_would_not_be_seen_is_escaped() -> None:
    hidden = "\u202e\u200b\x7f\x85\x1b\ufeff\U000e0041\u2028\u2029\ufe0f\ufe01"
    text = format_json({"title": f"退é🙂{hidden}"}, "utf-8")
    escaped = "\\u202e\\u200b\\u007f\\u0085\\u001b\\ufeff\\udb40\\udc41\\u2028\\u2029\\ufe0f\\ufe01"
    assert text == f'{{\n  "title": "退é🙂{escaped}"\n}}'
    assert json.loads(text) == {"title": f"退é🙂{hidden}"}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_that_are_no_text_are_valid_json_all_the_same(encoding: str) -> None:
    text = format_json({"path": "promoted/\udcff🙂.md"}, encoding)
    assert json.loads(text.encode(encoding)) == {"path": "promoted/\ufffd🙂.md"}


@pytest.mark.parametrize(
    ("encoding", "shown"), [("utf-8", "退"), ("UTF8", "退"), ("latin-1", "\\u9000"), (None, "\\u9000")]
)
def test_json_is_valid_in_every_encoding(encoding: str | None, shown: str) -> None:
    text = format_json({"title": "退"}, encoding)
    assert f'"{shown}"' in text
    assert json.loads(text) == {"title": "退"}
