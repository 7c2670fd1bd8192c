"""How good answers to labelled queries are: finding what is right, and saying nothing where nothing is. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gitmem.values import dataclass

RANKS = 10
"""How far down a ranking is looked at."""
MAX_NOISE = 5


@dataclass(frozen=True)
class Outcome:
    """What was given for one query: the names of the records, the best first, and of those that are right.

    ``relevant`` is empty where nothing is right. ``ms`` is how long it took.
    """

    given: tuple[str, ...]
    relevant: frozenset[str]
    ms: float = 0.0


def measure(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the measures of ``outcomes`` by name, ``None`` where there is nothing to measure by.

    Over the queries that have an answer: ``recall@1``, ``@5`` and ``@10`` (the share of the right records among the
    first so many), ``hit@5``, ``mrr``, ``ndcg@10``, and ``answered``, the share that got anything at all. Over those
    that have none: ``abstention-recall``, the share that got nothing, and ``noise``, how many records they got, at
    most 5 counted. ``abstention-precision`` is the share of the silences that were right. ``p50-ms`` and ``p95-ms``
    are over all.
    """
    match = [one for one in outcomes if one.relevant]
    none = [one for one in outcomes if not one.relevant]
    silent = [one for one in outcomes if not one.given]
    times = sorted(one.ms for one in outcomes)
    return {
        **{f"recall@{k}": _mean([_recall(one, k) for one in match]) for k in (1, 5, 10)},
        "hit@5": _mean([float(bool(one.relevant & set(one.given[:5]))) for one in match]),
        "mrr": _mean([_reciprocal_rank(one) for one in match]),
        "ndcg@10": _mean([_ndcg(one) for one in match]),
        "answered": _mean([float(bool(one.given)) for one in match]),
        "abstention-precision": _mean([float(not one.relevant) for one in silent]),
        "abstention-recall": _mean([float(not one.given) for one in none]),
        "noise": _mean([float(min(MAX_NOISE, len(one.given))) for one in none]),
        "p50-ms": _quantile(times, 0.5),
        "p95-ms": _quantile(times, 0.95),
    }


def is_right(outcome: Outcome) -> bool:
    """Tell whether a right record is among the first five, or nothing was given where nothing is right."""
    return bool(outcome.relevant & set(outcome.given[:5])) if outcome.relevant else not outcome.given


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _quantile(values: Sequence[float], share: float) -> float | None:
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


def _recall(one: Outcome, k: int) -> float:
    return len(one.relevant & set(one.given[:k])) / len(one.relevant)


def _reciprocal_rank(one: Outcome) -> float:
    return next((1 / rank for rank, name in enumerate(one.given[:RANKS], 1) if name in one.relevant), 0.0)


def _ndcg(one: Outcome) -> float:
    gained = sum(1 / math.log2(rank + 1) for rank, name in enumerate(one.given[:RANKS], 1) if name in one.relevant)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(RANKS, len(one.relevant)) + 1))
