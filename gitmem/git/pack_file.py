"""Git's pack files and their indexes, as gitpack-format describes them: version 2 of both, SHA-1."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from gitmem.disk import NO_FOLLOW, open_regular
from gitmem.git.kinds import ObjectType
from gitmem.typed import BinaryIO, NamedTuple, Self

MAX_PACK_BYTES = (1 << 31) - 1
"""Larger ones need 64-bit offsets, which are read nowhere here and never written."""
NAME_CHARS = 40
OFFSET_DELTA = 6
NAMED_DELTA = 7
_KINDS = (ObjectType.COMMIT, ObjectType.TREE, ObjectType.BLOB, ObjectType.TAG)
_INDEX_HEAD = b"\xfftOc\0\0\0\2"
_FANOUT_BYTES = 256 * 4
_MODE = 0o444  # less the umask, as Git makes its own


class Placed(NamedTuple):
    """Where an object lies in a pack: raw id, offset of its entry, CRC-32 of the entry's bytes."""

    raw_id: bytes
    offset: int
    crc: int


class RawEntry(NamedTuple):
    """One entry of a pack as it lies there. ``base`` is the offset of what it is a delta of, ``None`` without one.

    ``kind`` is Git's number (1 to 4 for whole objects), ``size`` that of the unpacked bytes. ``body`` is all behind the
    header (and, for a delta, behind its offset).
    """

    kind: int
    size: int
    base: int | None
    body: bytes


class PackWriter:
    """Writes a new pack file, bases first; flushed when ``finish`` returns. Raises what the disk raises."""

    def __init__(self, path: str, count: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)
        self._file: BinaryIO = os.fdopen(os.open(path, flags, _MODE), "wb", 1 << 20)
        self._digest = hashlib.sha1(usedforsecurity=False)
        self._at = 0
        self.placed: dict[bytes, Placed] = {}
        self._write(struct.pack(">4sLL", b"PACK", 2, count))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._file.close()

    def add(self, raw_id: bytes, kind: ObjectType, data: bytes) -> None:
        """Write an object whole."""
        self.add_raw(raw_id, RawEntry(int(kind), len(data), None, zlib.compress(data)))

    def add_delta(self, raw_id: bytes, base: bytes, delta: bytes) -> None:
        """Write an object as a delta of ``base`` (a raw id), which was written before."""
        offset = self.placed[base].offset
        self.add_raw(raw_id, RawEntry(OFFSET_DELTA, len(delta), offset, zlib.compress(delta)))

    def add_raw(self, raw_id: bytes, entry: RawEntry) -> None:
        """Write an entry; its ``base`` is an offset in this file."""
        head = _format_head(entry.kind, entry.size)
        if entry.base is not None:
            head += _format_distance(self._at - entry.base)
        data = head + entry.body
        self.placed[raw_id] = Placed(raw_id, self._at, zlib.crc32(data))
        self._write(data)

    def finish(self) -> bytes:
        """End the file and flush it; return its checksum, by which packs are named."""
        checksum = self._digest.digest()
        self._file.write(checksum)
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._at > MAX_PACK_BYTES:
            raise ValueError("the pack became larger than 2 GiB")
        return checksum

    def _write(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)
        self._at += len(data)


class PackIndex:
    """What a pack holds, by raw id. ``len`` is the number of its objects."""

    def __init__(self, data: bytes = b"") -> None:
        self._ids_at = len(_INDEX_HEAD) + _FANOUT_BYTES
        self._data = data
        self._fanout: tuple[int, ...] = struct.unpack_from(">256L", data, len(_INDEX_HEAD)) if data else (0,) * 256

    def __len__(self) -> int:
        return self._fanout[-1]

    def __contains__(self, raw_id: object) -> bool:
        assert isinstance(raw_id, bytes)
        low = self._fanout[raw_id[0] - 1] if raw_id[0] else 0
        high = self._fanout[raw_id[0]]
        at = bisect_left(range(high), raw_id, low, high, key=self._id)
        return at < high and self._id(at) == raw_id

    @property
    def ids(self) -> list[bytes]:
        """The raw ids, sorted."""
        return [self._id(number) for number in range(len(self))]

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where the entries begin in the pack, in the order of ``ids``."""
        return struct.unpack_from(f">{len(self)}L", self._data, self._ids_at + len(self) * 24)

    def _id(self, number: int) -> bytes:
        at = self._ids_at + 20 * number
        return self._data[at : at + 20]


def load_pack_index(path: str) -> PackIndex:
    """Return the index at ``path``. Raises ``ValueError`` for one that is damaged, of another version or too large."""
    with open_regular(path) as file:
        data = file.read()
    if not data.startswith(_INDEX_HEAD) or not _ends_in_checksum(data):
        raise ValueError("its index is damaged or of another version")
    index = PackIndex(data)
    expected = len(_INDEX_HEAD) + _FANOUT_BYTES + len(index) * 28 + 40
    if len(data) != expected:
        raise ValueError("it is larger than 2 GiB" if len(data) > expected else "its index is cut short")
    return index


def _ends_in_checksum(data: bytes) -> bool:
    return hashlib.sha1(memoryview(data)[:-20], usedforsecurity=False).digest() == data[-20:]


def format_pack_index(placed: Mapping[bytes, Placed], checksum: bytes) -> bytes:
    """Return the index of a pack with that checksum. Pure."""
    ordered = sorted(placed.values())
    body = b"".join(
        (
            _INDEX_HEAD,
            format_fanout([one.raw_id for one in ordered]),
            *(one.raw_id for one in ordered),
            struct.pack(f">{len(ordered)}L", *(one.crc for one in ordered)),
            struct.pack(f">{len(ordered)}L", *(one.offset for one in ordered)),
            checksum,
        )
    )
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def format_fanout(ids: list[bytes]) -> bytes:
    """Return the table that says how many of the sorted ``ids`` begin with at most each byte. Pure."""
    counts = [0] * 256
    for raw_id in ids:
        counts[raw_id[0]] += 1
    sums = []
    total = 0
    for count in counts:
        total += count
        sums.append(total)
    return struct.pack(">256L", *sums)


def iter_pack(data: bytes, index: PackIndex) -> Iterator[tuple[bytes, int, RawEntry]]:
    """Yield raw id, offset and entry of everything in the pack whose bytes are ``data``, in the order of the file.

    Raises ``ValueError`` for one that is garbled; what is compressed is not looked into.
    """
    if data[:8] != b"PACK\0\0\0\2" or len(data) < 32 or struct.unpack_from(">L", data, 8)[0] != len(index):
        raise ValueError("it is damaged or of another version")
    ordered = sorted(zip(index.offsets, index.ids, strict=True))
    ends = [offset for offset, _id in ordered[1:]] + [len(data) - 20]
    for (offset, raw_id), end in zip(ordered, ends, strict=True):
        yield raw_id, offset, _parse_entry(data, offset, end)


def _parse_entry(data: bytes, offset: int, end: int) -> RawEntry:
    try:
        byte = data[offset]
        kind, size, shift, at = byte >> 4 & 7, byte & 15, 4, offset + 1
        while byte & 0x80:
            byte = data[at]
            size |= (byte & 0x7F) << shift
            shift, at = shift + 7, at + 1
        base = None
        if kind == OFFSET_DELTA:
            byte = data[at]
            distance, at = byte & 0x7F, at + 1
            while byte & 0x80:
                byte = data[at]
                distance, at = (distance + 1) << 7 | byte & 0x7F, at + 1
            base = offset - distance
    except IndexError:
        raise ValueError("an entry is cut short") from None
    if not (at < end <= len(data) - 20) or kind in (0, 5) or (base is not None and not 12 <= base < offset):
        raise ValueError("an entry is garbled")
    return RawEntry(kind, size, base, data[at:end])


def is_whole(entry: RawEntry) -> bool:
    """Tell whether an entry is an object by itself and no delta."""
    return entry.kind in _KINDS


def _format_head(kind: int, size: int) -> bytes:
    byte, size = kind << 4 | size & 15, size >> 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    out.append(byte)
    return bytes(out)


def _format_distance(distance: int) -> bytes:
    out = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        out.append(distance & 0x7F | 0x80)
    return bytes(reversed(out))
