"""Measures of answers, by examples small enough to reckon by hand."""

import math

import pytest

from gitmem.relevance.measures import Outcome, is_right, measure


def test_the_place_of_what_is_right_counts() -> None:
    found = measure([Outcome(("x", "a", "y"), frozenset("ab"), 4.0), Outcome(("c",), frozenset("c"), 2.0)])

    gained = (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert found["recall@1"] == 0.5
    assert found["recall@5"] == 0.75
    assert found["mrr"] == 0.75
    assert found["ndcg@10"] == pytest.approx((gained + 1) / 2)
    assert (found["p50-ms"], found["p95-ms"]) == (4.0, 4.0)


def test_silence_is_right_where_nothing_is() -> None:
    outcomes = [
        Outcome((), frozenset()),
        Outcome(tuple("abcdefg"), frozenset()),
        Outcome((), frozenset("a")),
        Outcome(("b",), frozenset("a")),
    ]
    found = measure(outcomes)

    assert found["abstention-recall"] == 0.5
    assert found["abstention-precision"] == 0.5
    assert found["answered"] == 0.5
    assert found["noise"] == 2.5
    assert [is_right(one) for one in outcomes] == [True, False, False, False]


def test_what_nothing_was_asked_of_is_not_measured() -> None:
    assert set(measure([]).values()) == {None}
