"""Which declared records a person is known to have declared. Receipts tell, as in ``service.own``; the file does not.

What a file says of its authority anybody can write, and a commit's trailers, too. Known is what the newest operation
that touched a record left, if it was a person's: its receipt lies in this vault's runtime, and the bytes of its commit
are those that are committed now.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import IntegrityError
from gitmem.model.authority import Authority, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import RecordId
from gitmem.model.record import Record, State
from gitmem.service.vault import OpenVault


def list_confirmed(vault: OpenVault, committed: Iterable[Record]) -> frozenset[RecordId]:
    """Return the ids of those ``committed`` records that a person's operation declared, and left as they are.

    The records are as HEAD has them. Only what lies in the baseline and is ``user_declared`` can be among them. In a
    clone, or where receipts were lost, none is. Raises ``UnavailableError`` (``receipts-unreadable``).
    """
    from gitmem.transaction.receipts import find_latest

    declared = {
        one.id: one for one in committed if one.state is State.BASELINE and one.authority is Authority.USER_DECLARED
    }
    receipts = find_latest(vault.layout, declared)
    return frozenset(one for one, receipt in receipts.items() if _is_left_by(vault, declared[one], receipt))


def _is_left_by(vault: OpenVault, record: Record, receipt: Receipt) -> bool:
    if receipt.surface != Surface.HUMAN.value or receipt.commit is None:
        return False
    places = [ref.path for ref in receipt.records if ref.id == record.id and ref.state is State.BASELINE]
    try:
        left = vault.committed_ids(receipt.commit, list(places)).values()
    except IntegrityError:  # history was rewritten, and that commit is gone
        return False
    return record.fingerprint in left
