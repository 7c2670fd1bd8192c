"""Words of the vault that are spelt nearly like one that no record has. Reads; bounded in what it looks at."""

from __future__ import annotations

import sqlite3
from difflib import SequenceMatcher

from gitmem.catalog.highlights import format_highlights, list_highlighted
from gitmem.catalog.tables import FIELDS
from gitmem.text import fold
from gitmem.typed import Any

MIN_CHARS = 4
MAX_CHARS = 30
_MAX_STEMS = 4000
_MAX_TRIED = 12
_LONG_CHARS = 7
_MIN_STEM_CHARS = 3
_HIGHLIGHTS = ", ".join(format_highlights("terms", len(FIELDS)))


def find_near_word(
    connection: sqlite3.Connection, word: str, condition: str, values: tuple[Any, ...], *, searches_on: bool
) -> str | None:
    """Return the word that ``word`` was probably meant to be, as a record that may answer has it, or ``None``.

    ``word`` may be the whole of an identifier, without what joins its parts; the digits in it are taken to be
    right. Up to six letters one may be wrong, missing, too many or swapped with its neighbour, two in a longer
    word. The first two letters are right, or swapped; with ``searches_on`` only the first has to be.
    """
    word = fold(word)
    if not MIN_CHARS <= len(word) <= MAX_CHARS or not word.isalnum() or word.isdigit():
        return None
    most = 1 if len(word) < _LONG_CHARS else 2
    heads = [word[0]] if searches_on else [word[:2]]
    near = sorted(_list_near(connection, [*heads, word[1] + word[0]], word, most))
    found: list[tuple[int, int, str]] = []
    for _distance, _few, stem in near[:_MAX_TRIED]:
        for form, count in _list_forms(connection, stem, condition, values).items():
            distance = measure(word, form, most)
            if 0 < distance <= most and _list_digits(word) == _list_digits(form):
                found.append((distance, -count, form))
    return min(found)[2] if found else None


def respell(text: str, meant: str) -> str:
    """Return the identifier ``text`` as its whole was ``meant``: ``parse_utl`` as ``parse_url`` for ``parseurl``."""
    places = [place for place, char in enumerate(text) if char.isalnum()]
    whole = "".join(text[place] for place in places)
    if len(whole) != len(fold(whole)):
        return meant
    respelt, at = "", 0
    for kind, start, end, first, last in SequenceMatcher(None, fold(whole), meant, autojunk=False).get_opcodes():
        stop = places[end - 1] + 1 if end else 0
        if kind == "equal":
            respelt += text[at:stop]
        else:
            joiners = "".join(char for char in text[at:stop] if not char.isalnum())
            around = whole[start:end] or whole[max(0, start - 1) : start + 1]
            respelt += joiners + (meant[first:last].upper() if around.isupper() else meant[first:last])
        at = max(at, stop)
    return respelt + text[at:]


def measure(one: str, other: str, most: int) -> int:
    """Return how many letters must be changed, left out, added or swapped to turn ``one`` into ``other``.

    More than ``most`` is ``most + 1``.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    rows = _measure_beginnings(one, other, most)
    return min(rows[-1], most + 1)


def _list_near(connection: sqlite3.Connection, heads: list[str], word: str, most: int) -> list[tuple[int, int, str]]:
    """Return the stems that a beginning of ``word`` is near to: distance, minus how many records have it, stem."""
    letters = set(word)
    near = []
    for head in dict.fromkeys(heads):
        rows = connection.execute(
            "SELECT term, doc FROM stems WHERE term >= ? AND term < ? LIMIT ?", (head, f"{head}\U0010ffff", _MAX_STEMS)
        )
        for stem, count in rows:
            if _MIN_STEM_CHARS <= len(stem) <= len(word) + most and len(set(stem) - letters) <= most + 1:
                # A stem ends otherwise than its words, ``memori``: their own letters decide afterwards.
                distance = min(_measure_beginnings(stem, word, most + 1))
                if distance <= most + 1:
                    near.append((distance + max(0, len(word) - len(stem) - 4), -count, stem))
    return near


def _measure_beginnings(one: str, other: str, most: int) -> list[int]:
    """Return the distances of ``one`` from each beginning of ``other``, the empty one first."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return [most + 1] * (len(other) + 1)
        before, last = last, row
    return last


def _list_forms(connection: sqlite3.Connection, stem: str, condition: str, values: tuple[Any, ...]) -> dict[str, int]:
    """Return the words with this stem that a few records have, each with in how many of them."""
    rows = connection.execute(
        f"SELECT {_HIGHLIGHTS} FROM terms JOIN records ON records.rowid = terms.rowid"  # noqa: S608
        f" WHERE terms MATCH ? AND is_shadowed = 0{condition} LIMIT 3",
        ('"' + stem.replace('"', "") + '"', *values),
    )
    counts: dict[str, int] = {}
    for texts in rows:
        for form in {form for text in texts for form in list_highlighted(text)}:
            counts[form] = counts.get(form, 0) + 1
    return counts


def _list_digits(word: str) -> list[str]:
    return [char for char in word if char.isdigit()]
