"""Whether two records say the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.model.record import Record
from gitmem.relevance.terms import CJK_RUN

SAME = 0.8
"""From which share of words in common, of all words of both, two records say the same."""
MAX_CHARS = 4000
_LIKE_LENGTH = 0.6
_WORD = re.compile(rf"{CJK_RUN.pattern[:-1]}|[^\W_]+")


def find_twin(record: Record, others: Sequence[Record]) -> int | None:
    """Return the place of the first of ``others`` that says what ``record`` says, or is a copy of it; else ``None``."""
    size = len(record.body)
    words: frozenset[str] = frozenset()
    for place, other in enumerate(others):
        if other.id == record.id:
            return place
        if min(size, len(other.body)) < _LIKE_LENGTH * max(size, len(other.body)):
            continue
        words = words or _list_words(record)
        theirs = _list_words(other)
        if words and len(words & theirs) >= SAME * len(words | theirs):
            return place
    return None


def _list_words(record: Record) -> frozenset[str]:
    return frozenset(_WORD.findall(f"{record.title}\n{record.body[:MAX_CHARS]}".casefold()))
