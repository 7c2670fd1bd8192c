"""The vocabulary of tags in the search catalog, as a tree with counts. A read; expects a reconciled catalog."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.catalog.database import Database
from gitmem.catalog.filters import IN_TAG, Filters, format_filters, format_tag
from gitmem.text import fold_tag
from gitmem.typed import NamedTuple


class TagCount(NamedTuple):
    """A tag, spelt as in the first record by path that has it or one below it.

    ``own`` counts the records with this very tag, ``total`` those with it or one below it, each once.
    """

    tag: str
    own: int
    total: int


def count_tags(database: Database, filters: Filters, namespace: str = "") -> list[TagCount]:
    """Return the tags of the records that ``filters`` admits and all namespaces above these, by name, parents first.

    ``namespace`` leaves the tag of that name and those below it. Tags that differ in case are one. Private records,
    and files whose id another one has, don't count.
    """
    condition, values = format_filters(filters)
    below = f" AND {IN_TAG}" if namespace else ""
    named = format_tag(namespace) if namespace else ()
    shared = f"FROM tags JOIN records ON records.rowid = tags.record WHERE is_shadowed = 0{condition}"
    with database.reading() as connection:
        found = connection.execute(
            f"SELECT folded, tag, count(*), min(path) {shared}{below} GROUP BY folded ORDER BY folded",
            (*values, *named),
        ).fetchall()
        spelt: dict[str, tuple[str, str]] = {}
        own: dict[str, int] = {}
        for folded, tag, count, path in found:
            own[folded] = count
            for name, spelling in iter_above(folded, tag):
                spelt[name] = min(spelt.get(name, (path, spelling)), (path, spelling))
        top = fold_tag(namespace)
        names = sorted((name for name in spelt if name.startswith(top)), key=lambda name: name.split("/"))
        inner = {name for folded in own for name, _spelling in iter_above(folded, folded) if name != folded}
        totals = own | {
            name: connection.execute(
                f"SELECT count(DISTINCT tags.record) {shared} AND {IN_TAG}", (*values, *format_tag(name))
            ).fetchone()[0]
            for name in inner.intersection(names)
        }
    return [TagCount(spelt[name][1], own.get(name, 0), totals[name]) for name in names]


def iter_above(folded: str, tag: str) -> Iterator[tuple[str, str]]:
    """Yield each namespace that a tag lies in, outermost first, then itself: folded, and as it is spelt.

    Obsidian takes ``a//b`` for a tag; what has no name between the two is no namespace.
    """
    names, spellings = folded.split("/"), tag.split("/")
    for number in range(1, len(names) + 1):
        if names[number - 1] or number == len(names):
            yield "/".join(names[:number]), "/".join(spellings[:number])
