from __future__ import annotations

import click
import pytest

from gitmem.hosts.cli.hits import format_advice, format_fields, format_found, mark
from gitmem.model.answer import Answer, Hit, Place, Status, Strength
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath

RECORD = Record(
    RecordId("m7k2q9x4c0de"),
    VaultPath("promoted/a.md"),
    State.PROMOTED,
    "Two workers",
    "Body\n",
    Fingerprint("f"),
    tags=("tool/pytest", "x"),
)
HIT = Hit(
    RECORD,
    ("title: workers",),
    "Run two workers\x1b[2J.",
    strength=Strength.SOME,
    spans={"title": ((4, 11),), "snippet": ((8, 15),)},
)
NOTE = {"path": "promoted/n.md", "title": "n", "snippet": "a worker", "spans": [[2, 8]], "why": "it has no gitmem_id"}


def answer(*hits: Hit, status: Status = Status.OK, **extra: object) -> Answer:
    return Answer(status, None, hits, extra=extra)


def test_hits_say_why_and_where_and_notes_stand_apart() -> None:
    assert click.unstyle(format_found(answer(HIT, notes=[NOTE]), None)) == (
        "m7k2q9x4c0de  promoted  -  Two workers #tool/pytest #x\n"
        "    title: workers (some of the words)\n"
        "    Run two workers\\u{1b}[2J.\n"
        "\n"
        "Notes that are no records:\n"
        "promoted/n.md  it has no gitmem_id\n"
        "    a worker"
    )
    assert format_found(answer(), None) == ""


def test_hits_of_several_vaults_are_labelled() -> None:
    hit = Hit(RECORD, vault=Place("shared", "global", "/x"))
    assert click.unstyle(format_found(answer(hit, hit), None)) == "\n\n".join(
        ["shared (global)\nm7k2q9x4c0de  promoted  -  Two workers #tool/pytest #x"] * 2
    )


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (None, "Run two [workers] and [so] on"),
        (40, "Run two [workers] and [so] on"),
        (18, "Run two [worke]…"),
        (12, "Run two…"),
        (5, "…"),
    ],
)
def test_places_are_marked_within_the_terminal(columns: int | None, shown: str) -> None:
    text = mark("Run two workers and so on", ((8, 15), (20, 22)), columns)
    on, off = click.style("|", fg="yellow", bold=True).split("|")
    assert text.replace(on, "[").replace(off, "]") == shown
    if columns:
        assert len(click.unstyle(text)) <= max(1, columns - 4)


def test_fields_stand_between_tabs() -> None:
    assert format_fields(answer(HIT), ("id", "tags", "kind", "body", "spans")) == (
        "m7k2q9x4c0de\ttool/pytest,x\t\tBody\t{'title': [[4, 11]], 'snippet': [[8, 15]]}"
    )


def test_advice_is_a_fact_a_line() -> None:
    assert format_advice(answer(HIT, total=12, more=True, episodes=1)) == (
        "12 records match; --offset and --limit show more\n1 episode matches as well: --episodes"
    )
    assert format_advice(answer(HIT, total=1000, more=True, total_at_least=True, episodes=3)) == (
        "at least 1000 records match; --offset and --limit show more\n3 episodes match as well: --episodes"
    )
    assert format_advice(answer(status=Status.NO_MATCH, not_word_for_word=["a b"], did_you_mean="x\x1b", total=0)) == (
        'no record has "a b" word for word; its words were looked for\ndid you mean: x\\u{1b}'
    )
    assert format_advice(answer(status=Status.NO_MATCH, total=2)) == "2 records match, but none comes so far down"
    assert format_advice(answer(HIT, total=1, more=False, episodes=0, notes=[])) == ""
