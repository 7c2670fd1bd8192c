"""How well records fit a question: which it names, how they score, which of their words matched.

All functions read through an open connection; ``condition`` and ``values`` narrow ``records``, with a leading ``AND``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from gitmem.catalog.expressions import Term, fold_name, join, join_name
from gitmem.catalog.filters import marks
from gitmem.catalog.highlights import format_highlights, list_highlighted
from gitmem.catalog.tables import FIELDS, WEIGHTS
from gitmem.typed import Any, NamedTuple

_SCORE = f"-bm25(terms, {', '.join(map(str, WEIGHTS))})"
_HIGHLIGHTS = ", ".join(format_highlights("terms", len(FIELDS)))
_NAME_ORDER = ("key", "joined key", "title", "alias")
# What all words of a question in exactly their form add to a score: enough to decide between equals, not much more.
_EXACT_BONUS = 0.2
_BLOCK = 30
_ALWAYS_TELLING = 1000
_MATCHING = "FROM terms JOIN records ON records.rowid = terms.rowid WHERE terms MATCH ? AND is_shadowed = 0"


class Found(NamedTuple):
    """A record that full text found: its score, higher for the better, and the words that matched, by field."""

    score: float
    words: dict[str, list[str]]


def find_exact(
    connection: sqlite3.Connection,
    text: str,
    keys: Sequence[str],
    condition: str,
    values: tuple[Any, ...],
    joined: Sequence[str] = (),
) -> dict[int, str]:
    """Return the records that ``text`` names or whose key is in ``keys``, each with how: ``title: heron``.

    Whatever joins the parts of a key, it may also be one of ``joined``. Those named by key come first, then by title,
    then by alias, each by path.
    """
    keys, parts = [*map(fold_name, keys)], [*map(join_name, joined)]
    rows = connection.execute(
        "SELECT record, field, name, key FROM names JOIN records ON records.rowid = record"  # noqa: S608
        f" WHERE ((name = ? AND field <> 'joined key') OR (field = 'key' AND name IN ({marks(keys)}))"
        f" OR (field IN ('key', 'joined key') AND name IN ({marks(parts)})))"
        f" AND is_shadowed = 0{condition} ORDER BY path",
        (fold_name(text), *keys, *parts, *values),
    )
    found: dict[int, str] = {}
    for record, field, name, key in sorted(rows, key=lambda row: _NAME_ORDER.index(row[1])):
        found.setdefault(record, f"key: {fold_name(key)}" if field == "joined key" else f"{field}: {name}")
    return found


def find_scores(
    connection: sqlite3.Connection, expression: str, condition: str, values: tuple[Any, ...], limit: int
) -> dict[int, float]:
    """Return the ``limit`` best records by BM25 over the weighted fields, the best first, ties by path.

    None for an empty expression.
    """
    if not expression:
        return {}
    if condition.count(" AND ") <= 2:
        found = _find_scores_first(connection, expression, condition, values, limit)
        if found is not None:
            return found
    rows = connection.execute(
        f"SELECT records.rowid, {_SCORE} AS score {_MATCHING}{condition} ORDER BY score DESC, path LIMIT ?",
        (expression, *values, limit),
    )
    return dict(rows.fetchall())


def _find_scores_first(
    connection: sqlite3.Connection, expression: str, condition: str, values: tuple[Any, ...], limit: int
) -> dict[int, float] | None:
    """Return what ``find_scores`` returns, or ``None`` where too few of the best records fulfil ``condition``.

    To look up the record of each match takes a third of a search; here only those of the best are looked up.
    """
    ahead = 2 * limit + 20
    scores = dict(
        connection.execute(
            f"SELECT rowid, {_SCORE} AS score FROM terms WHERE terms MATCH ? ORDER BY score DESC LIMIT ?",  # noqa: S608
            (expression, ahead),
        ).fetchall()
    )
    rows = connection.execute(
        f"SELECT rowid, path FROM records WHERE rowid IN ({marks([*scores])}) AND is_shadowed = 0{condition}",  # noqa: S608
        (*scores, *values),
    )
    found = sorted((-scores[row], path, row) for row, path in rows)[:limit]
    # Of those that score like the last one, some may be missing, and the path decides between equals.
    is_sure = len(scores) < ahead or (len(found) == limit and -found[-1][0] > min(scores.values()))
    return {row: -score for score, _path, row in found} if is_sure else None


def find_in_order(
    connection: sqlite3.Connection,
    expression: str,
    condition: str,
    values: tuple[Any, ...],
    order: str,
    limit: int,
) -> dict[int, float]:
    """Return the first ``limit`` of the records that match, by the SQL ``order``; their scores are 0."""
    if not expression:
        return {}
    rows = connection.execute(
        f"SELECT records.rowid, 0.0 {_MATCHING}{condition} ORDER BY {order} LIMIT ?",
        (expression, *values, limit),
    )
    return dict(rows.fetchall())


def list_matches(connection: sqlite3.Connection, expression: str, condition: str, values: tuple[Any, ...]) -> list[str]:
    """Return the path of every record that matches, in no order."""
    rows = connection.execute(f"SELECT path {_MATCHING}{condition}", (expression, *values))
    return [path for (path,) in rows]


def count_matches(
    connection: sqlite3.Connection,
    expression: str,
    condition: str,
    values: tuple[Any, ...],
    apart: Sequence[str],
    most: int,
) -> tuple[int, int]:
    """Return how many records match, those of the kinds ``apart`` counted by themselves; ``most`` of both together."""
    if not expression:
        return 0, 0
    # One pass for both: to look up the record of each match is what counting costs.
    question = (
        f"SELECT count(*), total(coalesce(kind, '') IN ({marks(apart)}))"  # noqa: S608
        f" FROM (SELECT kind {_MATCHING}{condition} LIMIT ?)"
    )
    every, kept = connection.execute(question, (*apart, expression, *values, most)).fetchone()
    return every - int(kept), int(kept)


def has_match(connection: sqlite3.Connection, expression: str) -> bool:
    """Tell whether any record, delivered or not, matches."""
    return connection.execute("SELECT 1 FROM terms WHERE terms MATCH ? LIMIT 1", (expression,)).fetchone() is not None


class Counts(NamedTuple):
    """How many records the vault has at least, and how many match each expression, counted to one above ``most``."""

    record_count: int
    most: int
    by_expression: dict[str, int]


def count_each(connection: sqlite3.Connection, expressions: Sequence[str]) -> Counts:
    """Return how many records match each of ``expressions``; counting stops above a fifth of them, and above 1,000."""
    (count,) = connection.execute("SELECT coalesce(max(rowid), 0) FROM records").fetchone()
    most = max(_ALWAYS_TELLING, count // 5)
    question = f"SELECT count(*) FROM (SELECT 1 FROM terms WHERE terms MATCH ? LIMIT {most + 1})"  # noqa: S608
    return Counts(count, most, {one: connection.execute(question, (one,)).fetchone()[0] for one in expressions})


def list_telling(counts: Counts) -> list[str]:
    """Return the expressions that tell records apart: in at most a fifth of them, or in 1,000; all if none is.

    A term in most records hardly changes the order, but scoring all of them is what a search with ``OR`` costs.
    """
    return [one for one, count in counts.by_expression.items() if count <= counts.most] or list(counts.by_expression)


def round_up(count: int) -> int:
    """Return how many of the best records must be ranked so that the first ``count`` come in their final order."""
    return -(-count // _BLOCK) * _BLOCK


def rank(
    connection: sqlite3.Connection, groups: Sequence[Mapping[int, float]], terms: Sequence[Term], fields: Sequence[str]
) -> dict[int, Found]:
    """Return the scored records, group by group and in each the best first, with the words that matched.

    Exact words add a little to a score; that changes the order only within blocks of a fixed size, so that the order of
    the first records is the same however many follow, see ``round_up``. Only words in ``fields`` count, where there are
    any.
    """
    if not any(groups) or not terms:
        return {row: Found(score, {}) for group in groups for row, score in group.items()}
    shown = {term.stored: term.shown for term in reversed(terms)}
    rows = [row for group in groups for row in group]
    words = _find_words(connection, join([term.expression for term in terms], "OR"), rows, fields)
    found = {}
    for group in groups:
        for row, score in group.items():
            matched = words.get(row, {})
            exact = shown.keys() & {word for field in matched.values() for word in field}
            by_field = {field: _show([shown.get(w, w) for w in matches]) for field, matches in matched.items()}
            found[row] = Found(score * (1 + _EXACT_BONUS * len(exact) / len(shown)), by_field)
    blocks = [[*group][at : at + _BLOCK] for group in groups for at in range(0, len(group), _BLOCK)]
    return {row: found[row] for block in blocks for row in sorted(block, key=lambda row: -found[row].score)}


def _show(words: Sequence[str]) -> list[str]:
    """Return ``words`` in order without those that are part of another: ``cache`` beside ``cache-ttl``."""
    return [word for word in dict.fromkeys(words) if not any(word in other and word != other for other in words)]


def _find_words(
    connection: sqlite3.Connection, expression: str, rows: Sequence[int], fields: Sequence[str]
) -> dict[int, dict[str, list[str]]]:
    """Return the words of each record that match, each once, by field; fields without any left out."""
    # One question a record: for one pass over all matches of the expression, most of which are not asked for, takes
    # three times as long.
    question = f"SELECT {_HIGHLIGHTS} FROM terms WHERE terms MATCH ? AND rowid = ?"  # noqa: S608
    found = {}
    for row in rows:
        texts = connection.execute(question, (expression, row)).fetchone() or [""] * len(FIELDS)
        by_field = {
            field: list_highlighted(text)
            for field, text in zip(FIELDS, texts, strict=True)
            if not fields or field in fields
        }
        found[row] = {field: words for field, words in by_field.items() if words}
    return found
