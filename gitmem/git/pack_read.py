"""One object out of Git's packs by plain reads, for a process that asks for few and would load libgit2 for them.

What is in any way out of the ordinary is left to libgit2, which then also says what is wrong with it.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from bisect import bisect_left

from gitmem.disk import NO_FOLLOW, READ_FLAGS
from gitmem.git.delta import apply_delta
from gitmem.git.kinds import ObjectType

_INDEX_HEAD = b"\xfftOc\0\0\0\2"
_FANOUT_AT = len(_INDEX_HEAD)
_IDS_AT = _FANOUT_AT + 256 * 4
_ID_BYTES = 20
_MAX_BYTES = 16 << 20
"""Of an object, unpacked, and of what is read of an index at once."""
_MAX_CHAIN = 100
_OFFSET_DELTA = 6
_NAMED_DELTA = 7
_CHUNK_BYTES = 4096


def find_packed(objects_dir: str, object_id: str) -> tuple[ObjectType, bytes] | None:
    """Return kind and content of a packed object, checked against its id.

    ``None`` where no pack has it, where it can't be read, and in another account's repository. Never raises for what
    is wrong with a file.
    """
    try:
        if os.stat(objects_dir).st_uid != os.geteuid():
            return None
        found = _find(os.path.join(objects_dir, "pack"), bytes.fromhex(object_id))
    except (AttributeError, IndexError, OSError, ValueError, zlib.error):
        return None
    if found is None:
        return None
    kind, data = found
    whole = b"%s %d\0%s" % (kind.name.lower().encode(), len(data), data)
    return found if hashlib.sha1(whole, usedforsecurity=False).hexdigest() == object_id else None


def _find(folder: str, raw_id: bytes) -> tuple[ObjectType, bytes] | None:
    for name in os.listdir(folder):
        if name.startswith("pack-") and name.endswith(".idx"):
            offset = _find_offset(os.path.join(folder, name), raw_id)
            if offset is not None:
                return _read_entry(folder, f"{name.removesuffix('.idx')}.pack", offset)
    return None


def _find_offset(index: str, raw_id: bytes) -> int | None:
    fd = os.open(index, READ_FLAGS | NO_FOLLOW)
    try:
        head = os.pread(fd, _IDS_AT, 0)
        if head[:_FANOUT_AT] != _INDEX_HEAD or len(head) != _IDS_AT:
            raise ValueError("an index of another version")
        fanout = [0, *(int.from_bytes(head[at : at + 4]) for at in range(_FANOUT_AT, _IDS_AT, 4))]
        first, behind, count = fanout[raw_id[0]], fanout[raw_id[0] + 1], fanout[-1]
        ids = _read_all(fd, _IDS_AT + first * _ID_BYTES, (behind - first) * _ID_BYTES)
        at = bisect_left(range(behind - first), raw_id, key=lambda one: ids[one * _ID_BYTES : (one + 1) * _ID_BYTES])
        if ids[at * _ID_BYTES : (at + 1) * _ID_BYTES] != raw_id:
            return None
        offset = int.from_bytes(_read_all(fd, _IDS_AT + count * (_ID_BYTES + 4) + (first + at) * 4, 4))
        if offset >> 31:
            raise ValueError("a pack beyond 2 GiB")
        return offset
    finally:
        os.close(fd)


def _read_entry(folder: str, pack: str, offset: int) -> tuple[ObjectType, bytes]:
    fd = os.open(os.path.join(folder, pack), READ_FLAGS | NO_FOLLOW)
    try:
        deltas: list[bytes] = []
        while len(deltas) <= _MAX_CHAIN:
            kind, size, at, packed = _read_head(fd, offset)
            if kind not in (_OFFSET_DELTA, _NAMED_DELTA):
                data = _inflate(fd, at, packed, size)
                for delta in reversed(deltas):
                    data = apply_delta(data, delta, _MAX_BYTES)
                return ObjectType(kind), data
            if kind == _OFFSET_DELTA:
                back, length = _read_back(packed)
                offset -= back
            else:
                found = _find_offset(os.path.join(folder, pack.removesuffix(".pack") + ".idx"), packed[:_ID_BYTES])
                if found is None:
                    break
                offset, length = found, _ID_BYTES
            deltas.append(_inflate(fd, at + length, packed[length:], size))
        raise ValueError("a chain of deltas without an end")
    finally:
        os.close(fd)


def _read_head(fd: int, offset: int) -> tuple[int, int, int, bytes]:
    """Return an entry's kind and size, where its body begins, and the first bytes of that."""
    if offset < len("PACK") + 8:
        raise ValueError("an entry in the pack's head")
    data = os.pread(fd, _CHUNK_BYTES, offset)
    byte, at = data[0], 1
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 0x80:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
    return kind, size, offset + at, data[at:]


def _read_back(packed: bytes) -> tuple[int, int]:
    """Return how far before a delta its base lies, and how many bytes say so."""
    byte, at = packed[0], 1
    back = byte & 0x7F
    while byte & 0x80:
        byte = packed[at]
        at += 1
        back = (back + 1) << 7 | byte & 0x7F
    if back == 0:
        raise ValueError("a delta of itself")
    return back, at


def _inflate(fd: int, at: int, packed: bytes, size: int) -> bytes:
    if size > _MAX_BYTES:
        raise ValueError("an object beyond all size")
    inflate = zlib.decompressobj()
    data = inflate.decompress(packed, size + 1)
    at += len(packed)
    while not inflate.eof and len(data) <= size:
        more = inflate.unconsumed_tail
        if not more:
            more = os.pread(fd, max(_CHUNK_BYTES, size), at)
            at += len(more)
            if not more:
                break
        data += inflate.decompress(more, size + 1 - len(data))
    if len(data) != size or not inflate.eof:
        raise ValueError("an entry that is torn")
    return data


def _read_all(fd: int, at: int, size: int) -> bytes:
    data = os.pread(fd, size, at) if size <= _MAX_BYTES else b""
    if len(data) != size:
        raise ValueError("an index that is torn")
    return data
