"""Which records of the vault may say nearly what a draft says: found through the search catalog, then read."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.answer import Answer, Status
from gitmem.model.record import Draft, Record
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import TYPE_CHECKING
from gitmem.values import replace

if TYPE_CHECKING:
    from gitmem.catalog.filters import Filters

MAX_FOUND = 24
"""How many records are read and compared for one draft."""
MAX_TERMS = 48
_MAX_CHARS = 4000


def find_near_records(vault: OpenVault, drafts: Sequence[Draft]) -> list[list[Record]]:
    """Return for each of ``drafts`` the records that share most of its rarer words, and those with its key or title.

    Retired ones are among them, private ones not; each list has at most ``MAX_FOUND`` and a few that are named.
    Reads. Raises what asking the catalog raises.
    """

    def look(reading: Reading) -> Answer:
        paths = [find_near_paths(reading, draft) for draft in drafts]
        records = reading.records(dict.fromkeys(path for some in paths for path in some))
        found = [[records[path][0] for path in some if path in records] for some in paths]
        return Answer(Status.OK, reading.head, extra={"found": found})

    found: list[list[Record]] = answer(vault, look).extra["found"] if drafts else []
    return found


def find_near_paths(reading: Reading, draft: Draft, limit: int = MAX_FOUND) -> list[str]:
    """Return the paths of at most ``limit`` records that share most of the rarer words of ``draft``, best first.

    Those with its key or title come on top of these. Retired ones are among them, private ones not. Nothing is read
    but the catalog.
    """
    from gitmem.catalog.candidates import find_candidates
    from gitmem.catalog.filters import Filters

    keys = [fold(draft.key)] if draft.key else []
    every: Filters = replace(Filters(), states=())
    pool = find_candidates(reading.database, _list_terms(draft), fold(draft.title), keys, every, limit)
    return [one.path for one in pool.found]


def _list_terms(draft: Draft) -> list[str]:
    from gitmem.relevance.terms import drop_stop_words, expand_word, iter_words

    text = "\n".join((draft.title, draft.key or "", draft.body))[:_MAX_CHARS]
    terms: dict[str, None] = {}
    for word in iter_words(text):
        terms |= dict.fromkeys(drop_stop_words(expand_word(word)).terms)
        if len(terms) >= MAX_TERMS:
            break
    return list(terms)[:MAX_TERMS]
