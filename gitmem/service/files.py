"""Records as files of a tree, for hosts whose models think in files. See ``model.memory_file``."""

from __future__ import annotations

import os
from contextlib import suppress

from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.memory_file import KEY_PREFIX, find_chosen
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.values import replace


def list_files(vault: OpenVault, *, chosen_only: bool = False) -> Answer:
    """Return every record in use as a row: ``path``, ``id``, ``bytes`` and ``is_chosen``, sorted by path.

    A record with a key that says so lies at the path that a model chose for it; every other one where it lies in the
    vault, and is left out with ``chosen_only``. ``bytes`` is the size of its file, 0 where it just went. Private and
    retired records are none of them; files that can't be read are in the diagnostics.
    """
    return answer(vault, lambda reading: _list(reading, chosen_only=chosen_only), strict=True)


def show_file(vault: OpenVault, ref: str, actor: Actor) -> Answer:
    """Return the record ``ref`` as ``show`` does, with ``extra["is_own"]``: the actor, and nobody else, wrote it.

    What the actor wrote is told as it is, to be edited. Everything else may say anything: in its ``body`` and ``file``
    nothing opens or closes markup, and no character is hidden (INV-QUOTED). Walks history, see ``own.is_own``.
    """
    from gitmem.render.quoted import escape
    from gitmem.service.own import is_own
    from gitmem.service.show import show

    found = show(vault, ref)
    if found.status is not Status.OK:
        return found
    hit = found.hits[0]
    own = not hit.uncommitted and is_own(vault, hit.record, actor)
    texts = {name: found.extra[name] for name in ("body", "file")}
    told = texts if own else {name: escape(text) for name, text in texts.items()}
    return replace(found, extra={**found.extra, **told, "is_own": own})


def wait_for_writers(vault: OpenVault) -> None:
    """Return when nobody is in the midst of an operation; what a crash left is settled.

    A commit is its actor's own from the moment of its receipt, which comes a little later: who looks in between, finds
    a record that is nobody's. Waits as a write does. Raises what ``apply.recover_now`` raises.
    """
    from gitmem.transaction.apply import recover_now

    recover_now(vault.ground, vault.tools())


def _list(reading: Reading, *, chosen_only: bool) -> Answer:
    from gitmem.catalog.filters import DELIVERED
    from gitmem.catalog.query import list_places

    rows: dict[str, dict[str, object]] = {}
    for place, record_id, key in list_places(reading.database, DELIVERED, KEY_PREFIX if chosen_only else ""):
        chosen = find_chosen(key)
        is_chosen = chosen is not None and chosen not in rows
        if chosen_only and not is_chosen:
            continue
        path = chosen if chosen is not None and is_chosen else str(place)
        size = 0
        with suppress(OSError):
            size = os.lstat(reading.vault.layout.file(place)).st_size
        rows[path] = {"path": path, "id": record_id, "bytes": size, "is_chosen": is_chosen}
    found = tuple(rows[path] for path in sorted(rows))
    return Answer(
        Status.OK if found else Status.NO_MATCH, reading.head, rows=found, diagnostics=reading.report.problems
    )
