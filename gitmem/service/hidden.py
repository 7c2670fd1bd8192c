"""Which records and notes are private now, or may be: what earlier commits, differences and the log must not tell.

INV-PRIVATE: it fails closed. A file that can't be read, lies in conflict or is gone says of its record what it said
last: in what can still be made out of it, as HEAD has it, or in the last commit that had it.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import OP_ID, parse_message
from gitmem.git.trees import diff_trees, tree_of
from gitmem.model.authority import Action
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.record import state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import TYPE_CHECKING, NamedTuple
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.private import find_ids, may_be_private
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import read_stable

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report

_TAKES_NONE_AWAY = {Action.OBSERVE, Action.DECLARE, Action.EDIT, Action.PROMOTE, Action.RETIRE, Action.RESTORE}
_SHORT_CHARS = 40
"""So short a text says nothing about which note it is of."""


class _Said(NamedTuple):
    """What a file says of itself: the ids of its records; path, name and text of what is none; if it is private."""

    ids: frozenset[RecordId]
    names: frozenset[str]
    is_private: bool


class Hidden:
    """What is private now, or may be. ``known`` are the ids of public records that can be read.

    Of what is neither there nor in HEAD, history is read back to where it was taken away, once for all that is asked.
    What was never seen there is hidden if all of ``asked`` lies in it: then it was taken away unseen.
    """

    def __init__(
        self, vault: OpenVault, private: Iterable[_Said], known: frozenset[RecordId], asked: Iterable[CommitId]
    ) -> None:
        self._vault = vault
        self._known = known
        self._ids = {record_id for one in private for record_id in one.ids}
        self._names = {name for one in private for name in one.names}
        self._unseen = set(asked)
        self._gone: dict[str, bool] = {}
        self._history = self._iter_gone()

    def __contains__(self, record_id: object) -> bool:
        """Tell whether the record with this id is private. Raises ``IntegrityError`` (``object-unreadable``)."""
        if record_id in self._ids or record_id in self._known:
            return record_id in self._ids
        return self._was_private(str(record_id))

    def has_note(self, path: str, data: bytes) -> bool:
        """Tell whether the plain note that lay at ``path`` is private, here or where it was moved to. Raises alike."""
        said = _look(path, data)
        name = _name_of(path)
        if said.is_private or not self._names.isdisjoint(said.names - {name}):
            return True
        if os.path.lexists(os.path.join(self._vault.layout.repo, path)):
            return False
        return name in self._names or self._was_private(name)

    def _was_private(self, name: str) -> bool:
        while name not in self._gone:
            said = next(self._history, None)
            if said is None:
                return not self._unseen
            for one in (*said.ids, *said.names):
                self._gone.setdefault(one, said.is_private)
        return self._gone[name]

    def _iter_gone(self) -> Iterator[_Said]:
        """Yield what files said before they were taken away or lost their id: in the work tree, then by commit."""
        head = self._vault.head()
        dirty = self._vault.committed_ids(head, [path for path in self._vault.repo.dirty_paths() if _is_note(path)])
        yield from (self._look_at(path, blob) for path, blob in dirty.items() if blob is not None)
        for commit in iter_commits(self._vault.repo, head):
            self._unseen.discard(commit.id)
            if not _keeps_all(commit):
                yield from self._list_taken(commit)

    def _list_taken(self, commit: Commit) -> Iterator[_Said]:
        repo, is_merge = self._vault.repo, len(commit.parents) > 1
        for parent in commit.parents:
            changes = {
                path: one
                for path, one in diff_trees(repo, tree_of(repo, parent), commit.tree).items()
                if _is_note(path)
            }
            if all(one.old is None for one in changes.values()):
                continue
            there = [self._look_at(path, one.new) for path, one in changes.items() if one.new is not None]
            left = {record_id for said in there for record_id in said.ids}
            for path, one in changes.items():
                if one.old is None:
                    continue
                said = self._look_at(path, one.old)
                is_taken = not said.ids <= left if said.ids else one.new is None
                # One side of a merge may have taken away what the other one made private.
                if is_taken and (said.is_private or not is_merge):
                    yield said

    def _look_at(self, path: str, blob: Fingerprint) -> _Said:
        return _look(path, self._vault.repo.read_object(blob))


def list_hidden(vault: OpenVault, database: Database, report: Report, asked: Iterable[CommitId]) -> Hidden:
    """Return what is private now, for answers about the commits in ``asked``.

    ``database`` is in step with the work tree, as ``report`` says; where not every note was looked at, one that was
    made private in place may be missed. Raises ``IntegrityError`` (``object-unreadable``).
    """
    from gitmem.catalog.query import list_ids, list_private_paths

    private: list[_Said] = []
    known = set(list_ids(database))
    odd: dict[str, _Said | None] = {}
    for path in dict.fromkeys((*list_private_paths(database), *(one.path for one in report.problems))):
        said = _look_now(vault, path) if _is_note(path) else None
        if said is not None and said.is_private:
            private.append(said)
        elif _is_note(path) and (said is None or not said.ids <= known):
            odd[path] = said
    for path, blob in vault.committed_ids(vault.head(), [*odd]).items():
        here, before = odd[path], None if blob is None else _look(path, vault.repo.read_object(blob))
        if before is not None and before.is_private:
            private.append(before)
        elif here is not None:
            known |= here.ids
    return Hidden(vault, private, frozenset(known), asked)


def is_private_note(path: str, data: bytes) -> bool:
    """Tell whether the file at ``path``, a record or not, is private or may be. Pure."""
    return _look(path, data).is_private


def _look_now(vault: OpenVault, path: str) -> _Said | None:
    with suppress(GitmemError):
        return _look(path, read_stable(vault.layout.repo, parse_vault_path(path), vault.clock))
    return None


def _look(path: str, data: bytes) -> _Said:
    with suppress(GitmemError):
        record = parse_record(VaultPath(path), data)
        if record is not None:
            return _Said(frozenset({record.id}), frozenset(), record.private)
    text = parse_note(data).body.strip()
    body = {hashlib.sha256(text.encode()).hexdigest()} if len(text) > _SHORT_CHARS else set()
    return _Said(find_ids(data), frozenset({path, _name_of(path), *body}), may_be_private(data))


def _name_of(path: str) -> str:
    return fold(posixpath.basename(path))


def _is_note(path: str) -> bool:
    return path.endswith(".md") and state_of(path) is not None


def _keeps_all(commit: Commit) -> bool:
    """Tell whether the commit is of one of gitmem's operations that take no record away."""
    trailers = dict(parse_message(commit.message).trailers)
    return OP_ID in trailers and trailers.get("Gitmem-Op") in _TAKES_NONE_AWAY
