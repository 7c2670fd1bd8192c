"""Version 4 of Git's index, where each name says only how it differs from the one before. Pure.

Entries are turned into the layout of versions 2 and 3 and back, so that everything else knows one layout.
"""

from __future__ import annotations

import struct

_FIRST = 12
_FLAGS = struct.Struct(">H")
_EXTENDED = 0x4000
_NAME_MASK = 0xFFF


def expand_names(data: bytes, count: int) -> tuple[bytes, int]:
    """Return ``data`` up to its extensions with ``count`` whole names, and where in ``data`` the extensions begin.

    Twenty bytes stand in for the checksum. Raises ``IndexError``, ``ValueError`` or ``struct.error`` for garbled
    bytes.
    """
    pieces = [data[:_FIRST]]
    name = b""
    at = _FIRST
    for _ in range(count):
        head = _head_size(data, at)
        dropped, suffix = _read_offset(data, at + head)
        end = data.index(b"\0", suffix)
        if dropped > len(name):
            raise ValueError("a name drops more than there is")
        name = name[: len(name) - dropped] + data[suffix:end]
        pieces.append(data[at : at + head] + name + bytes(8 - (head + len(name)) % 8))
        at = end + 1
    pieces.append(bytes(20))
    return b"".join(pieces), at


def compress_names(body: bytes, count: int) -> bytes:
    """Return ``count`` entries in the layout of versions 2 and 3 (no header) as version 4 writes them."""
    pieces: list[bytes] = []
    before = b""
    at = 0
    for _ in range(count):
        begin, end = find_name(body, at)
        name = body[begin:end]
        shared = _shared(before, name)
        pieces += (body[at:begin], _format_offset(len(before) - shared), name[shared:], b"\0")
        before = name
        at += (end - at + 8) & ~7
    return b"".join(pieces)


def find_name(entries: bytes, start: int) -> tuple[int, int]:
    """Return where the name of the entry at ``start`` begins and ends, in the layout of versions 2 and 3."""
    begin = start + _head_size(entries, start)
    length = _FLAGS.unpack_from(entries, start + 60)[0] & _NAME_MASK
    return begin, begin + length if length < _NAME_MASK else entries.index(b"\0", begin + length)


def _head_size(data: bytes, at: int) -> int:
    return 64 if _FLAGS.unpack_from(data, at + 60)[0] & _EXTENDED else 62


def _shared(one: bytes, other: bytes) -> int:
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(i for i in range(size) if one[i] != other[i])


def _read_offset(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at ``at`` and where it ends; the same form as offsets in packs."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _format_offset(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        value -= 1
        digits.append(0x80 | (value & 0x7F))
    return bytes(reversed(digits))
