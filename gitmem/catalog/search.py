"""A question in words, asked of the search catalog. A read; it expects a reconciled catalog, see ``catalog.query``."""

from __future__ import annotations

import sqlite3
from collections import Counter

from gitmem.catalog.database import Database
from gitmem.catalog.expressions import (
    Term,
    format_every,
    format_exclusion,
    format_pieces,
    format_what,
    join,
    list_terms,
    within,
)
from gitmem.catalog.filters import NO_FILTERS, Filters, format_filters, format_moment, marks
from gitmem.catalog.query import Row, load_rows
from gitmem.catalog.rank import (
    Found,
    count_each,
    count_matches,
    find_exact,
    find_in_order,
    find_scores,
    has_match,
    list_matches,
    list_telling,
    rank,
    round_up,
)
from gitmem.catalog.spelling import find_near_word, respell
from gitmem.errors import InputError
from gitmem.model.answer import Sort, Strength
from gitmem.model.question import Question
from gitmem.model.record import Kind
from gitmem.typed import Any
from gitmem.values import dataclass

MAX_LIMIT = 1000
MAX_OFFSET = 10_000
MAX_ROWS = MAX_LIMIT + 100
"""How many matches are given at once: a page, and what is looked at before it to rank it."""
MAX_COUNT = 1000
"""Up to how many matching records are counted, those apart included."""
_MAX_RESPELT = 3
_ORDERS = {
    Sort.UPDATED: f"{format_moment('coalesce(updated, created)')} DESC, path",
    Sort.CREATED: f"{format_moment('created')} DESC, path",
    Sort.TITLE: "fold(records.title), id",  # as a list is sorted
    Sort.PATH: "path",
}
_COLUMNS = {"key": "key", "alias": "key", "title": "title"}


@dataclass(frozen=True)
class Query:
    """What is asked: a question, of the records that ``filters`` admits, in ``fields`` of them (all where empty).

    Records of the kinds ``apart`` don't answer but are counted.
    """

    question: Question
    filters: Filters = NO_FILTERS
    fields: tuple[str, ...] = ()
    apart: tuple[Kind, ...] = ()


@dataclass(frozen=True)
class Page:
    """Which of the matching records are wanted, and in which order."""

    limit: int = 10
    offset: int = 0
    sort: Sort = Sort.RELEVANCE


_FIRST_PAGE = Page()


@dataclass(frozen=True)
class Match:
    """A record that answers a query. ``matched`` says why, a string for each field: ``title: two workers``.

    ``words`` holds the words of the record that matched, for a snippet. ``score`` is higher for the better match among
    those of one ``strength``; the order of the matches is the ranking.
    """

    row: Row
    matched: tuple[str, ...]
    words: tuple[str, ...]
    score: float
    strength: Strength


@dataclass(frozen=True)
class Matches:
    """One page of what answers a query, and how many records do in all.

    ``apart`` counts those of the kinds that were kept apart. ``is_capped`` says that there may be more of both, for
    only ``MAX_COUNT`` are looked at. ``near`` has, for words of the question that no record has, what was probably
    meant.
    """

    page: tuple[Match, ...]
    total: int
    apart: int
    is_capped: bool
    near: dict[str, str]


def search(database: Database, query: Query, page: Page = _FIRST_PAGE) -> Matches:
    """Return what answers ``query``, the best first; none where nothing fits.

    First come records whose key, title or alias the question is, or whose key is a compound word in it; then those
    with every word; then those with any of them, by BM25 over the weighted fields. An exact word breaks near-ties.
    The order is the same whatever page is asked for. In another order than by relevance, the last ones count only
    where there are none of the others. Phrases must be there and exclusions must not, whatever else fits. Raises
    ``InputError``: ``bad-limit`` outside 1 to ``MAX_ROWS``, ``bad-offset`` outside 0 to ``MAX_OFFSET``.
    """
    check_page(page, MAX_ROWS)
    with database.reading() as connection:
        return _Search(connection, query).run(page)


def list_best(database: Database, query: Query) -> tuple[str, ...]:
    """Return the paths of the records that hold about as much of ``query`` as the best does, sorted; all of them.

    That is three fifths of its words: to be put in another order than by how well they fit.
    """
    with database.reading() as connection:
        return _Search(connection, query).list_best()


class _Search:
    """One question on one connection, all of one moment."""

    def __init__(self, connection: sqlite3.Connection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._terms: tuple[Term, ...] = list_terms(query.question)
        self._every = self._within(format_every(query.question))
        self._demands = self._format_demands()

    def run(self, page: Page) -> Matches:
        """Return the page, the counts and the unknown words."""
        wanted = round_up(page.offset + page.limit)
        some = self._format_some()
        exact = self._find_exact()
        every = self._find(self._every, wanted, page.sort)
        takes_some = page.sort is Sort.RELEVANCE or not (exact or every)
        others: dict[int, float] = {}
        if takes_some and len(every) < wanted:
            others = self._find(some, wanted + len(every), page.sort)
            others = dict([(row, score) for row, score in others.items() if row not in every][:wanted])
        found = rank(self._connection, [every, others], self._terms, self._query.fields)
        order = self._order([*exact, *(row for row in found if row not in exact)], page)
        rows = load_rows(self._connection, order)
        strengths = dict.fromkeys(every, Strength.ALL) | dict.fromkeys(exact, Strength.EXACT)
        expression = join(filter(None, (self._every, some if takes_some else "")), "OR")
        counted, apart = self._count(expression)
        total = max(counted, page.offset + len(order) if order else 0)
        return Matches(
            tuple(_make_match(rows[row], exact.get(row), found.get(row), strengths.get(row)) for row in order),
            total,
            apart,
            counted + apart == MAX_COUNT,
            {} if exact or every else self._find_near(is_lost=not total),
        )

    def list_best(self) -> tuple[str, ...]:
        """Return the paths of the records that hold many of the terms."""
        named = {row.path for row in load_rows(self._connection, [*self._find_exact()]).values()}
        pieces = format_pieces(self._query.question)
        held: Counter[str] = Counter(dict.fromkeys(named, len(pieces)))
        for piece in pieces:
            found = list_matches(self._connection, self._within(piece), *self._condition())
            held.update(path for path in found if path not in named)
        most = max(held.values(), default=0)
        return tuple(sorted(path for path, count in held.items() if count * 5 >= most * 3))

    def _within(self, expression: str) -> str:
        return within(expression, self._query.fields)

    def _format_some(self) -> str:
        """Return the expression for records with any of the terms that tell records apart.

        With any term at all where no record that may answer has one of those: what has one word of two is found.
        """
        if len(self._terms) < 2:
            return ""
        terms = [term.expression for term in self._terms]
        telling = list_telling(count_each(self._connection, terms))
        expression = self._within(join(telling, "OR"))
        if len(telling) == len(terms):
            return expression
        found, _apart = count_matches(self._connection, expression, *self._condition(), (), 1)
        return expression if found else self._within(join(terms, "OR"))

    def _format_demands(self) -> tuple[str, tuple[str, ...]]:
        condition, values = "", []
        inside = "records.rowid {} (SELECT rowid FROM terms WHERE terms MATCH ?)"
        for phrase in self._query.question.phrases:
            condition += f" AND {inside.format('IN')}"
            values.append(self._within(format_what(phrase)))
        for exclusion in self._query.question.exclusions:
            condition += f" AND {inside.format('NOT IN')}"
            values.append(self._within(format_exclusion(exclusion)))
        return condition, tuple(values)

    def _condition(self) -> tuple[str, tuple[Any, ...]]:
        """Return the condition on the records that answer: not of a kind that is kept apart."""
        condition, values = format_filters(self._query.filters)
        demands, demanded = self._demands
        kinds = self._query.apart
        if kinds:
            demands += f" AND coalesce(kind, '') NOT IN ({marks(kinds)})"
        return condition + demands, (*values, *demanded, *kinds)

    def _find_exact(self) -> dict[int, str]:
        question, fields = self._query.question, self._query.fields
        name = question.name
        keys = [name, *(word.text for word in question.words if not word.text.isalnum())]
        joined = [name, *(word.text for word in question.words if word.whole)]
        found = find_exact(self._connection, name, keys, *self._condition(), joined)
        return {row: how for row, how in found.items() if not fields or _COLUMNS[how.partition(":")[0]] in fields}

    def _find(self, expression: str, limit: int, sort: Sort) -> dict[int, float]:
        if sort is Sort.RELEVANCE:
            return find_scores(self._connection, expression, *self._condition(), limit)
        return find_in_order(self._connection, expression, *self._condition(), _ORDERS[sort], limit)

    def _order(self, found: list[int], page: Page) -> list[int]:
        if page.sort is not Sort.RELEVANCE:
            question = f"SELECT rowid FROM records WHERE rowid IN ({marks(found)}) ORDER BY {_ORDERS[page.sort]}"  # noqa: S608
            found = [row for (row,) in self._connection.execute(question, found)]
        return found[page.offset : page.offset + page.limit]

    def _count(self, expression: str) -> tuple[int, int]:
        condition, values = format_filters(self._query.filters)
        demands, demanded = self._demands
        wider = (condition + demands, (*values, *demanded))
        return count_matches(self._connection, expression, *wider, self._query.apart, MAX_COUNT)

    def _find_near(self, *, is_lost: bool) -> dict[str, str]:
        words = [word for word in self._query.question.words if not has_match(self._connection, format_what(word))]
        condition, values = format_filters(self._query.filters)
        near = {}
        for word in words[:_MAX_RESPELT]:
            asked = word.whole or "".join(word.terms[:1])
            meant = find_near_word(self._connection, asked, condition, values, searches_on=is_lost)
            if meant:
                near[word.text] = respell(word.text, meant) if word.whole else meant
        return near


def check_page(page: Page, max_limit: int = MAX_LIMIT) -> None:
    """Check that limit and offset are within their bounds. Raises ``InputError`` (``bad-limit``, ``bad-offset``)."""
    for name, value, least, most in (
        ("limit", page.limit, 1, max_limit),
        ("offset", page.offset, 0, MAX_OFFSET),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            message = f"{'a limit' if name == 'limit' else 'an offset'} is a whole number from {least} to {most}"
            raise InputError(f"bad-{name}", message, "Ask for 10." if name == "limit" else "Begin at 0.")


def _make_match(row: Row, exact: str | None, found: Found | None, strength: Strength | None) -> Match:
    by_field = found.words if found else {}
    matched = [f"{field}: {' '.join(words)}" for field, words in by_field.items()]
    if exact:
        field, _colon, _name = exact.partition(":")
        matched = [exact, *(reason for reason in matched if not reason.startswith(f"{field}:"))]
    words = dict.fromkeys(word for words in by_field.values() for word in words)
    return Match(row, tuple(matched), tuple(words), found.score if found else 0.0, strength or Strength.SOME)
