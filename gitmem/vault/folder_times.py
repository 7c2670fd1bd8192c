"""A scan of a large vault: the folders' own times say which names are as they were, and some notes are looked at.

A folder's change time moves with every note that comes, goes, moves or is replaced, as most programs save. It does not
move when a note is written in place, as Obsidian does: such an edit is found when the note is looked at. Each scan
looks at a bounded number of notes, those that changed last and those that have waited longest (ADR 0022).
"""

from __future__ import annotations

import os
import stat
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.clock import Clock
from gitmem.model.record import FOLDERS, Problem
from gitmem.values import dataclass, field, replace
from gitmem.vault.folder import Folder
from gitmem.vault.scan import (
    SIGNATURE_FIELDS,
    FolderScan,
    Look,
    Scan,
    count_notes,
    look_at_folder,
    pack_signature,
    pack_stamp,
    scan_records,
    sort_problems,
)

LATELY_NS = 24 * 3600 * 1_000_000_000
"""A note that changed within a day is likely to change again."""
LATELY_SHARE = 4
"""One part in this many of the notes that a scan may look at is for those that changed lately."""

Place = tuple[str, int]
"""A folder, and the number of a note in it, from 0."""


@dataclass(frozen=True)
class KnownFolder:
    """What an earlier scan found: the folder's stamp, how many notes, when the last of them changed, its problems."""

    stamp: bytes
    notes: int
    newest_ns: int
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Known:
    """What is known of a vault before a scan.

    ``folders`` has every folder, also those without notes; ``start`` is where the notes begin that have waited longest
    for a look. ``load(folder)`` returns the notes of one folder.
    """

    folders: Mapping[str, KnownFolder]
    start: Place
    load: Callable[[str], FolderScan]


@dataclass(frozen=True)
class Slice:
    """The notes whose turn it is: by folder, the first and the one after the last. ``end`` is where the next begins."""

    ranges: Mapping[str, Sequence[tuple[int, int]]]
    end: Place
    lately: int = field(default=0)


def plan_slice(known: Known, max_looks: int) -> Slice:
    """Return which notes a scan that looks at about ``max_looks`` of them takes: in turn, folder by folder. Pure."""
    lately = max_looks // LATELY_SHARE
    order = sorted(folder for folder, one in known.folders.items() if one.notes)
    left = min(max_looks - lately, sum(known.folders[folder].notes for folder in order))
    folder, first = known.start
    at = bisect_left(order, folder)
    if at == len(order) or order[at] != folder:
        first = 0
    ranges: dict[str, list[tuple[int, int]]] = {}
    while left > 0:
        folder = order[at % len(order)]
        notes = known.folders[folder].notes
        last = min(notes, first + left)
        if last > first:
            ranges.setdefault(folder, []).append((first, last))
        left -= max(0, last - first)
        at, first = (at, last) if last < notes else (at + 1, 0)
    end = (order[at % len(order)], first) if order else ("", 0)
    return Slice(ranges, end, lately)


def scan_by_times(root: str, clock: Clock, known: Known, turn: Slice) -> Scan:
    """Look at the folders whose times changed, at the notes that changed lately, and at those whose ``turn`` it is.

    A folder is taken as known only if its stamp is the same. What comes out is complete, but for notes that were
    written in place and were not looked at. Reads no file. Raises as ``scan_records`` does.
    """
    inner: dict[str, list[str]] = {}
    for folder in known.folders:
        inner.setdefault(folder.rpartition("/")[0], []).append(folder)

    def trust(folder: str) -> Sequence[str] | None:
        one = known.folders.get(folder)
        if one is None or not one.stamp or _read_stamp(root, folder) != one.stamp:
            return None
        return inner.get(folder, ())

    scan = scan_records(root, clock, trust)
    found = _Found(root, known, scan)
    chosen: dict[str, set[int]] = {}
    for folder, ranges in turn.ranges.items():
        if folder in scan.kept:
            chosen[folder] = {number for first, last in ranges for number in range(first, last)}
    for folder, numbers in _iter_lately(known, scan, turn.lately):
        chosen.setdefault(folder, set()).update(numbers)
    for folder, mine in chosen.items():
        found.look(folder, sorted(mine))
    return found.as_scan()


class _Found:
    """The scan so far, and what looking at single notes adds to it."""

    def __init__(self, root: str, known: Known, scan: Scan) -> None:
        self._root, self._known, self._scan = root, known, scan
        self._folders, self._looks = dict(scan.folders), dict(scan.looks)
        self._kept, self._partial = set(scan.kept), set[str]()
        self._looked_at = count_notes(scan.folders)

    def look(self, folder: str, numbers: Sequence[int]) -> None:
        """Look at some notes of a folder that was taken as known; at the whole folder where one is no note any more."""
        stored = self._known.load(folder)
        self._looked_at += len(numbers)
        signatures = _measure(self._root, folder, stored, numbers)
        one = self._known.folders[folder]
        if signatures is None:
            whole, look, _inner = look_at_folder(self._root, folder, self._scan.time_ns)
            self._kept.discard(folder)
            self._looks[folder] = replace(look, stamp=b"")
            if whole.names:
                self._folders[folder] = whole
        elif signatures != stored.signatures:
            self._kept.discard(folder)
            self._partial.add(folder)
            self._folders[folder] = FolderScan(stored.names, signatures)
            self._looks[folder] = Look(one.stamp, one.problems)

    def as_scan(self) -> Scan:
        """Return all of it as one scan."""
        problems: list[Problem] = [one for one in self._scan.problems if one.path in FOLDERS]
        problems += [problem for look in self._looks.values() for problem in look.problems]
        problems += [problem for folder in self._kept for problem in self._known.folders[folder].problems]
        return replace(
            self._scan,
            folders=self._folders,
            looks=self._looks,
            problems=sort_problems(dict.fromkeys(problems)),
            kept=frozenset(self._kept),
            partial=frozenset(self._partial),
            looked_at=self._looked_at,
        )


def _read_stamp(root: str, folder: str) -> bytes:
    try:
        return pack_stamp(os.lstat(os.path.join(root, folder)))
    except OSError:
        return b""


def _iter_lately(known: Known, scan: Scan, most: int) -> Iterable[tuple[str, list[int]]]:
    """Yield the notes of folders taken as known that changed lately, at most ``most``, those of new folders first."""
    since_ns = scan.time_ns - LATELY_NS
    folders = [folder for folder in scan.kept if known.folders[folder].newest_ns > since_ns]
    for folder in sorted(folders, key=lambda folder: -known.folders[folder].newest_ns):
        if most <= 0:
            return
        times = array("q", known.load(folder).signatures)[::SIGNATURE_FIELDS]
        numbers = [number for number, time_ns in enumerate(times) if time_ns > since_ns]
        numbers = sorted(numbers, key=lambda number: -times[number])[:most]
        most -= len(numbers)
        yield folder, numbers


def _measure(root: str, folder: str, stored: FolderScan, numbers: Sequence[int]) -> bytes | None:
    """Return the folder's signatures with those of some notes as they are now; ``None`` if one is no file any more."""
    names = stored.names.split("/")
    packed, size = bytearray(stored.signatures), SIGNATURE_FIELDS * 8
    if len(packed) != len(names) * size:
        return None
    try:
        with Folder(root, folder) as opened:
            lstat, fd = opened.lstat, opened.fd
            for number in numbers:
                entry = lstat(names[number], dir_fd=fd)
                if not stat.S_ISREG(entry[0]):
                    return None
                packed[number * size : (number + 1) * size] = pack_signature(entry)
    except (OSError, IndexError):
        return None
    return bytes(packed)
