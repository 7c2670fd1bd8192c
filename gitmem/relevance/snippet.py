"""Where in a text the words of a match stand, and the passage that shows most of them. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from gitmem.model.answer import Spans
from gitmem.relevance.terms import CJK_RUN, fold_accents, join_parts, split_word
from gitmem.text import one_line, shorten
from gitmem.typed import NamedTuple

MAX_WORDS = 200
"""How many different words are looked for in one text."""
_MAX_PLACES = 200
_JOINER = r"[\W_]{0,2}"
_LOOSE_JOINER = r"[_\-./\\:@]?"
_MIN_LOOSE_CHARS = 5


def make_snippet(text: str, words: Sequence[str], max_chars: int) -> str:
    """Return one line of at most ``max_chars`` characters from the part of ``text`` that holds most of ``words``.

    Text left out is marked by ``…``. Without a match the beginning is returned.
    """
    line = one_line(text if text.isascii() else unicodedata.normalize("NFC", text))
    found = [(start, word) for start, _end, word in _find_places(line, words)]
    if len(line) <= max_chars or not found:
        return shorten(line, max_chars)
    best = _find_densest(found, max_chars * 3 // 4)
    start = max(0, min(best - max_chars // 8, len(line) - max_chars + 1))
    if start > 0:
        start = line.find(" ", start, best) + 1 or start
    head = "…" if start else ""
    return head + shorten(line[start:], max_chars - len(head))


def find_spans(text: str, words: Sequence[str]) -> Spans:
    """Return where ``words`` stand in ``text``, whatever their case, accents and joiners; what touches is one place."""
    spans: list[tuple[int, int]] = []
    for start, end, _word in _find_places(text, words):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return tuple(spans)


class _Plain(NamedTuple):
    """A text as it is compared. ``places`` says where in the text each character of it stands, and where the text ends.

    ``cased`` has the capitals of ``folded`` and is otherwise the same.
    """

    folded: str
    cased: str
    places: Sequence[int]


def _find_places(text: str, words: Sequence[str]) -> list[tuple[int, int, str]]:
    plain = _make_plain(text)
    places = []
    for word in words[:MAX_WORDS]:
        found = [*islice(_iter_word(plain, _compile(word)), _MAX_PLACES)]
        # ``cachettl`` stands for ``cache-ttl`` too: where the word itself is not there, joiners are passed over.
        found = found or [*islice(_iter_word(plain, _compile_loosely(word)), _MAX_PLACES)]
        places += [(plain.places[start], _end_marks(text, plain.places[end - 1] + 1), word) for start, end in found]
    return sorted(places)


def _iter_word(plain: _Plain, pattern: re.Pattern[str] | None) -> Iterator[tuple[int, int]]:
    """Yield where ``pattern`` stands as a word."""
    for match in pattern.finditer(plain.folded) if pattern else ():
        if _is_word(plain.cased, *match.span()):
            yield match.span()


@functools.lru_cache(maxsize=1024)
def _compile(word: str) -> re.Pattern[str] | None:
    """Return what finds ``word`` in a folded text, its parts joined in any way."""
    stem = word.rstrip("+#")
    parts = [re.escape(_make_plain(part).folded) for part in split_word(stem) if part.isalnum()]
    return re.compile(_JOINER.join(parts) + re.escape(word[len(stem) :])) if parts else None


@functools.lru_cache(maxsize=1024)
def _compile_loosely(word: str) -> re.Pattern[str] | None:
    """Return what finds ``word`` in a folded text whatever joins its characters; ``None`` for a short one."""
    folded = _make_plain(join_parts(word)).folded
    return re.compile(_LOOSE_JOINER.join(map(re.escape, folded))) if _MIN_LOOSE_CHARS <= len(folded) <= 64 else None


def _is_word(text: str, start: int, end: int) -> bool:
    """Tell whether a place in ``text`` is no mere part of a word; a hump of camelCase is no mere part."""
    return _is_edge(text, start) and _is_edge(text, end)


def _is_edge(text: str, at: int) -> bool:
    """Tell whether a word, or a part of an identifier, begins or ends between two characters of ``text``."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if not before.isalnum() or not after.isalnum() or CJK_RUN.match(before) or CJK_RUN.match(after):
        return True
    if before.isalpha() and after.isdigit():
        return True
    return after.isupper() and (before.islower() or text[at + 1 : at + 2].islower())


def _end_marks(text: str, end: int) -> int:
    """Return where the accents behind ``end`` end."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def _find_densest(found: Sequence[tuple[int, str]], reach: int) -> int:
    """Return the first place from which most different words lie within ``reach`` characters."""
    best, most, first = 0, 0, 0
    inside: Counter[str] = Counter()
    for at, word in found:
        inside[word] += 1
        while at - found[first][0] >= reach:
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > most:
            best, most = found[first][0], len(inside)
    return best


def _make_plain(text: str) -> _Plain:
    if text.isascii():
        return _Plain(text.lower(), text, range(len(text) + 1))
    pieces = [*map(_plain_char, text)]
    places = [place for place, piece in enumerate(pieces) for _char in piece]
    cased = "".join(pieces)
    return _Plain(cased.casefold(), cased, [*places, len(text)])


@functools.lru_cache(maxsize=4096)
def _plain_char(char: str) -> str:
    """Return ``char`` without accents, in half width and taken apart; empty for an accent by itself."""
    plain = fold_accents(unicodedata.normalize("NFKC", char))
    folded = plain.casefold()
    return plain if len(folded) == len(plain) == len(plain.lower()) else folded
