"""Text for people: one record a line, its id first, nothing hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from gitmem.errors import PolicyError
from gitmem.hosts.cli.plain import (
    format_error,
    format_findings,
    format_problems,
    format_receipt,
    format_records,
)
from gitmem.model.answer import Hit
from gitmem.model.authority import Action
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import CommitId, Fingerprint, OpId, RecordId
from gitmem.model.record import Kind, Problem, Record, State
from gitmem.model.vault_path import VaultPath

FIRST = Record(
    RecordId("m7k2q9x4c0de"),
    VaultPath("promoted/a.md"),
    State.PROMOTED,
    "Run tests with two workers",
    "",
    Fingerprint("0" * 40),
    kind=Kind.DECISION,
    tags=("tool/pytest",),
)
SECOND = Record(
    RecordId("x4c0dem7k2q9"),
    VaultPath("observations/b.md"),
    State.OBSERVATION,
    "退款\x1b[2J手续费",
    "",
    Fingerprint("1" * 40),
)
THIRD = replace(SECOND, title="c", problems=(Problem("x", "y"), Problem("x", "z")))


def plain(text: str) -> str:
    return click.unstyle(text)


def test_records_are_aligned_and_marked() -> None:
    text = format_records([Hit(FIRST), Hit(SECOND, uncommitted=True), Hit(THIRD)], None)
    assert plain(text) == (
        "m7k2q9x4c0de  promoted     decision  Run tests with two workers #tool/pytest\n"
        "x4c0dem7k2q9  observation  -         [uncommitted] 退款\\u{1b}[2J手续费\n"
        "x4c0dem7k2q9  observation  -         [2 problems] c"
    )


def test_records_are_cut_at_the_terminals_edge() -> None:
    assert plain(format_records([Hit(FIRST), Hit(SECOND)], 50)) == (
        "m7k2q9x4c0de  promoted     decision  Run tests wi…\nx4c0dem7k2q9  observation  -         退款\\u{1b}[2…"
    )
    assert format_records([], None) == ""


def test_a_narrow_terminal_is_for_titles() -> None:
    assert plain(format_records([Hit(FIRST), Hit(THIRD)], 41)) == (
        "m7k2q9x4c0de  Run tests with two workers…\nx4c0dem7k2q9  [2 problems] c"
    )
    assert plain(format_records([Hit(FIRST)], 20)) == "m7k2q9x4c0de  Run t…"


def test_a_receipt_lists_at_most_twenty_records() -> None:
    refs = tuple(RecordRef(FIRST.id, VaultPath(f"promoted/{i}.md"), State.PROMOTED) for i in range(22))
    done = Receipt(
        Action.IMPORT, OpId("op1"), CommitId("abcdef0123456789" * 2 + "0" * 8), True, refs, notices=("mended",)
    )
    lines = format_receipt(done).splitlines()
    assert lines[0] == "import: commit abcdef012345"
    assert lines[1] == "m7k2q9x4c0de  promoted  promoted/0.md"
    assert lines[21:] == ["… and 2 more", "notice: mended"]
    nothing = Receipt(Action.EDIT, OpId("op1"), None, False, ())
    assert format_receipt(nothing) == "edit: nothing to do, no commit made"


def test_a_receipt_says_which_record_went() -> None:
    gone = RecordRef(FIRST.id, VaultPath("promoted/0.md"), None)
    done = Receipt(Action.UNDO, OpId("op1"), CommitId("abcdef0123456789" * 2 + "0" * 8), True, (gone,))
    assert format_receipt(done) == "undo: commit abcdef012345\nm7k2q9x4c0de  gone  promoted/0.md"


def test_errors_and_warnings_show_nothing_hidden() -> None:
    error = PolicyError("refused", "no \u202e", "Ask\x07.")
    assert plain(format_error(error)) == "error: no \\u{202e}\nhint: Ask\\u{7}."
    assert plain(format_error(PolicyError("refused", "no"))) == "error: no"
    problems = [Problem("a", "is odd", "x.md", 3), Problem("b", "is broken", "y.md"), Problem("c", "so what")]
    assert format_problems(problems) == "warning: x.md:3: is odd\nwarning: y.md: is broken\nwarning: so what"


def test_findings_say_how_bad_where_and_what_to_do() -> None:
    rows: list[dict[str, Any]] = [
        {"severity": "error", "code": "a", "message": "is broken", "path": "x.md", "line": 3},
        {"severity": "warning", "code": "b", "message": "is open", "path": "", "hint": "Close it."},
    ]
    assert plain(format_findings(rows)) == "error: x.md:3: is broken\nwarning: is open\n    Close it."
