"""Why a filter admits nothing: a tag, folder or link that no record has, and what is spelt nearly like it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from gitmem.model.record import State
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading
from gitmem.text import fold, make_visible

MAX_COMPARED = 2000
"""How many tags or folders a wrong one is compared with."""


def explain_nothing(reading: Reading, filters: Filters) -> dict[str, str]:
    """Return what an answer without results says beside that, as ``hint``; empty where nothing can be said."""
    hint = " ".join(explain_filters(reading, filters))
    return {"hint": hint} if hint else {}


def explain_filters(reading: Reading, filters: Filters) -> Iterator[str]:
    """Yield one sentence for each value of ``filters`` that no record fits, whatever its state."""
    from gitmem.catalog.filters import Filters as Wanted
    from gitmem.catalog.query import list_rows
    from gitmem.catalog.vocabulary import count_tags

    every = Wanted(states=tuple(State))
    for tag in dict.fromkeys((*filters.tags, *filters.any_tags)):
        if not list_rows(reading.database, Wanted(states=tuple(State), tags=(tag,)), 1):
            tags = [one.tag for one in count_tags(reading.database, every)]
            yield _say(f"no record has the tag {tag}", tag, tags)
    for paths in (to_catalog(Filters(paths=(path,)), reading).paths for path in filters.paths):
        if paths and not list_rows(reading.database, Wanted(states=tuple(State), paths=paths), 1):
            folders = {row.path.rpartition("/")[0] for row in list_rows(reading.database, every, MAX_COMPARED)}
            yield _say(f"no record lies at {paths[0]}", paths[0], sorted(folders))
    for ref in filters.links_to:
        if not to_catalog(Filters(links_to=(ref,)), reading).only:
            yield _say(f"nothing links to {ref}", "", [])


def _say(what: str, wrong: str, known: list[str]) -> str:
    folded = {fold(one): one for one in known[:MAX_COMPARED]}
    near = get_close_matches(fold(wrong), folded, 1, 0.6) if wrong else []
    also = f"; did you mean {make_visible(folded[near[0]])}?" if near else "."
    return make_visible(what[:1].upper() + what[1:]) + also
