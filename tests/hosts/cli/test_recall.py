"""``gitmem recall`` and ``gitmem eval``: what they print for people and programs, and how they exit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hosts.cli.test_confirm import masked

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

PROMPT = "how many workers may the test suite have?"


@pytest.fixture
def known(gitmem: Gitmem) -> str:
    """Write two records and return the id of the one about workers."""
    evidence = ("--evidence", "run:1", "--json")
    gitmem("observe", "Kiosks restart at four", "--body", "Every night.", *evidence)
    made = gitmem("observe", "Two test workers", "--body", "The suite has two workers, more starve it.", *evidence)
    return str(made.document["records"][0]["id"])


def test_what_fits_is_printed_as_a_model_is_given_it(gitmem: Gitmem, known: str) -> None:
    said = gitmem("recall", PROMPT)

    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[1] == "```gitmem-recall"
    assert f"- {known} (" in said.out
    assert "The suite has two workers, more starve it." in said.out
    assert "Kiosks" not in said.out


def test_nothing_is_printed_where_nothing_fits(gitmem: Gitmem, known: str) -> None:
    said = gitmem("recall", "bake a cake with walnuts")

    assert (said.code, said.out, said.err) == (1, "", "nothing that is remembered fits this prompt\n")


def test_the_document_has_the_text_and_the_records(gitmem: Gitmem, known: str) -> None:
    document = gitmem("recall", PROMPT, "--json").document
    nothing = gitmem("recall", "bake a cake with walnuts", "--json")

    assert document["status"] == "ok"
    assert [(one["id"], one["matched"]) for one in document["results"]] == [(known, ["workers", "test", "suite"])]
    assert known in document["text"]
    assert "recall" not in document
    assert (nothing.code, nothing.document["status"], nothing.document["text"]) == (1, "no-match", "")


def test_a_prompt_may_come_from_standard_input(gitmem: Gitmem, known: str) -> None:
    said = gitmem("recall", "-", "--json", stdin=PROMPT.encode() + b"\xff")

    assert [one["id"] for one in said.document["results"]] == [known]


def test_a_session_is_told_once(gitmem: Gitmem, known: str) -> None:
    first = gitmem("recall", PROMPT, "--session", "s1")
    again = gitmem("recall", PROMPT, "--session", "s1")

    assert "workers" in first.out
    assert again.out == f"gitmem: 1 record remembered for this prompt, the same as shown last: {known}.\n"


def test_why_each_record_was_admitted_or_not_is_explained(gitmem: Gitmem, known: str) -> None:
    said = gitmem("recall", "--explain", PROMPT)
    silent = gitmem("recall", "--explain", "do kiosks sell umbrellas, hats or gloves?")
    document = gitmem("recall", "--explain", PROMPT, "--json").document

    assert masked(said.out) == (
        "best 1.00, enough is 0.44\n"
        "terms:\n"
        "  workers  3.00  in 1 record\n"
        "  suite    3.00  in 1 record\n"
        "  test     0.30  in 1 record\n"
        "records:\n"
        "  ID  global  admitted  passage  unverified  Two test workers\n"
        "      holds 100% of what the prompt is about\n"
        "      shares: workers, test, suite\n"
    )
    assert (silent.code, silent.err) == (1, "")
    assert "left out  below-threshold" in silent.out
    assert document["recall"]["threshold"] == 0.44
    assert document["recall"]["candidates"][0]["rule"] == "passage"


def test_labelled_questions_are_measured(gitmem: Gitmem, known: str) -> None:
    rows = [
        {"query": PROMPT, "relevant": [known], "kind": "fact"},
        {"query": "bake a cake", "relevant": []},
        {"query": "where do umbrellas go?", "relevant": [known], "id": "umbrellas"},
    ]
    Path(gitmem.environment.folder, "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    said = gitmem("eval", "q.jsonl", "--min", "recall.abstention-recall=0.9", "--min", "recall.mrr=0.9")
    document = gitmem("eval", "q.jsonl", "--json").document

    assert said.code == 7
    assert said.out.startswith("3 queries\n")
    assert "recall.abstention-recall 1.000, at least 0.9: reached\n" in said.out
    assert "recall.mrr 0.500, at least 0.9: NOT REACHED\n" in said.out
    assert "  recall  umbrellas  was silent: where do umbrellas go?\n" in said.out
    assert document["measures"]["recall"]["recall@5"] == 0.5
    assert document["by_kind"]["recall"]["fact"]["mrr"] == 1.0
    assert [one["query_id"] for one in document["results"]] == ["umbrellas", "umbrellas"]


@pytest.mark.parametrize("value", ["recall.mrr", "recall.mrr=", "recall.mrr=high", "=1"])
def test_a_gate_is_a_name_and_a_number(gitmem: Gitmem, value: str) -> None:
    assert gitmem("eval", "-", "--min", value, stdin=b"").code in (2, 3)


def test_wrong_lines_are_told_and_nothing_is_measured(gitmem: Gitmem, known: str) -> None:
    said = gitmem("eval", "-", stdin=b'{"query": "x"}\n{"query": "y", "relevant": ["gone"]}\n')

    assert said.code == 3
    assert "1 of 2 lines can't be read: line 1" in said.err
