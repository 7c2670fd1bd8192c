"""What an operation did when it was carried out before: receipts tell, and where they may be incomplete, history.

Retries rest on this (INV-ONE-COMMIT). A commit's trailers name the operation, its records and a digest of what was
asked, and its difference says where the records went; so a clone, or a vault that lost its runtime, gives the same
answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.clock import format_utc, moment_at
from gitmem.errors import InputError
from gitmem.git.history import Commit, find_op
from gitmem.git.message import OP_ID, REQUEST, parse_message
from gitmem.git.repo import Repo
from gitmem.git.trees import diff_trees, tree_of
from gitmem.model.authority import Action
from gitmem.model.change import Change, Receipt, RecordRef
from gitmem.model.ids import CommitId, OpId
from gitmem.model.record import state_of
from gitmem.transaction.ground import Ground
from gitmem.transaction.receipts import are_whole, find_first_receipt, find_last_receipt, find_receipt
from gitmem.transaction.repair import find_record
from gitmem.transaction.searched import may_hold
from gitmem.values import dataclass


@dataclass(frozen=True)
class Retry:
    """What tells an operation that is asked for from others: its id, its kind, and a digest of what is asked."""

    action: Action
    op_id: OpId
    request: str


def find_earlier(ground: Ground, asked: Change | Retry) -> Receipt | None:
    """Return what an operation did if it was carried out before (INV-ONE-COMMIT); ``None`` if it was not.

    Raises ``InputError`` (``op-id-reused``) when that was another operation, or one on something else.
    """
    earlier = find_operation(ground, asked.op_id)
    if earlier is not None and (
        earlier.op is not asked.action or (earlier.request and asked.request and earlier.request != asked.request)
    ):
        raise InputError(
            "op-id-reused",
            f"the operation id {asked.op_id} belongs to another, earlier {earlier.op.value}",
            "Give each operation its own id; leave --op-id out to have one made.",
        )
    return earlier


def find_operation(ground: Ground, op_id: OpId) -> Receipt | None:
    """Return what the operation ``op_id`` did, whatever it was; ``None`` if there was none of that id."""
    receipt = find_receipt(ground.layout, op_id)
    head = ground.repo.head().commit
    if receipt is not None or head is None or _has_all_receipts(ground, head):
        return receipt
    if not may_hold(ground, head, op_id):
        return None
    found = find_op(ground.repo, head, op_id)
    return None if found is None else receipt_of_commit(ground.repo, found)


def receipt_of_commit(repo: Repo, commit: Commit) -> Receipt | None:
    """Return the receipt of an operation as its commit tells it: records by trailers and by what the commit changed.

    ``None`` for a commit whose trailers gitmem did not write.
    """
    trailers = parse_message(commit.message).trailers
    named = dict(trailers)
    try:
        op = Action(named.get("Gitmem-Op", ""))
    except ValueError:
        return None
    found = {ref.id: ref for ref in _iter_records(repo, commit)}
    if "Gitmem-Records" not in named:  # fewer than are too many to be named
        ids = [value for name, value in trailers if name == "Gitmem-Record"]
        found = {ref_id: found[ref_id] for ref_id in found.keys() & set(ids)}
        found = dict(sorted(found.items(), key=lambda one: ids.index(one[0])))
    return Receipt(
        op=op,
        op_id=OpId(named.get(OP_ID, "")),
        commit=commit.id,
        changed=True,
        records=tuple(found.values()),
        time=format_utc(moment_at(commit.time)),
        actor=named.get("Gitmem-Actor", ""),
        surface=named.get("Gitmem-Surface", ""),
        request=named.get(REQUEST, ""),
        session=named.get("Gitmem-Session", ""),
        notices=("the receipt was lost; this is what the commit says",),
    )


def _iter_records(repo: Repo, commit: Commit) -> Iterator[RecordRef]:
    """Yield where the records that a commit touched lie after it, then those that it took away; each by path."""
    parent = tree_of(repo, commit.parents[0]) if commit.parents else None
    changed = diff_trees(repo, parent, commit.tree).items()
    found = sorted((path, difference) for path, difference in changed if state_of(path) is not None)
    left = set()
    for path, difference in found:
        record = find_record(repo, path, difference.new)
        if record is not None:
            left.add(record.id)
            yield RecordRef(record.id, record.path, record.state)
    for path, difference in found:
        record = None if difference.new else find_record(repo, path, difference.old)
        if record is not None and record.id not in left:
            yield RecordRef(record.id, record.path, None)


def _has_all_receipts(ground: Ground, head: CommitId) -> bool:
    """Tell whether the receipts reach from the vault's making to ``head``; a clone's, or lost ones, do not."""
    first, last = find_first_receipt(ground.layout), find_last_receipt(ground.layout)
    reach = first is not None and first.op is Action.INIT and last is not None and last.commit == head
    return reach and are_whole(ground.layout)
