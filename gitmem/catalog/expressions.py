"""Questions as full-text expressions. Every term is quoted, so nothing of a question is syntax. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from gitmem.model.question import Exclusion, Phrase, Question, Word
from gitmem.text import fold
from gitmem.typed import NamedTuple

_MIN_PREFIX_CHARS = 6
"""How long a name is at least to be looked for as the beginning of longer ones."""


class Term(NamedTuple):
    """One term of a question: its expression, how the catalog stores it, and what is shown for it."""

    expression: str
    stored: str
    shown: str


def fold_name(name: str) -> str:
    """Return the form in which keys, titles and aliases are compared: folded, full-width letters as plain ones."""
    return fold(unicodedata.normalize("NFKC", name))


def join_name(name: str) -> str:
    """Return the form in which keys are compared whatever joins their parts: ``cache_ttl`` as ``cachettl``."""
    return "".join(filter(str.isalnum, fold_name(name)))


def quote(term: str) -> str:
    """Return ``term``, one word or several that stand side by side, as an expression."""
    # A NUL ends an expression for the engine, quoted or not.
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def join(expressions: Iterable[str], operator: str) -> str:
    """Return ``expressions`` joined by ``AND`` or ``OR``."""
    return f" {operator} ".join(expressions)


def format_what(what: Word | Phrase) -> str:
    """Return the expression for records that have this word or phrase."""
    if isinstance(what, Phrase):
        return f"({join(map(quote, what.parts), 'AND')})"
    ways = [f"({join(map(quote, what.terms), 'AND')})"] if what.terms else []
    return f"({join([*ways, *_format_whole(what)], 'OR')})"


def format_exclusion(exclusion: Exclusion) -> str:
    """Return the expression for the records that ``exclusion`` leaves out."""
    what = format_what(exclusion.what)
    return f"({what} NOT {quote(exclusion.unless)})" if exclusion.unless else what


def format_every(question: Question) -> str:
    """Return the expression for records that have all words and phrases; empty for a question without any."""
    whats: tuple[Word | Phrase, ...] = (*question.words, *question.phrases)
    return join(map(format_what, whats), "AND")


def list_terms(question: Question) -> tuple[Term, ...]:
    """Return the terms of ``question`` that count, each once. The first of a word stands for all of it."""
    terms: dict[str, Term] = {}
    for word in question.words:
        whole = [Term(expression, word.whole, word.text) for expression in _format_whole(word)]
        first = [Term(quote(term), term, word.text) for term in word.terms[:1] if not whole and word.text.isascii()]
        parts = [Term(quote(term), term, term) for term in word.terms]
        further = [Term(quote(term), term, word.text if word.text.isascii() else term) for term in word.further]
        for term in (*whole, *first, *parts, *further):
            terms.setdefault(term.expression, term)
    for phrase in question.phrases:
        for part in phrase.parts:
            terms.setdefault(quote(part), Term(quote(part), part, phrase.text if len(phrase.parts) == 1 else part))
    return tuple(terms.values())


def format_pieces(question: Question) -> list[str]:
    """Return an expression for each term of the words, which the whole of its word stands for too, and each phrase."""
    pieces = [join([quote(term), *_format_whole(word)], "OR") for word in question.words for term in word.terms]
    return [*dict.fromkeys(pieces), *map(format_what, question.phrases)]


def within(expression: str, fields: Sequence[str]) -> str:
    """Return ``expression`` for the columns ``fields`` alone, for all where there are none."""
    return f"{{{' '.join(fields)}}} : ({expression})" if fields and expression else expression


def _format_whole(word: Word) -> list[str]:
    if not word.whole:
        return []
    return [quote(word.whole) + ("*" if len(word.whole) >= _MIN_PREFIX_CHARS else "")]
