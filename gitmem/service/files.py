"""Records as files of a tree, for hosts whose models think in files. See ``model.memory_file``."""

from __future__ import annotations

import os
from contextlib import suppress

from gitmem.model.answer import Answer, Status
from gitmem.model.memory_file import find_chosen
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault


def list_files(vault: OpenVault) -> Answer:
    """Return every record in use as a row: ``path``, ``id``, ``state``, ``bytes`` and ``is_chosen``, sorted by path.

    A record with a key that says so lies at the path that a model chose for it; every other one where it lies in the
    vault. ``bytes`` is the size of its file, 0 where it just went. Private and retired records are none of them; files
    that can't be read are in the diagnostics.
    """
    return answer(vault, _list, strict=True)


def _list(reading: Reading) -> Answer:
    from gitmem.catalog.filters import DELIVERED, Filters
    from gitmem.catalog.query import list_rows

    rows: dict[str, dict[str, object]] = {}
    for row in list_rows(reading.database, Filters(states=DELIVERED)):
        chosen = find_chosen(row.key)
        is_chosen = chosen is not None and chosen not in rows
        path = chosen if chosen is not None and is_chosen else str(row.path)
        size = 0
        with suppress(OSError):
            size = os.lstat(reading.vault.layout.file(row.path)).st_size
        rows[path] = {
            "path": path,
            "id": row.id,
            "state": row.state.value,
            "bytes": size,
            "is_chosen": is_chosen,
        }
    found = tuple(rows[path] for path in sorted(rows))
    return Answer(
        Status.OK if found else Status.NO_MATCH, reading.head, rows=found, diagnostics=reading.report.problems
    )
