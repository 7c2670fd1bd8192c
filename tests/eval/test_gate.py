"""What search and recall must reach on the labelled corpus. Thresholds were chosen by one half of the queries only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.service.memory import Memory

from corpus_ground import SAMPLE, is_held_out, open_corpus, read_queries

LEAST = {
    "search.recall@5": 0.93,
    "search.mrr": 0.92,
    "recall.recall@5": 0.95,
    "recall.mrr": 0.93,
    "recall.answered": 0.95,
    "recall.abstention-recall": 0.88,
    "recall.abstention-precision": 0.93,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_corpus(tmp_path_factory.mktemp("corpus")) as memory:
        yield memory


def test_the_corpus_is_large_enough() -> None:
    queries = read_queries()
    records = (Path(__file__).parent / "corpus" / "records.jsonl").read_text().splitlines()

    assert len(records) + len(list(SAMPLE.glob("*.md"))) >= 150
    assert len(queries) >= 200
    assert 3 * sum(not query["relevant"] for query in queries) >= len(queries)
    assert 80 <= sum(map(is_held_out, queries)) <= len(queries) - 80
    assert len({str(query["query"]) for query in queries}) == len(queries)


@pytest.mark.parametrize("held_out", [False, True], ids=["chosen on", "held out"])
def test_search_and_recall_reach_what_they_did(corpus: Memory, held_out: bool) -> None:
    lines = [json.dumps(query).encode() for query in read_queries() if is_held_out(query) == held_out]

    answer = corpus.evaluate(b"\n".join(lines), LEAST)

    missed = [row for row in answer.rows if "gate" in row and row["severity"] == "error"]
    assert not missed, answer.extra["measures"]
