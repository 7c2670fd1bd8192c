"""How well records fit a prompt: their words in the catalog, their best passage, what stands side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.model.record import Record
from gitmem.relevance.passage import Measure, Question
from gitmem.relevance.prompt import Prompt
from gitmem.values import dataclass

PASSAGE_BONUS = 1.0
NEAR_BONUS = 0.5


@dataclass(frozen=True)
class Seen:
    """A record that may fit: its score by words (BM25, any scale), how the prompt names it, which record links to it.

    ``named`` is ``key: cache-ttl``, or empty; ``linked_from`` is a title, or empty.
    """

    record: Record
    word_score: float = 0.0
    named: str = ""
    linked_from: str = ""


@dataclass(frozen=True)
class Scored:
    """A record with what it holds of the prompt.

    ``share`` is the part of the prompt's weight in its best passage, 0 to 1; ``rank`` is to sort by, higher for the
    better; ``forms`` are the terms that stand anywhere in it.
    """

    seen: Seen
    share: float
    rank: float
    forms: frozenset[str]


def choose(prompt: Prompt, texts: Sequence[tuple[float, str, str]], most: int) -> list[int]:
    """Return the places of the ``most`` best among ``texts``, the best first: each a score by words, a head and a body.

    A first look at what the catalog holds, so that few records have to be read.
    """
    question, total = _make_question(prompt), prompt.weight or 1.0
    highest = max((found for found, _head, _body in texts), default=0.0) or 1.0
    ranks = [_rank(question.measure(head, body), found / highest, total) for found, head, body in texts]
    return sorted(range(len(texts)), key=lambda place: -ranks[place])[:most]


def score(prompt: Prompt, seen: Iterable[Seen]) -> list[Scored]:
    """Return ``seen`` with scores, the best first, ties by path."""
    found = list(seen)
    question, total = _make_question(prompt), prompt.weight or 1.0
    highest = max((one.word_score for one in found), default=0.0) or 1.0
    scored = []
    for one in found:
        measured = question.measure(head_of(one.record), one.record.body)
        rank = _rank(measured, one.word_score / highest, total)
        scored.append(Scored(one, measured.passage / total, rank, measured.forms))
    return sorted(scored, key=lambda one: (-one.rank, one.seen.record.path))


def head_of(record: Record) -> str:
    """Return what a record is called and filed under, in one text."""
    return "\n".join((record.title, record.key or "", *record.aliases, *record.tags, record.summary))


def _make_question(prompt: Prompt) -> Question:
    return Question({content.form: content.weight for content in prompt.contents}, prompt.pairs)


def _rank(measured: Measure, words: float, total: float) -> float:
    return words + PASSAGE_BONUS * measured.passage / total + NEAR_BONUS * measured.near
