"""Measuring search and recall by labelled queries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.evaluate import MAX_LINE_BYTES, parse_queries
from gitmem.service.memory import Memory


def lines(*values: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


@pytest.fixture
def names(memory: Memory, person: Actor) -> dict[str, str]:
    """Write three records and return their ids by title."""
    texts = {"Covers": "Redis keeps covers for a week.", "Kiosks": "They restart at four.", "Fees": "Eight euros."}
    drafts = [Draft(title, body, Kind.FACT) for title, body in texts.items()]
    receipt = memory.observe_all(drafts, person)
    return {title: ref.id for title, ref in zip(texts, receipt.records, strict=True)}


def test_finding_and_keeping_silent_are_both_measured(memory: Memory, names: dict[str, str]) -> None:
    answer = memory.evaluate(
        lines(
            {"query": "how long does redis keep covers?", "relevant": [names["Covers"]], "kind": "fact"},
            {"query": "when does the harbour open?", "relevant": [names["Kiosks"]], "kind": "fact", "id": "harbour"},
            {"query": "bake a cake", "relevant": [], "kind": "none"},
            {"query": "why do kiosks restart?", "relevant": [], "kind": "none", "id": "kiosks"},
        ),
        {},
    )

    recall = answer.extra["measures"]["recall"]
    times = recall.pop("p50-ms"), recall.pop("p95-ms")
    assert answer.status is Status.OK
    assert answer.extra["queries"] == 4
    assert recall == {
        "recall@1": 0.5,
        "recall@5": 0.5,
        "recall@10": 0.5,
        "hit@5": 0.5,
        "mrr": 0.5,
        "ndcg@10": 0.5,
        "answered": 0.5,
        "abstention-precision": 0.5,
        "abstention-recall": 0.5,
        "noise": 0.5,
    }
    assert 0 < times[0] <= times[1]
    assert answer.extra["by_kind"]["recall"]["none"]["abstention-recall"] == 0.5
    assert [(row["mode"], row["query_id"], row["why"]) for row in answer.rows] == [
        ("search", "harbour", "was silent"),
        ("recall", "harbour", "was silent"),
        ("recall", "kiosks", "should have been silent"),
    ]


def test_records_are_named_by_id_path_or_file_name(memory: Memory, names: dict[str, str]) -> None:
    path = next(hit.record.path for hit in memory.search("covers", _all()).hits)
    stem = path.rpartition("/")[2].removesuffix(".md")
    question = "how long does redis keep covers?"

    answer = memory.evaluate(
        lines(*({"query": question, "relevant": [name]} for name in (names["Covers"], path, stem))), {}
    )

    assert answer.extra["measures"]["recall"]["recall@1"] == 1.0


def test_what_is_excluded_counts_as_not_there(memory: Memory, names: dict[str, str]) -> None:
    answer = memory.evaluate(
        lines({"query": "how long does redis keep covers?", "relevant": [], "exclude": [names["Covers"]]}), {}
    )

    assert answer.rows == ()


def test_a_measure_below_what_is_asked_for_is_an_error(memory: Memory, names: dict[str, str]) -> None:
    data = lines({"query": "bake a cake", "relevant": [names["Covers"]]})

    answer = memory.evaluate(data, {"recall.answered": 0.5, "recall.abstention-recall": 0.0, "search.mrr": 0.0})

    assert [row for row in answer.rows if "gate" in row] == [
        {"gate": "recall.answered", "least": 0.5, "value": 0.0, "severity": "error"},
        {"gate": "recall.abstention-recall", "least": 0.0, "value": None, "severity": "error"},
        {"gate": "search.mrr", "least": 0.0, "value": 0.0, "severity": "ok"},
    ]


def test_a_long_query_is_no_failure_of_the_measuring(memory: Memory, names: dict[str, str]) -> None:
    answer = memory.evaluate(lines({"query": "redis keeps covers " * 500, "relevant": [names["Covers"]]}), {})

    assert answer.extra["measures"]["search"]["answered"] == 0.0


@pytest.mark.parametrize(
    ("least", "code"), [({"recall.beauty": 1.0}, "no-such-measure"), ({"mrr": 1.0}, "no-such-measure")]
)
def test_measures_that_there_are_none_of_are_refused(
    memory: Memory, names: dict[str, str], least: dict[str, float], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        memory.evaluate(lines({"query": "x", "relevant": []}), least)
    assert caught.value.code == code


def test_records_that_are_not_there_are_refused_by_name(memory: Memory, names: dict[str, str]) -> None:
    with pytest.raises(InputError, match="no record of the vault is called line 1: gone, line 1: lost"):
        memory.evaluate(lines({"query": "x", "relevant": ["gone"], "exclude": ["lost"]}), {})


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no-queries"),
        (b"\n \n", "no-queries"),
        (b"\xff\xfe{\0", "not-utf8"),
        (b"[]", "bad-lines"),
        (b"{", "bad-lines"),
        (b'{"query": "x"}', "bad-lines"),
        (b'{"query": "", "relevant": []}', "bad-lines"),
        (b'{"query": "x", "relevant": "y"}', "bad-lines"),
        (b'{"query": "x", "relevant": [], "answer": 1}', "bad-lines"),
        (b'{"query": "' + b"x" * MAX_LINE_BYTES + b'", "relevant": []}', "bad-lines"),
    ],
)
def test_what_is_no_file_of_queries_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_queries(data)
    assert caught.value.code == code


def _all() -> Any:
    from gitmem.service.query import Filters

    return Filters()
