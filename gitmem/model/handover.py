"""An operation of two vaults under one id: what is to be done in the second once the first has it."""

from __future__ import annotations

from gitmem.model.authority import Actor
from gitmem.model.ids import Fingerprint, OpId, RecordId, VaultId
from gitmem.model.vault_path import VaultPath
from gitmem.values import dataclass


@dataclass(frozen=True)
class Leaving:
    """One record that goes over: where it lies in the vault that it leaves, and what its file held then."""

    id: RecordId
    path: VaultPath
    fingerprint: Fingerprint


@dataclass(frozen=True)
class Handover:
    """Records that go from the vault ``source`` to ``target``. ``time`` is when it began, RFC 3339 in UTC.

    The target gets them first; then they are retired in the source. ``request`` is a digest of what was asked for.
    """

    op_id: OpId
    source: VaultId
    target: VaultId
    actor: Actor
    request: str
    time: str
    records: tuple[Leaving, ...]
