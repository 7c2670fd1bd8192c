"""Which reviewed records a person is known to have put where they are; lying in ``promoted/`` proves nothing.

As with what is declared (``service.confirmed``): in a vault without keys the newest receipt that names a record tells,
here. In one that lists keys of people it is the newest statement that names it: each statement has the digest of the
one before, so the last one, which is proved, proves all. What a rule of the policy let a model promote is none of a
person's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from gitmem.errors import GitmemError
from gitmem.git.trail import Trail
from gitmem.git.trees import find_file
from gitmem.model.record import Record, State
from gitmem.model.signing import Statement
from gitmem.model.vault_path import VaultPath
from gitmem.service.confirmed import is_left_by
from gitmem.service.standing import Standing
from gitmem.service.vault import OpenVault
from gitmem.vault.statement import STATEMENT, digest_of, parse_signed


def list_reviewed(vault: OpenVault, committed: Iterable[Record], standing: Standing) -> frozenset[VaultPath]:
    """Return the paths of those ``committed`` records that a person put into ``promoted/``, or edited there last.

    The records are as HEAD has them; ``standing`` is what ``read_standing`` says of it. Raises ``UnavailableError``
    (``receipts-unreadable``), ``IntegrityError`` (``object-unreadable``).
    """
    promoted = [one for one in committed if one.state is State.PROMOTED]
    if not promoted:
        return frozenset()
    if standing.is_keyed:
        return _list_signed(vault, promoted, standing.statement)
    from gitmem.transaction.receipts import find_latest

    receipts = find_latest(vault.layout, {one.id for one in promoted})
    return frozenset(
        one.path for one in promoted if one.id in receipts and is_left_by(vault, one, receipts[one.id], State.PROMOTED)
    )


def _list_signed(vault: OpenVault, promoted: Iterable[Record], last: Statement | None) -> frozenset[VaultPath]:
    wanted = {one.id: one for one in promoted}
    found = set()
    for statement in () if last is None else _iter_back(vault, last):
        for ref in statement.records:
            record = wanted.pop(ref.id, None)
            if record is not None and (record.path, _sha256(vault, record)) in statement.files:
                found.add(record.path)
        if not wanted:
            break
    return frozenset(found)


def _iter_back(vault: OpenVault, last: Statement) -> Iterator[Statement]:
    """Yield ``last`` and the statements before it, each known by the digest that the next one has of it."""
    yield last
    if last.previous is None:
        return
    known = {digest_of(one): one for one in _iter_all(vault)}
    here = known.get(last.previous)
    while here is not None:
        yield here
        here = known.get(here.previous or "")


def _iter_all(vault: OpenVault) -> Iterator[Statement]:
    """Yield whatever statements history holds, in no order, whoever made them."""
    trail, waiting, seen = Trail(vault.repo), [vault.head()], set()
    while waiting:
        step = trail.go_on(waiting.pop(), STATEMENT, 1)
        if step is None:
            continue
        waiting += step.parents
        blob = find_file(vault.repo, step.tree, STATEMENT)
        if blob is None or blob in seen:
            continue
        seen.add(blob)
        try:
            yield parse_signed(vault.repo.read_object(blob)).statement
        except GitmemError:
            continue


def _sha256(vault: OpenVault, record: Record) -> str:
    return hashlib.sha256(vault.repo.read_object(record.fingerprint)).hexdigest()
