"""Who proposed what a record says already: the sessions, by the record's id. In runtime, never in Git.

A proposal that is known adds nothing, but that it was made again counts: it may speak for promotion.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.errors import GitmemError
from gitmem.model.ids import RecordId
from gitmem.typed import Any
from gitmem.vault.layout import VaultLayout
from gitmem.vault.schema import validate

MAX_RECORDS = 2000
MAX_SESSIONS = 16
_MAX_BYTES = 16 << 20


def load_sightings(layout: VaultLayout) -> dict[str, tuple[str, ...]]:
    """Return the ``host/session`` that proposed what each record says already, oldest first, by the record's id.

    Nothing where there is nothing, or what there is can't be read: losing it costs a reason to promote.
    """
    try:
        value: Any = json.loads(read_regular(layout.sightings_file, _MAX_BYTES))
        validate("sightings", value)
    except (OSError, ValueError, RecursionError, GitmemError):
        return {}
    return {name: tuple(sources) for name, sources in value.items()}


def add_sightings(layout: VaultLayout, seen: Iterable[tuple[RecordId, Iterable[str]]]) -> None:
    """Remember further sessions of records; the records sighted longest ago are forgotten. The inbox must be locked.

    Raises ``OSError``; what was there stays then.
    """
    before: Mapping[str, tuple[str, ...]] = load_sightings(layout)
    after = dict(before)
    for record_id, sources in seen:
        told = tuple(dict.fromkeys((*after.pop(record_id, ()), *sources)))
        if told:
            after[record_id] = told[:MAX_SESSIONS]
    if after != before:
        kept = dict(list(after.items())[-MAX_RECORDS:])
        ensure_folder(layout.runtime)
        replace_file(layout.sightings_file, (json.dumps(kept, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
