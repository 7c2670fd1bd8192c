"""From text to search terms, the same way for what is stored and for what is asked.

The full-text engine splits at everything but letters and digits, folds case and Latin accents and stems English. What
it can't do is done here: accents of other scripts are left out, and terms are added:

- an identifier counts whole and in parts: ``cache-ttl``, ``cache_ttl`` and ``cacheTtl`` all give ``cachettl``,
  ``cache`` and ``ttl``; a path gives its parts, its file name and its whole;
- a name with a number counts without it too: ``Python3`` gives ``python``, ``v1.2.3`` gives ``1.2.3``;
- ``C++`` and ``C#`` give ``cplusplus`` and ``csharp``, the option ``-rf`` of a command line ``optionrf``;
- Chinese, Japanese and Korean, written without blanks, count in pairs of neighbouring characters and singly.

Pure.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from gitmem.model.question import Word
from gitmem.patterns import NEVER, late
from gitmem.relevance.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH
from gitmem.values import replace

TERMS_VERSION = 3
"""Raised whenever the same text gives other terms, so that a stored catalog is made anew."""

_MAX_WHOLE_CHARS = 64
_SEPARATORS = "_-./\\:@"
_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
CJK_RUN = late(f"[{_CJK}]+", plain=NEVER)
"""Chinese, Japanese and Korean characters in a row."""
_MARK = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
# Accents and signs for vowels that may be left out in writing: those of Indic scripts, Thai and kana make other words.
_MARKS = late(f"[{_MARK}]+", plain=NEVER)
_MAY_BE_MARKED = late(f"[\u0370-\u06ff\u1f00-\u1fff{_MARK}]+", plain=NEVER)
_LETTERS = rf"[^\W_{_CJK}]+(?:[{_MARK}]+[^\W_{_CJK}]*)*"
_ENDING = r"(?:\+\+(?!\w)|#(?!\w))?"
QUERY_WORD = late(
    rf"[{_CJK}]+|{_LETTERS}(?:[_\-./\\:@]{{1,2}}{_LETTERS})*{_ENDING}",
    plain=rf"[A-Za-z0-9]+(?:[_\-./\\:@]{{1,2}}[A-Za-z0-9]+)*{_ENDING}",
)
_CAMEL_PART = late(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")
_PLURAL_ACRONYM = late(r"[A-Z]+s")
_NUMBERED = late(r"([A-Za-z]{2,})[0-9]+")
_NUMBER = late(r"[0-9]+(?:\.[0-9]+)+")
_VERSION = late(r"(?<![a-z0-9])[a-z]+([0-9]+(?:\.[0-9]+)+)")
# Identifiers come apart at three depths: places in a path, names in a dotted name, parts of a name.
_PLACES = str.maketrans(dict.fromkeys("/\\:@", " "))
_NAMES = str.maketrans(dict.fromkeys("/\\:@.", " "))
_PARTS = str.maketrans(dict.fromkeys(_SEPARATORS, " "))
_SYMBOL_NAME = late(r"(?<!\w)[A-Za-z][A-Za-z0-9]*(?:\+\+|#)(?!\w)")
_SYMBOLS = {"++": "plusplus", "#": "sharp"}


def _outline(char: str) -> str:
    if char in _SEPARATORS:
        return "."
    if char in "+#":
        return "+"
    if not (char.isascii() and char.isalnum()):
        return " "
    return "0" if char.isdigit() else "A" if char.isupper() else "a"


# The outline of a text: `a` for small letters, `A` for capitals, `0` for digits, `.` for what joins identifiers, `+`
# for what may end the name of a language, blanks for the rest. Bytes are translated and searched faster than text.
_OUTLINE = "".join(map(_outline, map(chr, range(256)))).encode()


# What titles and summaries are mostly made of. Where nothing else stands behind the first letter, no identifier is.
_PLAIN = bytes(point for point, kind in enumerate(_OUTLINE) if kind in b" a")
_SHORT = 200
_FEW = 4


def extract_terms(text: str) -> str:
    """Return the terms of ``text`` for the full-text engine: its words in small letters, then what identifiers add.

    Punctuation is left for the engine to drop. Text that is not ASCII is folded (NFKC), so that full-width letters
    meet their plain forms.
    """
    if text.isascii():
        words, ascii_text = text.lower(), text
        if len(text) < _SHORT and text[:1] != "-" and not text[1:].encode().translate(None, _PLAIN):
            return words
    else:
        text = unicodedata.normalize("NFKC", text)
        words = fold_term(CJK_RUN.sub(_spread, text))
        ascii_text = text.encode("ascii", "replace").decode()
    further = _find_identifier_terms(ascii_text)
    return f"{words} {' '.join(further)}" if further else words


def expand_word(word: str) -> Word:
    """Return one word of a question, as ``QUERY_WORD`` finds it, with its terms."""
    if CJK_RUN.match(word):
        return Word(word, tuple(_pairs(word)) or (word,), further=tuple(word) if len(word) > 1 else ())
    if _SYMBOL_NAME.fullmatch(word):
        return Word(word, (_name_symbol(word),))
    pieces = word.rstrip("+#").translate(_PARTS).split()
    if not word.isascii():
        return Word(word, tuple(map(fold_term, pieces)))
    if _NUMBER.fullmatch(word):  # its parts side by side, for one digit by itself says nothing
        return Word(word, (word,), word.replace(".", ""))
    terms: list[str] = []
    wholes = [whole for whole in _find_wholes(word.rstrip("+#").lower()) if whole.isalnum()]
    for piece in pieces:
        parts = _split_camel(piece)
        terms += parts or [piece.lower()]
        wholes += [piece.lower()] if parts else []
    whole, *further = wholes or [""]
    return Word(word, tuple(dict.fromkeys(terms)), whole, tuple(further))


def drop_stop_words(word: Word) -> Word:
    """Return ``word`` without the terms that are too common to search by; without any where it is a stop word."""
    terms, further = (
        tuple(term for term in terms if not _is_stop_word(term, word.text.lstrip("-")))
        for terms in (word.terms, word.further)
    )
    if CJK_RUN.match(word.text):
        # Where a function character takes the pair away, its neighbour is all that is left of a word.
        alone = tuple(char for char in further if not any(char in term for term in terms))
        return replace(word, terms=terms + alone, further=tuple(char for char in further if char not in alone))
    return replace(word, terms=terms or further, further=further if terms else ())


def split_word(word: str) -> list[str]:
    """Return the parts of ``word`` in small letters: those between blanks, what joins identifiers, and humps."""
    if word.isalpha() and word.islower():  # most are: a recall comes by thousands
        return [word]
    pieces = word.translate(_PARTS).split()
    return [part for piece in pieces for part in (_split_camel(piece) if piece.isascii() else []) or [piece.lower()]]


def name_option(word: str) -> str:
    """Return the term of an option on a command line: the same for ``-rf`` and ``--rf``, given without the minus."""
    return "option" + "".join(word.lower().translate(_PARTS).split())


def iter_words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` as they are written, identifiers whole; punctuation and blanks are left out."""
    for match in QUERY_WORD.finditer(unicodedata.normalize("NFKC", text)):
        yield match[0]


def split_parts(word: str) -> list[str]:
    """Return the parts of an identifier as terms: ``cacheTtl``, ``cache-ttl`` give ``cache`` and ``ttl``."""
    return list(map(fold_term, split_word(word)))


def join_parts(word: str) -> str:
    """Return an identifier in small letters without what joins its parts: ``cache-ttl`` gives ``cachettl``."""
    return fold_term("".join(word.translate(_PARTS).split()))


def fold_accents(text: str) -> str:
    """Return ``text`` without accents, and without signs for vowels that may be left out in writing."""
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))


def fold_term(text: str) -> str:
    """Return ``text``, which is NFKC, as terms are stored: in small letters, without accents that the engine keeps."""
    if text.isascii():
        return text.lower()
    return _MAY_BE_MARKED.sub(lambda run: fold_accents(run[0]), text).casefold()


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
        # Most dots only end sentences; where there are many, these are passed over.
        plain = outline.replace(b". ", b"  ") if outline.count(b".") > _FEW else outline
        for start, end in _iter_words(plain, plain, b"."):
            word = lower[start:end].strip(_SEPARATORS)
            if not word.isalnum():
                terms += _find_wholes(word)
            if text[start] == "-" and word[:1].isalpha() and len(word) <= _MAX_WHOLE_CHARS:
                terms.append(name_option(word))
        outline = outline.replace(b".", b" ")
    if b"A" in outline:
        # Most capitals only begin words; where there are many, these are passed over.
        marked = outline.replace(b" A", b"  ") if outline.count(b"A") > _FEW else outline
        for start, end in _iter_words(outline, marked, b"A"):
            if outline.find(b"A", start + 1, end) >= 0:
                terms += (parts := _split_camel(text[start:end]))
                terms += [part.rstrip("0123456789") for part in parts if part[-1].isdigit() and part[0].isalpha()]
    if b"a0" in outline or b"A0" in outline:
        terms += _find_numbered(text, outline)
    return terms


def _find_numbered(text: str, outline: bytes) -> Iterator[str]:
    """Yield the names in ``text`` that end in a number, without it."""
    outline = outline.replace(b"A", b"a")
    for start, end in _iter_words(outline, outline, b"a0"):
        numbered = _NUMBERED.fullmatch(text, start, end)
        if numbered and text[start - 1 : start] != "?":  # that may stand for a letter with an accent
            yield numbered[1].lower()


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
    """Return ``identifier``, its places and its names, where they have parts, each without what joins these.

    The number of a version comes last, joined and as it is written.
    """
    if identifier.isalnum():
        return ()
    joined = [identifier.replace("-", "").replace("_", "")]
    if not joined[0].isalnum():
        pieces = (identifier, *identifier.translate(_PLACES).split(), *identifier.translate(_NAMES).split())
        joined = ["".join(piece.translate(_PARTS).split()) for piece in pieces if not piece.isalnum()]
        for version in _VERSION.findall(identifier):
            joined += [version.replace(".", ""), version]
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


def _is_stop_word(term: str, word: str) -> bool:
    if term in ENGLISH or term in CHINESE_WORDS:
        return True
    is_letter_of_name = len(term) == 1 and term.isascii() and len(word) > 1
    return is_letter_of_name or (len(term) <= 2 and not CHINESE_CHARACTERS.isdisjoint(term))
