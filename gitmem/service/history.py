"""The history of one record: the commits that touched it, and where it lay before and after each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from gitmem.errors import GitmemError
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import OP_ID, UNDOES, parse_message
from gitmem.git.trees import Difference, diff_trees, tree_of
from gitmem.model.ids import CommitId, RecordId
from gitmem.model.vault_path import VaultPath
from gitmem.service.vault import OpenVault
from gitmem.vault.record_file import parse_record


@dataclass(frozen=True)
class Touch:
    """One commit that touched a record. A path is ``None`` where the record was not there."""

    commit: Commit
    trailers: Mapping[str, str]
    before: str | None
    after: str | None


def iter_touches(
    vault: OpenVault,
    record_id: RecordId,
    path: str,
    start: CommitId | None = None,
    proved: Container[CommitId] | None = None,
) -> Iterator[Touch]:
    """Yield the commits that touched the record which lies at ``path``, newest first, through moves.

    ``path`` is where it lies in the commit ``start``, from which on history is read; HEAD when left out.
    gitmem's own commits are found by their trailers; a person's, and those of very many records, by what they changed.
    Somebody who amends a commit may put more into it than its trailers say: where that matters, only those in
    ``proved`` are taken at their word.
    A merge touched the record when it differs from what each parent has. Where an undo brought the record back, its
    history goes on behind the time at which it was not there.
    """
    place: str | None = path
    for commit in iter_commits(vault.repo, start or vault.head()):
        message = parse_message(commit.message)
        trailers = dict(message.trailers)
        named = ("Gitmem-Record", record_id) in message.trailers
        is_single = OP_ID in trailers and "Gitmem-Records" not in trailers and (proved is None or commit.id in proved)
        if is_single and not named and len(commit.parents) < 2:
            continue
        changes, *others = _changes(vault, commit)
        if place is not None and (place not in changes or any(place not in other for other in others)):
            continue
        is_still_there = place is not None and changes[place].old is not None
        before = place if is_still_there else _find_gone(vault, changes, record_id)
        if place is None and before is None:
            continue
        yield Touch(commit, trailers, before, place)
        if before is None and UNDOES not in trailers:
            return
        place = before


def _changes(vault: OpenVault, commit: Commit) -> list[dict[str, Difference]]:
    """Return what the commit changed against each of its parents, the first one first; one of a root commit."""
    parents: list[str | None] = [tree_of(vault.repo, parent) for parent in commit.parents]
    return [diff_trees(vault.repo, parent, commit.tree) for parent in parents or [None]]


def _find_gone(vault: OpenVault, changes: Mapping[str, Difference], record_id: RecordId) -> str | None:
    for path, change in changes.items():
        if change.new is not None or change.old is None or not path.endswith(".md"):
            continue
        try:
            record = parse_record(VaultPath(path), vault.repo.read_object(change.old))
        except GitmemError:
            continue
        if record is not None and record.id == record_id:
            return path
    return None
