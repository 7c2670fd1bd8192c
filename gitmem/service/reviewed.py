"""Which reviewed records a person is known to have put where they are; lying in ``promoted/`` proves nothing.

As with what is declared (``service.confirmed``): in a vault without keys the newest receipt that names a record tells,
here. In one that lists keys of people it is the newest statement that names it: each statement has the digest of the
one before, so the last one, which is proved, proves all. What a rule of the policy let a model promote is none of a
person's.

Some operations change a record in passing, by a link to another one, and nobody looks at its text then. Behind these
the record has to be a person's, too, and differ in its links alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from gitmem.errors import GitmemError, InputError
from gitmem.git.history import read_commit
from gitmem.git.trail import Trail
from gitmem.git.trees import find_file
from gitmem.model.authority import Action
from gitmem.model.change import Receipt
from gitmem.model.ids import Fingerprint
from gitmem.model.record import Record, State
from gitmem.model.signing import Statement
from gitmem.model.vault_path import VaultPath
from gitmem.service.confirmed import is_left_by
from gitmem.service.standing import Standing
from gitmem.service.vault import OpenVault
from gitmem.values import replace
from gitmem.vault.record_file import parse_record
from gitmem.vault.statement import STATEMENT, digest_of, parse_signed

_IN_PASSING = (Action.RETIRE, Action.RESTORE, Action.UNDO)
"""What may write or take back no more than a link, in the record that takes another one's place."""
_LINKS = ("supersedes", "updated")


def list_reviewed(vault: OpenVault, committed: Iterable[Record], standing: Standing) -> frozenset[VaultPath]:
    """Return the paths of those ``committed`` records that a person put into ``promoted/``, or edited there last.

    The records are as HEAD has them; ``standing`` is what ``read_standing`` says of it. Raises ``UnavailableError``
    (``receipts-unreadable``), ``IntegrityError`` (``object-unreadable``).
    """
    promoted = [one for one in committed if one.state is State.PROMOTED]
    if not promoted:
        return frozenset()
    if not standing.is_keyed:
        from gitmem.transaction.receipts import find_latest

        newest = find_latest(vault.layout, {one.id for one in promoted})
        return frozenset(one.path for one in promoted if one.id in newest and _is_received(vault, one, newest[one.id]))
    if standing.statement is None:
        return frozenset()
    chain = list(_iter_back(vault, standing.statement))
    return frozenset(one.path for one in promoted if _is_signed(vault, one, chain))


def _is_received(vault: OpenVault, record: Record, newest: Receipt) -> bool:
    from gitmem.transaction.receipts import iter_naming

    is_once = newest.op not in _IN_PASSING
    for receipt in (newest,) if is_once else reversed(tuple(iter_naming(vault.layout, record.id))):
        if not is_left_by(vault, record, receipt, State.PROMOTED):
            return False
        before = _find_before(vault, record, receipt)
        if receipt.op not in _IN_PASSING or before is None:
            return True
        if not _differ_in_links(vault, record.path, record.fingerprint, before):
            return receipt.op is Action.UNDO  # of an edit, say
        record = replace(record, fingerprint=before)
    return False


def _find_before(vault: OpenVault, record: Record, receipt: Receipt) -> Fingerprint | None:
    """Return the file at the record's place before the operation of ``receipt``, ``None`` for none."""
    assert receipt.commit is not None
    parents = read_commit(vault.repo, receipt.commit).parents
    return vault.committed_ids(parents[0], [record.path])[record.path] if parents else None


def _is_signed(vault: OpenVault, record: Record, chain: Iterable[Statement]) -> bool:
    acts = [one for one in chain if any(ref.id == record.id for ref in one.records)]
    known = _hash_versions(vault, record) if any(one.action in _IN_PASSING for one in acts) else {}
    sha256 = _sha256(vault, record.fingerprint)
    blob = record.fingerprint
    for number, act in enumerate(acts):
        if (record.path, sha256) not in act.files:
            return False
        was_there = number + 1 < len(acts) and any(
            ref.id == record.id and ref.state is State.PROMOTED for ref in acts[number + 1].records
        )
        if act.action not in _IN_PASSING or (act.action is not Action.RETIRE and not was_there):
            return True
        if not was_there:
            return False
        sha256 = dict(acts[number + 1].files).get(record.path) or ""
        before = known.get(sha256)
        if before is None or not _differ_in_links(vault, record.path, blob, before):
            return act.action is Action.UNDO
        blob = before
    return False


def _hash_versions(vault: OpenVault, record: Record) -> dict[str, Fingerprint]:
    """Return every file that history ever had at the record's place, by its SHA-256."""
    found: dict[str, Fingerprint] = {}
    for tree in _iter_trees(vault, record.path):
        blob = find_file(vault.repo, tree, record.path)
        if blob is not None and blob not in found.values():
            found[_sha256(vault, blob)] = blob
    return found


def _differ_in_links(vault: OpenVault, path: VaultPath, one: Fingerprint, other: Fingerprint) -> bool:
    """Tell whether two files of one record are the same but for their links to what they replace, and their date."""
    texts = []
    for blob in (one, other):
        try:
            record = parse_record(path, vault.repo.read_object(blob))
        except InputError:
            return False
        if record is None:
            return False
        others = {name: value for name, value in record.properties.items() if name not in _LINKS}
        texts.append((record.body, others))
    return texts[0] == texts[1]


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
    seen = set()
    for tree in _iter_trees(vault, STATEMENT):
        blob = find_file(vault.repo, tree, STATEMENT)
        if blob is None or blob in seen:
            continue
        seen.add(blob)
        try:
            yield parse_signed(vault.repo.read_object(blob)).statement
        except GitmemError:
            continue


def _iter_trees(vault: OpenVault, path: str) -> Iterator[str]:
    """Yield the trees of all commits that may have changed ``path``, in no order."""
    trail, waiting = Trail(vault.repo), [vault.head()]
    while waiting:
        step = trail.go_on(waiting.pop(), path, 1)
        if step is not None:
            yield step.tree
            waiting += step.parents


def _sha256(vault: OpenVault, blob: Fingerprint) -> str:
    return hashlib.sha256(vault.repo.read_object(blob)).hexdigest()
