"""The notes that differ between two moments, each found again on the other side, whatever its path there."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from gitmem.errors import GitmemError
from gitmem.git.repo import NOT_A_FILE
from gitmem.model.ids import CommitId, Fingerprint, RecordId, fingerprint
from gitmem.model.record import Record, State, state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass, replace
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.private import may_be_private
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import read_stable


@dataclass(frozen=True)
class Side:
    """One note at one moment: of its content what is needed to tell it. ``problem`` is why it can't be read.

    ``data`` is the content where no commit has it.
    """

    path: str
    blob: Fingerprint | None = None
    id: RecordId | None = None
    title: str = ""
    is_private: bool = False
    problem: str | None = None
    data: bytes | None = None


@dataclass(frozen=True)
class Pair:
    """One note before and after; ``None`` where it was not there."""

    old: Side | None
    new: Side | None

    @property
    def path(self) -> str:
        """Where it lies, or lay last."""
        side = self.new or self.old
        return side.path if side else ""

    @property
    def id(self) -> RecordId | None:
        """Whose record it is, ``None`` for a note that is none."""
        return next((side.id for side in (self.new, self.old) if side is not None and side.id), None)

    @property
    def is_private(self) -> bool:
        """Whether it was private at either moment."""
        return any(side is not None and side.is_private for side in (self.old, self.new))

    @property
    def has_other_bytes(self) -> bool:
        """Whether the two differ in content."""
        return self.old is None or self.new is None or self.old.blob != self.new.blob


class Source:
    """What reads the notes of two moments: a commit (``None``: nothing), and a commit or the work tree (``None``)."""

    def __init__(self, vault: OpenVault, old: CommitId | None, new: CommitId | None) -> None:
        self._vault = vault
        self._old, self._new = old, new

    def look(self, paths: Iterable[str]) -> tuple[dict[str, Side], dict[str, Side]]:
        """Return the notes at ``paths`` before and after, by path. What is no regular file is not there."""
        wanted = list(paths)
        old = self._make_sides(self._old, wanted)
        if self._new is not None:
            return old, self._make_sides(self._new, wanted)
        return old, {path: side for path in wanted if (side := self._find_now(path))}

    def read(self, side: Side) -> tuple[Record, bytes]:
        """Return a note that was looked at as a record, with its bytes; one without an id where it is none."""
        data = self.read_data(side)
        if side.problem is None:
            record = parse_record(VaultPath(side.path), data)
            if record is not None:
                return record, data
        note = parse_note(data)
        state = state_of(side.path) or State.OBSERVATION
        print_ = side.blob or fingerprint(data)
        plain = Record(
            RecordId(""), VaultPath(side.path), state, side.title, note.body, print_, properties=note.properties
        )
        return plain, data

    def read_data(self, side: Side) -> bytes:
        """Return the bytes of a note that was looked at; none where its file could not be read."""
        if side.data is not None:
            return side.data
        return self._vault.repo.read_object(side.blob) if side.blob else b""

    def _make_sides(self, commit: CommitId | None, paths: list[str]) -> dict[str, Side]:
        return {
            path: _make_side(path, blob, self._vault.repo.read_object(blob))
            for path, blob in self._vault.repo.find_blobs(commit, paths).items()
            if blob is not None and blob != NOT_A_FILE
        }

    def _find_now(self, path: str) -> Side | None:
        place = os.path.join(self._vault.layout.repo, path)
        if not os.path.lexists(place) or (os.path.isdir(place) and not os.path.islink(place)):
            return None
        try:
            data = read_stable(self._vault.layout.repo, parse_vault_path(path), self._vault.clock)
        except GitmemError as error:
            return Side(path, title=_stem(path), problem=error.message)
        return replace(_make_side(path, fingerprint(data), data), data=data)


def pair_up(source: Source, paths: Iterable[str]) -> list[Pair]:
    """Return the notes at ``paths`` that differ, each with what it is on the other side.

    A record is found again by its id, at its own path first; a note that is none by its path, else by its bytes. One
    that can't be read counts as what its path had.
    """
    old, new = source.look(paths)
    pairs = [Pair(old.pop(path), new.pop(path)) for path in [*old] if path in new and _belong(old[path], new[path])]
    by_name: dict[Any, list[Side]] = {}
    for side in new.values():
        by_name.setdefault(side.id or side.blob, []).append(side)
    for side in old.values():
        others = by_name.get(side.id or side.blob)
        pairs.append(Pair(side, others.pop(0) if others else None))
    return pairs + [Pair(None, side) for sides in by_name.values() for side in sides]


def _belong(old: Side, new: Side) -> bool:
    return old.id == new.id or old.problem is not None or new.problem is not None or None in (old.id, new.id)


def _make_side(path: str, blob: Fingerprint, data: bytes) -> Side:
    try:
        record = parse_record(VaultPath(path), data)
    except GitmemError as error:
        return Side(path, blob, None, _stem(path), may_be_private(data), problem=error.message)
    if record is None:
        return Side(path, blob, None, _stem(path), may_be_private(data))
    return Side(path, blob, record.id, record.title, record.private)


def _stem(path: str) -> str:
    return posixpath.basename(path).removesuffix(".md")
