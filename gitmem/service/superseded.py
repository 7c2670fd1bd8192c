"""Which records are replaced by others, as these say in ``supersedes``; the older ones need not know.

Anybody can write that property. So nothing is replaced by what is less sure than itself: an observation replaces
observations, committed promoted knowledge that and observations, and only the committed baseline the baseline.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from gitmem.model.links import LinkTargets, link_name
from gitmem.model.record import Record, State
from gitmem.model.validity import NOT_YET, find_marks
from gitmem.service.reading import Reading

_MAX_NAMES = 500
"""About how many records the catalog is asked at once; some builds of SQLite take no more than 999 values."""
_STANDING = {State.RETIRED: 0, State.OBSERVATION: 1, State.PROMOTED: 2, State.BASELINE: 3}


def find_superseded(reading: Reading, records: Sequence[Record]) -> dict[str, str]:
    """Return the paths of those ``records`` that another one replaces, each with that one's title.

    Does what ``find_replacements`` does.
    """
    return {path: newer.title for path, newer in find_replacements(reading, records).items()}


def find_replacements(reading: Reading, records: Sequence[Record]) -> dict[str, Record]:
    """Return the paths of those ``records`` of the work tree that another one replaces, each with that one.

    Private and retired records replace nothing, nor do those that are not valid yet, nor does a record itself. Reads
    the few records that may replace one of ``records``.
    """
    from gitmem.catalog.query import list_superseding

    names = list(dict.fromkeys(link_name(record.path) for record in records))
    chunks = (names[start : start + _MAX_NAMES] for start in range(0, len(names), _MAX_NAMES))
    paths = list(dict.fromkeys(path for some in chunks for path in list_superseding(reading.database, some)))
    if not paths:
        return {}
    newer = [record for record, _data in reading.records(paths).values()]
    uncommitted = reading.uncommitted(newer)
    found: dict[str, Record] = {}
    for older, record in _iter_pairs(reading, records, newer):
        is_sure = record.path not in uncommitted or older.state is State.OBSERVATION
        if is_sure and _STANDING[record.state] >= _STANDING[older.state]:
            found.setdefault(older.path, record)
    return found


def find_superseded_declared(
    reading: Reading, committed: Sequence[Record], confirmed: Container[str]
) -> frozenset[str]:
    """Return the paths of those ``committed`` baseline records that another of them replaces.

    What a person is known to have declared is replaced only by another such record (INV-BOUNDARIES).
    """
    newer = [record for record in committed if record.supersedes]
    pairs = _iter_pairs(reading, committed, newer) if newer else ()
    return frozenset(older.path for older, record in pairs if record.path in confirmed or older.path not in confirmed)


def _iter_pairs(reading: Reading, older: Iterable[Record], newer: Iterable[Record]) -> Iterable[tuple[Record, Record]]:
    """Yield each of ``older`` with each of ``newer`` that names it, in links as Obsidian resolves them, and holds."""
    from gitmem.vault.markdown import list_superseded

    by_path: dict[str, Record] = {record.path: record for record in older}
    targets = LinkTargets(reading.iter_link_targets())
    for record in newer:
        if any(mark.code == NOT_YET for mark in find_marks(record, reading.now.date())):
            continue
        for link in list_superseded(record):
            path = targets.resolve(link.target, record.path).path
            if path in by_path and path != record.path:
                yield by_path[path], record
