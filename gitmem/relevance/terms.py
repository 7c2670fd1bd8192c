"""From text to search terms, the same way for what is stored and for what is asked.

The full-text engine splits at everything but letters and digits, folds case and accents and stems English. What it
can't do is done here, by adding terms:

- an identifier counts whole and in parts: ``cache-ttl``, ``cache_ttl`` and ``cacheTtl`` all give ``cachettl``,
  ``cache`` and ``ttl``; a path gives its parts, its file name and its whole;
- ``C++`` and ``C#`` give ``cplusplus`` and ``csharp``;
- Chinese, Japanese and Korean, written without blanks, count in pairs of neighbouring characters and singly.

Pure.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.errors import InputError
from gitmem.relevance.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH
from gitmem.text import one_line, shorten

TERMS_VERSION = 1
"""Raised whenever the same text gives other terms, so that a stored catalog is made anew."""
MAX_QUERY_BYTES = 1024
MAX_QUERY_WORDS = 64

_MAX_WHOLE_CHARS = 64
_MAX_PLACES = 200
_SEPARATORS = "_-./\\:@"
_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
_LETTERS = rf"[^\W_{_CJK}]+"
_QUERY_WORD = re.compile(rf"[{_CJK}]+|{_LETTERS}(?:[_\-./\\:@]{{1,2}}{_LETTERS})*(?:\+\+(?!\w)|#(?!\w))?")
_CAMEL_PART = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")
_PLURAL_ACRONYM = re.compile(r"[A-Z]+s")
# Identifiers come apart at three depths: places in a path, names in a dotted name, parts of a name.
_PLACES = str.maketrans(dict.fromkeys("/\\:@", " "))
_NAMES = str.maketrans(dict.fromkeys("/\\:@.", " "))
_PARTS = str.maketrans(dict.fromkeys(_SEPARATORS, " "))
_SYMBOL_NAME = re.compile(r"(?<!\w)[A-Za-z][A-Za-z0-9]*(?:\+\+|#)(?!\w)")
_SYMBOLS = {"++": "plusplus", "#": "sharp"}


def _outline(char: str) -> str:
    if char in _SEPARATORS:
        return "."
    if char in "+#":
        return "+"
    return " " if not (char.isascii() and char.isalnum()) else "A" if char.isupper() else "a"


# The outline of a text: `a` for small letters and digits, `A` for capitals, `.` for what joins identifiers, `+` for
# what may end the name of a language, blanks for the rest. Bytes are translated and searched faster than text.
_OUTLINE = "".join(map(_outline, map(chr, range(256)))).encode()


# What titles and summaries are mostly made of. Where nothing else stands behind the first letter, no identifier is.
_PLAIN = bytes(point for point, kind in enumerate(_OUTLINE) if kind in b" a")
_SHORT = 200


class Token(NamedTuple):
    """One term of a question, and the word of the question that it comes from (Chinese characters: the term)."""

    term: str
    word: str


def extract_terms(text: str) -> str:
    """Return the terms of ``text`` for the full-text engine: its words in small letters, then what identifiers add.

    Punctuation is left for the engine to drop. Text that is not ASCII is folded (NFKC), so that full-width letters
    meet their plain forms.
    """
    if text.isascii():
        words, ascii_text = text.lower(), text
        if len(text) < _SHORT and not text[1:].encode().translate(None, _PLAIN):
            return words
    else:
        text = unicodedata.normalize("NFKC", text)
        words = _CJK_RUN.sub(_spread, text).casefold()
        ascii_text = text.encode("ascii", "replace").decode()
    further = _find_identifier_terms(ascii_text)
    return f"{words} {' '.join(further)}" if further else words


def parse_query(text: str) -> tuple[Token, ...]:
    """Return the terms of a question in order, each once; none where it holds no letter or digit.

    Stop words are dropped unless nothing else is left. Every character is plain data: ``AND``, ``*``, quotes and the
    like mean nothing. Raises ``InputError`` (``query-too-long``) above ``MAX_QUERY_BYTES`` or ``MAX_QUERY_WORDS``,
    where two Chinese, Japanese or Korean characters count as one word.
    """
    size = len(text.encode("utf-8", "replace"))
    words = _QUERY_WORD.findall(unicodedata.normalize("NFKC", text)) if size <= MAX_QUERY_BYTES else []
    count = sum((len(word) + 1) // 2 if _CJK_RUN.match(word) else 1 for word in words)
    if size > MAX_QUERY_BYTES or count > MAX_QUERY_WORDS:
        raise InputError(
            "query-too-long",
            f"a search takes at most {MAX_QUERY_WORDS} words and {MAX_QUERY_BYTES} bytes",
            "Search for the few words that matter most.",
        )
    tokens = {term: Token(term, term if _CJK_RUN.match(term) else word) for word in words for term in _expand(word)}
    telling = tuple(token for token in tokens.values() if not _is_stop_word(token))
    return telling or tuple(tokens.values())


def make_snippet(text: str, terms: Sequence[str], max_chars: int) -> str:
    """Return one line of at most ``max_chars`` characters from the part of ``text`` that holds most of ``terms``.

    A term is found at the start of a word, inflected forms of it too. Text left out is marked by ``…``. Without a
    match the beginning is returned.
    """
    line = one_line(text)
    found = _find_starts(line, terms)
    if len(line) <= max_chars or not found:
        return shorten(line, max_chars)
    best = _find_densest(found, max_chars * 3 // 4)
    start = max(0, min(best - max_chars // 8, len(line) - max_chars + 1))
    if start > 0:
        start = line.find(" ", start, best) + 1 or start
    head = "…" if start else ""
    return head + shorten(line[start:], max_chars - len(head))


def _spread(run: re.Match[str]) -> str:
    return f" {' '.join([*run[0], *_pairs(run[0])])} "


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _find_identifier_terms(text: str) -> list[str]:
    """Return the further terms of the identifiers in ``text``, which is ASCII (``?`` where it was not)."""
    outline = text.encode().translate(_OUTLINE)
    terms: list[str] = []
    if b"+" in outline:
        for start, end in _iter_words(outline, outline, b"+"):
            terms += [_name_symbol(word) for word in _SYMBOL_NAME.findall(text[start:end])]
        outline = outline.replace(b"+", b" ")
    if b"." in outline:
        lower = text.lower()
        plain = outline.replace(b". ", b"  ")  # most dots only end sentences
        for start, end in _iter_words(plain, plain, b"."):
            word = lower[start:end].strip(_SEPARATORS)
            if not word.isalnum():
                terms += _find_wholes(word)
        outline = outline.replace(b".", b" ")
    if b"A" in outline:
        # Most capitals only begin words.
        for start, end in _iter_words(outline, outline.replace(b" A", b"  "), b"A"):
            if outline.find(b"A", start + 1, end) >= 0:
                terms += _split_camel(text[start:end])
    return terms


def _iter_words(outline: bytes, marked: bytes, mark: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the words of ``outline`` start and end in which ``marked`` holds ``mark``.

    Looking for one character is many times faster than an expression that starts with a class of characters, and this
    runs over every record.
    """
    at = marked.find(mark)
    while at >= 0:
        end = outline.find(b" ", at)
        end = len(outline) if end < 0 else end
        yield outline.rfind(b" ", 0, at) + 1, end
        at = marked.find(mark, end)


@functools.lru_cache(maxsize=8192)  # the same few names come back in many records
def _find_wholes(identifier: str) -> tuple[str, ...]:
    """Return ``identifier``, its places and its names, where they have parts, each without what joins these."""
    if identifier.isalnum():
        return ()
    joined = [identifier.replace("-", "").replace("_", "")]
    if not joined[0].isalnum():
        pieces = (identifier, *identifier.translate(_PLACES).split(), *identifier.translate(_NAMES).split())
        joined = ["".join(piece.translate(_PARTS).split()) for piece in pieces if not piece.isalnum()]
    return tuple(whole for whole in dict.fromkeys(joined) if 0 < len(whole) <= _MAX_WHOLE_CHARS)


def _split_camel(word: str) -> list[str]:
    """Return the parts of ``getUserSession`` in lower case; none for a word of one part, or for ``APIs``."""
    if word[1:].lower() == word[1:] or _PLURAL_ACRONYM.fullmatch(word):
        return []
    parts = _CAMEL_PART.findall(word)
    return [part.lower() for part in parts] if len(parts) > 1 else []


def _name_symbol(word: str) -> str:
    stem = word.rstrip("+#")
    return stem.lower() + _SYMBOLS[word[len(stem) :]]


def _expand(word: str) -> list[str]:
    """Return the terms of one word of a question, the most telling first."""
    if _CJK_RUN.match(word):
        return [*_pairs(word), *word]
    if _SYMBOL_NAME.fullmatch(word):
        return [_name_symbol(word)]
    word = word.rstrip("+#")
    parts = word.translate(_PARTS).split()
    terms = [part.casefold() for part in parts]
    if word.isascii():
        terms = [*_find_wholes(word.lower()), *terms, *(term for part in parts for term in _split_camel(part))]
    return terms


def _is_stop_word(token: Token) -> bool:
    term = token.term
    if term in ENGLISH or term in CHINESE_WORDS:
        return True
    is_letter_of_name = len(term) == 1 and term.isascii() and len(token.word) > 1
    return is_letter_of_name or (len(term) <= 2 and not CHINESE_CHARACTERS.isdisjoint(term))


def _find_starts(line: str, terms: Sequence[str]) -> list[tuple[int, str]]:
    """Return where words of ``line`` start that are forms of one of ``terms``, in order."""
    lower = line.lower()
    if len(lower) != len(line):  # a few letters grow; places in the one would be wrong in the other
        lower = line
    found = []
    for head in {_head(term.lower()) for term in terms if term}:
        at = lower.find(head)
        for _ in range(_MAX_PLACES):
            if at < 0:
                break
            if at == 0 or not head.isascii() or not (lower[at - 1].isascii() and lower[at - 1].isalnum()):
                found.append((at, head))
            at = lower.find(head, at + 1)
    return sorted(found)


def _find_densest(found: Sequence[tuple[int, str]], reach: int) -> int:
    """Return the first place from which most different terms lie within ``reach`` characters."""
    best, most, first = 0, 0, 0
    inside: Counter[str] = Counter()
    for at, term in found:
        inside[term] += 1
        while at - found[first][0] >= reach:
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > most:
            best, most = found[first][0], len(inside)
    return best


def _head(term: str) -> str:
    """Return what all forms of an English word start with: the word without an ending of up to three letters."""
    return term[: max(4, len(term) - 3)] if term.isalpha() and term.isascii() else term
