"""Which declared records a person is known to have declared. The file itself does not tell, nor do a commit's trailers.

Anybody can write those. In a vault that lists keys of people, known is what the newest statement lists, if its
signature is good now (``service.standing``). Elsewhere it is what the newest operation that touched a record left, if
it was a person's: its receipt lies in this vault's runtime, and the bytes of its commit are those that are committed
now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from gitmem.errors import IntegrityError
from gitmem.model.authority import Authority, Surface
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.model.change import Receipt
    from gitmem.model.signing import Statement
    from gitmem.service.standing import Standing


def list_confirmed(
    vault: OpenVault, committed: Iterable[Record], standing: Standing | None = None
) -> frozenset[VaultPath]:
    """Return the paths of those ``committed`` records that a person's operation declared, and left as they are.

    Paths, for anybody can give a second file the id of a declared record. The records are as HEAD has them. Only what
    lies in the baseline and is ``user_declared`` can be among them. ``standing`` is what ``read_standing`` said of it,
    where that was asked already. In a vault without keys that was cloned, or where receipts were lost, none is. Raises
    ``UnavailableError`` (``receipts-unreadable``).
    """
    declared = [one for one in committed if is_declared(one)]
    if not declared:
        return frozenset()
    from gitmem.service.standing import read_standing
    from gitmem.transaction.receipts import find_latest

    standing = standing or read_standing(vault, vault.head())
    if standing.is_keyed:
        return _list_signed(vault, declared, standing.statement)
    receipts = find_latest(vault.layout, {one.id for one in declared})
    return frozenset(one.path for one in declared if one.id in receipts and is_left_by(vault, one, receipts[one.id]))


def is_declared(record: Record) -> bool:
    """Tell whether a record says of itself, by its place and its authority, that a person declared it."""
    return record.state is State.BASELINE and record.authority is Authority.USER_DECLARED


def _list_signed(vault: OpenVault, declared: Iterable[Record], statement: Statement | None) -> frozenset[VaultPath]:
    if statement is None:
        return frozenset()
    signed = {one.path: one for one in statement.declared}
    return frozenset(
        record.path
        for record in declared
        if (one := signed.get(record.path)) is not None
        and one.id == record.id
        and one.blob == record.fingerprint
        and one.sha256 == hashlib.sha256(vault.repo.read_object(record.fingerprint)).hexdigest()
    )


def is_left_by(vault: OpenVault, record: Record, receipt: Receipt, state: State = State.BASELINE) -> bool:
    """Tell whether ``receipt`` is of a person's operation that left ``record``, as it is committed, in ``state``."""
    if receipt.surface != Surface.HUMAN.value or receipt.commit is None:
        return False
    places = [ref.path for ref in receipt.records if ref.id == record.id and ref.state is state]
    try:
        left = vault.committed_ids(receipt.commit, list(places)).values()
    except IntegrityError:  # history was rewritten, and that commit is gone
        return False
    return record.fingerprint in left
