"""What a person declared and the vault no longer has as they left it, though no operation changed it.

A boundary that vanished must not look like one that never was: plain Git, or an edit that makes a note private, can
take one out of the context, and says nothing of it. What was left is told by statements, else by receipts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from gitmem.errors import GitmemError, IntegrityError
from gitmem.model.authority import Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.record import State
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.standing import Standing
from gitmem.service.vault import OpenVault
from gitmem.typed import NamedTuple
from gitmem.vault.record_file import parse_record


class _Left(NamedTuple):
    """A declared record as a person's operation left it; ``blob`` is ``None`` where history no longer has that."""

    id: RecordId
    path: VaultPath
    blob: Fingerprint | None


def count_missing(
    vault: OpenVault, head: CommitId, shown: Container[RecordId], unreadable: Container[str], standing: Standing
) -> int:
    """Return how many records a person declared that are not ``shown``, gone or changed by no operation of a person's.

    ``unreadable`` are paths that are told already. What a person made private by an operation is not counted. Where
    the signatures of a vault prove nothing, which is told, nothing is; nor in a vault without keys that was cloned or
    lost its receipts. Raises ``UnavailableError`` (``receipts-unreadable``).
    """
    left = _iter_signed(standing) if standing.is_keyed else _iter_received(vault)
    return sum(
        one.id not in shown and one.path not in unreadable and not _is_private_as_left(vault, head, one) for one in left
    )


def _iter_signed(standing: Standing) -> Iterator[_Left]:
    for one in standing.statement.declared if standing.statement else ():
        yield _Left(one.id, parse_vault_path(one.path), one.blob)


def _iter_received(vault: OpenVault) -> Iterator[_Left]:
    from gitmem.transaction.receipts import list_baseline_receipts

    for record_id, receipt in list_baseline_receipts(vault.layout).items():
        if receipt.surface == Surface.HUMAN.value and receipt.commit is not None:
            yield _find_left(vault, receipt, receipt.commit, record_id)


def _find_left(vault: OpenVault, receipt: Receipt, commit: CommitId, record_id: RecordId) -> _Left:
    path = next(ref.path for ref in receipt.records if ref.id == record_id and ref.state is State.BASELINE)
    try:
        return _Left(record_id, path, vault.committed_ids(commit, [path])[path])
    except IntegrityError:  # history was rewritten, and that commit is gone
        return _Left(record_id, path, None)


def _is_private_as_left(vault: OpenVault, head: CommitId, one: _Left) -> bool:
    if one.blob is None or vault.committed_ids(head, [one.path])[one.path] != one.blob:
        return False
    try:
        record = parse_record(one.path, vault.repo.read_object(one.blob))
    except GitmemError:
        return False
    return record is not None and record.private
