"""After an operation of gitmem's own: the search catalog follows, so that the next read finds only foreign edits."""

from __future__ import annotations

import os

from gitmem.model.change import Change
from gitmem.model.ids import fingerprint
from gitmem.model.record import state_of
from gitmem.service.vault import OpenVault


def follow(vault: OpenVault, change: Change) -> None:
    """Take into the catalog what ``change`` has just written, if there is a catalog; see ``catalog.own.take_own``.

    Never raises and never waits: whatever is left undone, the next read does.
    """
    written = {
        edit.path: None if edit.after is None else fingerprint(edit.after)
        for edit in change.edits
        if state_of(edit.path) is not None
    }
    is_open = "catalog" in vault.__dict__
    if not written or not (is_open or (not vault.options.memory_catalog and os.path.isfile(vault.layout.catalog_file))):
        return
    from gitmem.catalog.own import take_own
    from gitmem.policy.secrets import redact
    from gitmem.relevance.terms import extract_terms
    from gitmem.vault.record_file import parse_record

    time_ns = vault.clock.file_time_ns()
    try:
        take_own(vault.database, vault.layout.repo, written, time_ns, parse_record, extract_terms, redact)
    except Exception:  # noqa: BLE001 - the operation is done and acknowledged, whatever becomes of the catalog
        return
