"""Which records a prompt may be about, and how many hold each of its terms."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.catalog.database import Database
from gitmem.catalog.expressions import join, quote
from gitmem.catalog.filters import Filters, format_filters, marks
from gitmem.catalog.query import load_rows
from gitmem.catalog.rank import count_each, find_exact, find_scores, list_telling
from gitmem.catalog.tables import FIELDS
from gitmem.model.vault_path import VaultPath
from gitmem.text import fold
from gitmem.typed import NamedTuple
from gitmem.values import dataclass


class Found(NamedTuple):
    """A record with its score by words, its names and filing (``head``) and its text, both as search terms."""

    path: VaultPath
    score: float
    head: str
    body: str


@dataclass(frozen=True)
class Pool:
    """What the catalog knows for a prompt.

    ``record_count`` is at least the number of records. ``counts`` says how many hold each term; counting stops above a
    fifth of the vault, and above 1,000. ``found`` are the best records by words, the best first; ``named`` says of
    which the prompt names the key or the whole title, and how, by path.
    """

    record_count: int
    counts: dict[str, int]
    found: tuple[Found, ...]
    named: dict[VaultPath, str]


def find_candidates(
    database: Database, terms: Sequence[str], name: str, keys: Sequence[str], filters: Filters, limit: int
) -> Pool:
    """Return the records that hold any of ``terms``, the best ``limit`` by BM25, and those that are named.

    ``name`` is the whole prompt, folded, ``keys`` are the words in it that may be keys. A term that most records hold
    finds nothing, unless all terms are such.
    """
    condition, values = format_filters(filters)
    with database.reading() as connection:
        expressions = {term: quote(term) for term in terms}
        counts = count_each(connection, list(expressions.values()))
        scores = find_scores(connection, join(list_telling(counts), "OR"), condition, values, limit)
        exact = find_exact(connection, name, keys, condition, values)
        rows = load_rows(connection, list({**scores, **exact}))
        texts = {
            row: ("\n".join(head), body)
            for row, *head, body in connection.execute(
                f"SELECT rowid, {', '.join(FIELDS)} FROM terms WHERE rowid IN ({marks(list(rows))})",  # noqa: S608
                tuple(rows),
            )
        }
    order = list({**scores, **exact})
    found = tuple(Found(rows[row].path, scores.get(row, 0.0), *texts[row]) for row in order)
    named = {rows[row].path: how for row, how in exact.items()}
    by_term = {term: counts.by_expression[expression] for term, expression in expressions.items()}
    return Pool(counts.record_count, by_term, found, named)


def find_named(database: Database, names: Sequence[str]) -> dict[str, str]:
    """Return the paths of the delivered records whose file is called one of ``names``, as ``link_name`` makes them.

    Of several files of one name the first by path counts.
    """
    condition, values = format_filters(Filters())
    sql = f"SELECT 1 FROM records WHERE path = ? AND is_shadowed = 0{condition}"  # noqa: S608
    found: dict[str, str] = {}
    with database.reading() as connection:
        # What files a folder has stands in one text, which is searched much faster than a row for each of them.
        for folder, packed in connection.execute("SELECT path, names FROM folders"):
            folded = f"/{fold(packed)}/"
            for name in names:
                at = folded.find(f"/{name}.md/")
                path = f"{folder}/{packed.split('/')[folded.count('/', 0, at)]}" if at >= 0 else ""
                if path and connection.execute(sql, (path, *values)).fetchone():
                    found[name] = min(path, found.get(name, path))
    return found
