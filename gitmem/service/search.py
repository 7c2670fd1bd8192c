"""Answer explicit words. What is returned is reread from Markdown; the catalog only says where to look.

INV-NEVER-SILENT: an answer without hits says whether nothing fits or something could not be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.model.answer import Answer, Hit, Status
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault

if TYPE_CHECKING:
    from gitmem.catalog.query import Match, Query

MAX_SNIPPET_CHARS = 160


def search(vault: OpenVault, words: str, filters: Filters, limit: int = 10, as_of: str | None = None) -> Answer:
    """Return the records that best match ``words`` as hits, best first, at most ``limit`` (1 to 1,000).

    Each hit says why it matched and shows the place. Uncommitted edits are found and flagged. Retired records answer
    only when ``filters`` names their state. ``as_of`` asks an earlier commit, see ``reading.answer``. Raises
    ``InputError`` (``empty-query``, ``query-too-long``, ``bad-limit``, ``no-such-revision``).
    """
    from gitmem.catalog.query import Query
    from gitmem.errors import InputError
    from gitmem.relevance.terms import parse_query

    tokens = tuple((token.term, token.word) for token in parse_query(words))
    if not words.strip():
        raise InputError("empty-query", "there is nothing to search for", "Give a word, or use `gitmem list`.")

    def ask(reading: Reading) -> Answer:
        return _search(reading, Query(words, tokens, to_catalog(filters, reading)), limit)

    return answer(vault, ask, as_of)


def _search(reading: Reading, query: Query, limit: int) -> Answer:
    from gitmem.catalog.query import search as find_matches
    from gitmem.relevance.terms import make_snippet

    matches: list[Match] = find_matches(reading.database, query, limit)
    records = reading.records(sorted(match.row.path for match in matches))
    uncommitted = reading.uncommitted(record for record, _data in records.values())
    hits = []
    for match in matches:
        if match.row.path not in records:
            continue
        record = records[match.row.path][0]
        snippet = make_snippet(record.body, match.words, MAX_SNIPPET_CHARS)
        hits.append(Hit(record, match.matched, snippet, uncommitted=record.path in uncommitted))
    status = Status.OK if hits else Status.NO_MATCH
    return Answer(status, reading.head, tuple(hits), diagnostics=reading.report.problems)
