"""The history of one record: the commits that touched it, and where it lay before and after each."""

from __future__ import annotations

import heapq
import os
import posixpath
from collections.abc import Container, Iterator, Mapping

from gitmem.errors import GitmemError
from gitmem.git.history import Commit, iter_commits, read_commit
from gitmem.git.message import OP_ID, parse_message
from gitmem.git.repo import Repo
from gitmem.git.trail import Step, Trail
from gitmem.git.trees import Difference, diff_trees, find_file, tree_of
from gitmem.model.authority import Action
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.record import Record, state_of
from gitmem.model.vault_path import VaultPath
from gitmem.service.vault import OpenVault
from gitmem.typed import NamedTuple
from gitmem.values import dataclass
from gitmem.vault.record_file import parse_record

_GONE, _THERE = 1, 2
"""What a commit is passed as. Where one line of history says gone and another one there, the latter counts."""
_FIRST = (Action.OBSERVE.value, Action.DECLARE.value, Action.IMPORT.value)
"""Operations that give a new record a new id: nothing can be known of it before them."""


@dataclass(frozen=True)
class Touch:
    """One commit that touched a record. A path is ``None`` where the record was not there."""

    commit: Commit
    trailers: Mapping[str, str]
    before: str | None
    after: str | None


class _Place(NamedTuple):
    """Where a commit has the record: what file is at ``path``, ``None`` for none.

    Where it has not (``is_there``), it is looked for at ``path``; ``sought`` says that it is known to have been there.
    """

    path: str
    blob: Fingerprint | None
    is_there: bool = True
    sought: bool = True


def iter_touches(
    vault: OpenVault,
    record_id: RecordId,
    path: str,
    start: CommitId | None = None,
    proved: Container[CommitId] | None = None,
) -> Iterator[Touch]:
    """Yield the commits that touched the record which lies at ``path``, newest first, through moves.

    ``path`` is where it lies in the commit ``start``, from which on history is read; HEAD when left out. All parents
    of a merge are followed, each from where it has the record; the merge itself touched the record when it differs
    from what each parent has. Where the record came back, its history goes on behind the time at which it was not
    there.

    Commits that the commit graph knows are passed by what they changed. Of others, gitmem's own are told by their
    trailers; a person's, and those of very many records, by what they changed. Somebody who amends a commit may put
    more into it than its trailers say: where that matters, only those in ``proved`` are taken at their word.
    """
    lines = _Lines(vault, record_id, proved)
    tip = start or vault.head()
    blob = find_file(vault.repo, tree_of(vault.repo, tip), path)
    lines.follow(tip, _Place(path, blob, is_there=blob is not None))
    while (found := lines.pop()) is not None:
        step, place = found
        touch, before = lines.look(step, place)
        if touch is not None:
            yield touch
        for parent, there in zip(step.parents, before, strict=True):
            if there is not None:
                lines.follow(parent, there)


def find_committed_place(vault: OpenVault, head: CommitId, record_id: RecordId) -> str | None:
    """Return where ``head`` has a record that somebody moved since without a commit; ``None`` where it has it not."""
    for path, blob in vault.repo.iter_files(head):
        if state_of(path) is None or os.path.lexists(os.path.join(vault.layout.repo, path)):
            continue
        record = _find_in_blob(vault.repo, path, blob)
        if record is not None and record.id == record_id:
            return path
    return None


def find_last_place(vault: OpenVault, head: CommitId, record_id: RecordId) -> tuple[str, bool] | None:
    """Return where a record lay before the last operation that took it away, and whether it was private then.

    ``None`` where no operation of gitmem's in the history of ``head`` did. Reads back to it.
    """
    for commit in iter_commits(vault.repo, head):
        if ("Gitmem-Record", record_id) not in parse_message(commit.message).trailers or not commit.parents:
            continue
        changes = diff_trees(vault.repo, tree_of(vault.repo, commit.parents[0]), commit.tree)
        for path, change in changes.items():
            record = None if change.old is None else _find_in_blob(vault.repo, path, change.old)
            if record is not None and record.id == record_id:
                return path, record.private
    return None


class _Lines:
    """The lines of history that are to be followed, each from the next commit that may have touched the record."""

    def __init__(self, vault: OpenVault, record_id: RecordId, proved: Container[CommitId] | None) -> None:
        self._repo = vault.repo
        self._id = record_id
        self._proved = proved
        self._trail = Trail(vault.repo)
        self._waiting: list[tuple[int, int, Step, _Place]] = []
        self._count = 0

    def follow(self, commit: CommitId, place: _Place) -> None:
        step = self._trail.go_on(commit, place.path, _THERE if place.is_there else _GONE)
        if step is not None:
            self._count += 1
            heapq.heappush(self._waiting, (-step.time, self._count, step, place))

    def pop(self) -> tuple[Step, _Place] | None:
        """Return the newest of the commits to look at; ``None`` when no line is left that the record may be on."""
        if not any(one[3].sought for one in self._waiting):
            return None
        return heapq.heappop(self._waiting)[2:]

    def look(self, step: Step, place: _Place) -> tuple[Touch | None, list[_Place | None]]:
        """Return how the commit touched the record, if it did, and where each parent has it.

        ``None`` stands for a parent that nothing can be known of.
        """
        if len(step.parents) == 1 and self._is_told_apart(step):
            return None, [place]
        if step.commit is not None:  # trailers may have been taken at their word for commits that were passed
            place = place._replace(blob=find_file(self._repo, step.tree, place.path))
        trees = [tree_of(self._repo, parent) for parent in step.parents]
        blobs = [find_file(self._repo, tree, place.path) for tree in trees]
        if trees and all(blob == place.blob for blob in blobs):
            return None, [place] * len(trees)
        if not place.is_there:
            before = [self._find_removed(place, blob) for blob in blobs]
            was_there = before and all(one.is_there for one in before)
            return self._touch(step, before, None) if was_there else None, [*before]
        if blobs == [None] and self._begins(step):
            return self._touch(step, [], place.path), [None]
        before = [
            place if blob == place.blob else self._find_before(step, place, tree, blob)
            for tree, blob in zip(trees, blobs, strict=True)
        ]
        is_as_one_had_it = any(blob == place.blob for blob in blobs)
        return None if is_as_one_had_it else self._touch(step, before, place.path), [*before]

    def _is_told_apart(self, step: Step) -> bool:
        """Tell whether the commit's own trailers say that it touched other records only."""
        if step.commit is None or (self._proved is not None and step.id not in self._proved):
            return False
        trailers = parse_message(step.commit.message).trailers
        names = {name for name, _value in trailers}
        return OP_ID in names and "Gitmem-Records" not in names and ("Gitmem-Record", self._id) not in trailers

    def _find_before(self, step: Step, place: _Place, tree: str, blob: Fingerprint | None) -> _Place:
        """Return where a parent, which has ``blob`` at the place or nothing, has the record."""
        if blob is not None and self._id_of(place.path, blob) in (self._id, None):
            return _Place(place.path, blob)
        moved = self._find_moved(diff_trees(self._repo, tree, step.tree), place.path)
        if moved is not None:
            return moved
        if blob is not None:
            return _Place(place.path, blob)  # it got another identity there
        return _Place(place.path, None, is_there=False, sought=len(step.parents) == 1)

    def _find_moved(self, changes: Mapping[str, Difference], path: str) -> _Place | None:
        """Return where the record was before these changes, had it another path; one of the same name first."""
        name = posixpath.basename(path)
        gone = [
            (posixpath.basename(one) != name, one, change.old)
            for one, change in changes.items()
            if change.old is not None and change.old != change.new and one != path
        ]
        found = (_Place(one, blob) for _other, one, blob in sorted(gone) if self._id_of(one, blob) == self._id)
        return next(found, None)

    def _find_removed(self, place: _Place, blob: Fingerprint | None) -> _Place:
        """Return the place in a parent, of a record that its commit has not."""
        if blob is not None and blob != place.blob and self._id_of(place.path, blob) == self._id:
            return _Place(place.path, blob)
        return place._replace(blob=blob)

    def _id_of(self, path: str, blob: Fingerprint) -> RecordId | None:
        """Return the id of the record in a blob, ``None`` where it is none or can't be read as one."""
        record = _find_in_blob(self._repo, path, blob)
        return None if record is None else record.id

    def _touch(self, step: Step, before: list[_Place], after: str | None) -> Touch:
        commit = self._read(step)
        earlier = next((one.path for one in before if one.is_there), None)
        return Touch(commit, dict(parse_message(commit.message).trailers), earlier, after)

    def _begins(self, step: Step) -> bool:
        """Tell whether the commit, which has the record where its parent has nothing, gave it its id."""
        trailers = dict(parse_message(self._read(step).message).trailers)
        return trailers.get("Gitmem-Op") in _FIRST

    def _read(self, step: Step) -> Commit:
        return step.commit or read_commit(self._repo, step.id)


def _find_in_blob(repo: Repo, path: str, blob: Fingerprint) -> Record | None:
    try:
        return parse_record(VaultPath(path), repo.read_object(blob)) if path.endswith(".md") else None
    except GitmemError:
        return None
