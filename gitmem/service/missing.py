"""What a person declared and the vault no longer has, though no operation took it away. Receipts tell, as in ``own``.

A boundary that vanished must not look like one that never was: plain Git, or an edit that makes a note private, can
take one out of the context, and says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import InputError, IntegrityError
from gitmem.model.authority import Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.service.vault import OpenVault
from gitmem.vault.record_file import parse_record


def count_missing(vault: OpenVault, head: CommitId, shown: Iterable[Record], unreadable: Iterable[str]) -> int:
    """Return how many records a person's operation left in the baseline that are not there any more as a public record.

    ``shown`` are the public baseline records of ``head``, ``unreadable`` paths that are told already. What a person
    made private by an operation is not counted; in a clone, or where receipts were lost, nothing is. Raises
    ``UnavailableError`` (``receipts-unreadable``).
    """
    from gitmem.transaction.receipts import list_baseline_receipts

    known = {record.id for record in shown}
    told = set(unreadable)
    receipts = {one: receipt for one, receipt in list_baseline_receipts(vault.layout).items() if one not in known}
    return sum(not _is_accounted_for(vault, head, one, receipt, told) for one, receipt in receipts.items())


def _is_accounted_for(vault: OpenVault, head: CommitId, one: RecordId, receipt: Receipt, told: set[str]) -> bool:
    places = [ref.path for ref in receipt.records if ref.id == one and ref.state is State.BASELINE]
    if receipt.surface != Surface.HUMAN.value or receipt.commit is None or told & set(places):
        return True
    left = _blobs(vault, receipt.commit, places)
    return any(blob is not None and _is_private(vault, receipt.commit, path) for path, blob in left.items()) and (
        left == _blobs(vault, head, places)
    )


def _blobs(vault: OpenVault, commit: CommitId, places: list[VaultPath]) -> dict[str, Fingerprint | None]:
    try:
        return vault.committed_ids(commit, list(places))
    except IntegrityError:  # history was rewritten, and that commit is gone
        return {}


def _is_private(vault: OpenVault, commit: CommitId, path: str) -> bool:
    data = vault.repo.read_blob(commit, path)
    try:
        record = None if data is None else parse_record(VaultPath(path), data)
    except InputError:
        return False
    return record is not None and record.private
