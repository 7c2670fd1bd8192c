"""Whether two records say the same. Pure."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from gitmem.model.record import Record
from gitmem.patterns import late
from gitmem.relevance.terms import CJK_RUN

SAME = 0.8
"""From which share of words in common, of all words of both, two records say the same."""
MAX_CHARS = 4000
_LIKE_LENGTH = 0.6
_WORD = late(rf"{CJK_RUN.pattern[:-1]}|[^\W_]+", plain="[A-Za-z0-9]+")


def find_twin(record: Record, others: Sequence[Record]) -> int | None:
    """Return the place of the first of ``others`` that says what ``record`` says, or is a copy of it; else ``None``."""
    size = len(record.body)
    for place, other in enumerate(others):
        if other.id == record.id:
            return place
        if min(size, len(other.body)) < _LIKE_LENGTH * max(size, len(other.body)):
            continue
        ours, theirs = (_list_words(f"{one.title}\n{one.body[:MAX_CHARS]}") for one in (record, other))
        if ours and len(ours & theirs) >= SAME * len(ours | theirs):
            return place
    return None


@functools.lru_cache(maxsize=32)  # each of a few is compared with each
def _list_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
