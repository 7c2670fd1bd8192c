"""Git's staging area as bytes: reading it, and changing a few entries without touching the rest.

The format is Git's ``gitformat-index``, versions 2 to 4. libgit2 can't give an entry the file's real times without
converting its content, and reads and rewrites every entry; here the untouched entries are copied as they are.
Changing an entry keeps what people staged for other paths, bit for bit. Pure but for ``load_index``.
"""

from __future__ import annotations

import contextlib
import hashlib
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from gitmem.disk import open_regular, read_regular
from gitmem.errors import StateError, UnavailableError
from gitmem.git.index_entries import compress_names, expand_names, find_name
from gitmem.git.index_tree import invalidate_folders
from gitmem.git.names import decode_name, encode_name
from gitmem.values import dataclass

VERSIONS = (2, 3, 4)
_HEADER = struct.Struct(">4sII")
_FLAGS = struct.Struct(">H")
_STAT_AND_ID = struct.Struct(">10I20sH")
_ID_AT = 40
_FLAGS_AT = 60
_EXTENDED = 0x4000
_STAGES = 0x3000
_NAME_MASK = 0xFFF
_INTENT_TO_ADD = 0x2000
_KEPT = (b"TREE", b"REUC")
# What else may stand there describes all entries by position or time; Git makes it again.


class BadIndexError(ValueError):
    """The bytes are no index that Git could read."""


@dataclass(frozen=True)
class FileStat:
    """What ``lstat`` said of a file, each number cut to 32 bits as Git does; times as (seconds, nanoseconds)."""

    ctime: tuple[int, int]
    mtime: tuple[int, int]
    dev: int
    ino: int
    uid: int
    gid: int
    size: int


NO_STAT = FileStat((0, 0), (0, 0), 0, 0, 0, 0, 0)
"""Makes Git look at the file's content the next time somebody asks."""


@dataclass(frozen=True)
class NewEntry:
    """An entry to be: mode as Git writes it, hexadecimal blob id, what ``lstat`` said."""

    mode: int
    blob: str
    stat: FileStat = NO_STAT


@dataclass(frozen=True)
class StagedEntry:
    """An entry as read: ``stage`` is 0 unless a merge left the path unmerged."""

    mode: int
    blob: str
    stage: int
    intent_to_add: bool


@dataclass(frozen=True)
class IndexFile:
    """A parsed staging area.

    ``entries`` holds the header and all entries in the layout of versions 2 and 3, ``starts`` where each begins;
    ``extensions`` what is kept of the rest, ``unmerged`` the names that have entries of a merge.
    """

    version: int
    entries: bytes
    starts: list[int]
    extensions: dict[bytes, bytes]
    unmerged: frozenset[bytes]

    def find(self, path: str) -> list[StagedEntry]:
        """Return the entries of ``path``: none, one, or up to three of a merge."""
        low, high = self._span(encode_name(path))
        return [self._entry(start) for start in self.starts[low:high]]

    def unmerged_paths(self) -> list[str]:
        """Return the paths with entries of a merge, sorted."""
        return sorted(decode_name(name) for name in self.unmerged)

    def edit(self, edits: Mapping[str, NewEntry | None]) -> bytes:
        """Return the bytes of this index with the entries of ``edits`` replaced, added or, at ``None``, removed.

        Raises ``StateError`` (``index-clash``) where an entry would be file and folder at once.
        """
        wanted = {encode_name(path): entry for path, entry in edits.items()}
        self._check_clashes(wanted)
        edited = self._replace(wanted)
        data = _format(edited)
        _LAST.keep(data, edited)
        return data

    def _replace(self, wanted: Mapping[bytes, NewEntry | None]) -> IndexFile:
        """Return this index with other entries; those that stay are copied and not looked at."""
        pieces: list[bytes] = []
        starts: list[int] = []
        copied, at = 0, _HEADER.size

        def copy(until: int) -> None:
            nonlocal at
            begin, end = self._start(copied), self._start(until)
            pieces.append(self.entries[begin:end])
            shift = at - begin
            starts.extend(
                self.starts[copied:until] if not shift else [one + shift for one in self.starts[copied:until]]
            )
            at += end - begin

        for name in sorted(wanted):
            low, high = self._span(name)
            copy(low)
            copied = high
            entry = wanted[name]
            if entry is not None:
                starts.append(at)
                pieces.append(_format_entry(name, entry))
                at += len(pieces[-1])
        copy(len(self.starts))
        header = _HEADER.pack(b"DIRC", self.version, len(starts))
        extensions = {**self.extensions, b"TREE": invalidate_folders(self.extensions.get(b"TREE", b""), wanted)}
        return IndexFile(
            version=self.version,
            entries=b"".join([header, *pieces]),
            starts=starts,
            extensions={name: data for name, data in extensions.items() if data},
            unmerged=self.unmerged - wanted.keys(),
        )

    def _start(self, number: int) -> int:
        return self.starts[number] if number < len(self.starts) else len(self.entries)

    def _name(self, start: int) -> bytes:
        begin, end = find_name(self.entries, start)
        return self.entries[begin:end]

    def _span(self, name: bytes) -> tuple[int, int]:
        low = bisect_left(self.starts, name, key=self._name)
        high = low
        while high < len(self.starts) and self._name(self.starts[high]) == name:
            high += 1
        return low, high

    def _entry(self, start: int) -> StagedEntry:
        fields = _STAT_AND_ID.unpack_from(self.entries, start)
        flags = fields[11]
        extended = _FLAGS.unpack_from(self.entries, start + 62)[0] if flags & _EXTENDED else 0
        return StagedEntry(fields[6], fields[10].hex(), (flags & _STAGES) >> 12, bool(extended & _INTENT_TO_ADD))

    def _check_clashes(self, wanted: Mapping[bytes, NewEntry | None]) -> None:
        removed = {name for name, entry in wanted.items() if entry is None}
        for name in wanted.keys() - removed:
            parts = name.split(b"/")
            for depth in range(1, len(parts)):
                above = b"/".join(parts[:depth])
                low, high = self._span(above)
                if wanted.get(above) or (low != high and above not in removed):
                    raise _clash(above)
            number = bisect_left(self.starts, name + b"/", key=self._name)
            while number < len(self.starts) and (below := self._name(self.starts[number])).startswith(name + b"/"):
                if below not in removed:
                    raise _clash(below)
                number += 1


def find_version(path: str) -> int | None:
    """Return the version that the index at ``path`` says it has, ``None`` where there is none that says so."""
    with contextlib.suppress(OSError), open_regular(path) as file:
        head = file.read(_HEADER.size)
        if len(head) == _HEADER.size and head[:4] == b"DIRC":
            return int(_HEADER.unpack(head)[1])
    return None


def load_index(path: str) -> IndexFile | None:
    """Return the staging area at ``path``; ``None`` when it is missing, empty or damaged and has to be made from HEAD.

    Raises ``StateError`` (``index-unsupported``) for one that Git can read and this can't, ``UnavailableError``
    (``index-unreadable``) for one that the system does not let anybody read, or that is beyond all size.
    """
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(
            "index-unreadable",
            f"Git's staging area can't be read: {error.strerror}",
            "Look at the permissions of the file index in the vault's Git directory.",
        ) from error
    try:
        return parse_index(data)
    except BadIndexError:
        return None


def parse_index(data: bytes) -> IndexFile:
    """Return the index that ``data`` is; that of the same bytes as last time, or of the last edit, is remembered.

    A transaction looks at the same bytes three times, and the next one begins with those that it wrote. Raises
    ``BadIndexError`` for damaged bytes, ``StateError`` (``index-unsupported``).
    """
    return _LAST.find(data) or _LAST.keep(data, _parse(data))


def new_index(entries: Iterable[tuple[str, NewEntry]]) -> IndexFile:
    """Return an index of ``entries``, which come in the order of their paths' bytes."""
    pieces = [_HEADER.pack(b"DIRC", 2, 0)]
    starts = []
    at = _HEADER.size
    for path, entry in entries:
        starts.append(at)
        pieces.append(_format_entry(encode_name(path), entry))
        at += len(pieces[-1])
    return IndexFile(2, b"".join(pieces), starts, {}, frozenset())


class _Last:
    """The index that was parsed or made last, with its bytes."""

    def __init__(self) -> None:
        self._pair: tuple[bytes, IndexFile] | None = None

    def find(self, data: bytes) -> IndexFile | None:
        pair = self._pair
        return pair[1] if pair is not None and pair[0] == data else None

    def keep(self, data: bytes, index: IndexFile) -> IndexFile:
        self._pair = (data, index)
        return index


_LAST = _Last()


def _parse(data: bytes) -> IndexFile:
    if len(data) < _HEADER.size + 20:
        raise BadIndexError("too short")
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or data[-20:] not in (hashlib.sha1(data[:-20], usedforsecurity=False).digest(), bytes(20)):
        raise BadIndexError("damaged")
    if version not in VERSIONS:
        raise BadIndexError(f"of version {version}")
    try:
        entries, rest = expand_names(data, count) if version == 4 else (data, 0)
        starts, unmerged, end = _walk(entries, count)
        return IndexFile(version, entries[:end], starts, _parse_extensions(data, rest or end), unmerged)
    except (IndexError, ValueError, struct.error) as error:
        raise BadIndexError("garbled") from error


def _walk(data: bytes, count: int) -> tuple[list[int], frozenset[bytes], int]:
    starts: list[int] = []
    unmerged = set()
    at = _HEADER.size
    read_flags = _FLAGS.unpack_from
    for _ in range(count):  # find_name written out: a call for each entry would cost a third more
        starts.append(at)
        flags = read_flags(data, at + _FLAGS_AT)[0]
        head = 64 if flags & _EXTENDED else 62
        length = flags & _NAME_MASK
        if length == _NAME_MASK:
            length = data.index(b"\0", at + head) - at - head
        if flags & _STAGES:
            unmerged.add(data[at + head : at + head + length])
        at += (head + length + 8) & ~7
    if at > len(data) - 20:
        raise BadIndexError("too short for its entries")
    return starts, frozenset(unmerged), at


def _parse_extensions(data: bytes, at: int) -> dict[bytes, bytes]:
    found = {}
    end = len(data) - 20
    while at < end:
        name, size = data[at : at + 4], struct.unpack_from(">I", data, at + 4)[0]
        if not 65 <= name[0] <= 90:  # Git's rule: one that does not start with a capital must be understood
            raise _unsupported("is split or sparse" if name in (b"link", b"sdir") else f"needs {name!r}")
        if at + 8 + size > end:
            raise BadIndexError("an extension is cut")
        if name in _KEPT:
            found[name] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return found


def _format_entry(name: bytes, entry: NewEntry) -> bytes:
    stat = entry.stat
    head = _STAT_AND_ID.pack(
        *stat.ctime,
        *stat.mtime,
        stat.dev,
        stat.ino,
        entry.mode,
        stat.uid,
        stat.gid,
        stat.size,
        bytes.fromhex(entry.blob),
        min(len(name), _NAME_MASK),
    )
    return head + name + bytes(8 - (62 + len(name)) % 8)


def _format(index: IndexFile) -> bytes:
    count = len(index.starts)
    body = index.entries[_HEADER.size :]
    if index.version == 4:
        body = compress_names(body, count)
    tail = b"".join(name + struct.pack(">I", len(data)) + data for name, data in index.extensions.items())
    data = _HEADER.pack(b"DIRC", index.version, count) + body + tail
    return data + hashlib.sha1(data, usedforsecurity=False).digest()


def _clash(name: bytes) -> StateError:
    path = decode_name(name)
    return StateError(
        "index-clash",
        f"{path} is staged, and a folder or file of the same name is to be written",
        "Unstage or rename it with Git.",
        path=path,
    )


def _unsupported(why: str) -> StateError:
    return StateError(
        "index-unsupported",
        f"Git's staging area {why}, which gitmem can't read",
        "Run `git update-index --no-split-index`, or `git sparse-checkout disable`.",
    )
