"""Whether an operation can still be taken back: all that it touched is as it left it, and identities stay single.

Who changed what since is said by name, so that people can decide between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from gitmem.errors import StateError
from gitmem.model.change import RecordChange
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.vault_path import VaultPath
from gitmem.service.operations import Found, Operation, find_undone
from gitmem.service.reading import ask, iter_private
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.catalog.database import Database

Blobs = Mapping[VaultPath, Fingerprint | None]


def check_not_built_upon(vault: OpenVault, found: Found, left: Blobs, ids: AbstractSet[RecordId]) -> None:
    """Check that HEAD has every file as the operation ``left`` it (blob ids, ``None`` where it left none).

    ``ids`` are the records in these files; later operations that name others only are looked at last. Changes that were
    undone again are none. Raises ``StateError``: ``already-undone``, or ``built-upon`` with the newest operation, or
    person's commit, that changed one of the files and still holds.
    """
    now = vault.repo.find_blobs(found.head, left)
    changed = sorted(path for path in left if now[path] != left[path])
    if not changed:
        return
    undone = find_undone(found.later)
    op_id = found.operation.op_id
    if op_id is not None and op_id in undone:
        raise _already_undone(found.operation, undone[op_id])
    settled = {one.op_id for one in undone.values()} | undone.keys()
    likely = (one for one in found.later if not one.records or not ids.isdisjoint(one.records))
    touching = list(iter_touching(vault, likely, changed)) or list(iter_touching(vault, found.later, changed))
    holding = [one for one in touching if one.op_id is None or one.op_id not in settled]
    merges = [one for one in found.later if len(one.commit.parents) > 1]  # one may have taken another parent's side
    raise _built_upon(found.operation, changed, next(iter([*holding, *touching, *merges, found.later[0]])))


def iter_touching(vault: OpenVault, operations: Iterable[Operation], paths: Sequence[VaultPath]) -> Iterator[Operation]:
    """Yield those of ``operations`` whose commit changed one of ``paths``, in the same order.

    A merge changed a path when it differs from what each parent has.
    """
    known: dict[CommitId, Blobs] = {}

    def blobs(commit: CommitId) -> Blobs:
        if commit not in known:
            known[commit] = vault.repo.find_blobs(commit, paths)
        return known[commit]

    for one in operations:
        here = blobs(one.commit.id)
        parents = [blobs(parent) for parent in one.commit.parents] or [dict.fromkeys(paths)]
        if any(all(here[path] != parent[path] for parent in parents) for path in paths):
            yield one


def check_own_ids(vault: OpenVault, records: Sequence[RecordChange], edited: Iterable[VaultPath]) -> None:
    """Check that no file but the ``edited`` ones has the identity of one of ``records``.

    Raises ``StateError`` (``duplicate-id``): a record that comes back would be there twice.
    """
    ids = {one.id for one in records}
    others = ask(vault, lambda database, _report: _find_owners(vault, database, ids))
    for path in sorted(others.keys() - set(edited)):
        raise StateError(
            "duplicate-id",
            f"{path} has the id {others[path]} of a record that would change or come back",
            "Give the copy an identity of its own with `gitmem adopt`, or take its gitmem_id out, and try again.",
            path=path,
        )


def _find_owners(vault: OpenVault, database: Database, ids: set[RecordId]) -> dict[VaultPath, RecordId]:
    from gitmem.catalog.query import list_by_id

    owners = {row.path: row.id for record_id in ids for row in list_by_id(database, record_id)}
    owners |= {record.path: record.id for record in iter_private(vault, database) if record.id in ids}
    return owners


def _already_undone(operation: Operation, undo: Operation) -> StateError:
    return StateError(
        "already-undone",
        f"{_name(operation)} was undone already: {_name(undo)}",
        f"There is nothing to do. To have it again, undo the undo: {undo.op_id}.",
        **_fields(undo),
    )


def _built_upon(operation: Operation, changed: Sequence[VaultPath], later: Operation) -> StateError:
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    if later.op_id is not None:
        hint = f"Undo {later.op_id} first, or change the record as it is now."
    else:
        hint = "That is a person's edit, and it stays. Change the record as it is now, or let them take it back."
    return StateError(
        "built-upon",
        f"{_name(operation)} can't be undone: {changed[0]}{more} was changed since by {_name(later)}",
        hint,
        path=changed[0],
        **_fields(later),
    )


def _name(one: Operation) -> str:
    if one.op_id is None:
        return f"the commit {one.commit.id[:12]} {one.title!r} of {one.time} by {one.actor}"
    return f"{one.op} {one.op_id} {one.title!r} of {one.time} by {one.by}"


def _fields(one: Operation) -> dict[str, str | None]:
    return {
        "op": one.op,
        "op_id": one.op_id,
        "commit": one.commit.id,
        "title": one.title,
        "actor": one.actor,
        "time": one.time,
    }
