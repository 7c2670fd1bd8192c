"""Changed-path filters as Git's commit graph holds them (hash version 1). Pure.

Git hashed bytes above 127 as signed or unsigned, by version and processor. So a commit that touches such a path gets
the filter that means "maybe anything": slower to search, right everywhere.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Collection

HASH_VERSION = 1
HASHES = 7
BITS_PER_PATH = 10
MAX_PATHS = 512
ANYTHING = b"\xff"
NOTHING = b"\0"
_SEEDS = (0x293AE76F, 0x7E646E2C)
_MASK = 0xFFFFFFFF


def make_filter(paths: Collection[bytes]) -> bytes:
    """Return the filter of a commit that changed ``paths``, the folders on the way to files among them."""
    if not paths:
        return NOTHING
    if len(paths) > MAX_PATHS or not all(path.isascii() for path in paths):
        return ANYTHING
    size = (len(paths) * BITS_PER_PATH + 7) // 8
    bits = bytearray(size)
    for path in paths:
        first, second = _hash_path(path)
        for number in range(HASHES):
            at = ((first + number * second) & _MASK) % (size * 8)
            bits[at >> 3] |= 1 << (at & 7)
    return bytes(bits)


def make_mask(path: bytes, size: int) -> int:
    """Return the bits that a commit which changed ``path`` has in a filter of ``size`` bytes, read little end first.

    Those of the folders on the way are among them, as they are in the filter. Behind a name with bytes above 127 no
    bit is asked for, since others may have hashed it otherwise; none at all in an empty filter, which stands for
    anything.
    """
    mask = 0
    end = len(path)
    while size and end > 0:
        if path[:end].isascii():
            first, second = _hash_path(path[:end])
            for number in range(HASHES):
                mask |= 1 << ((first + number * second) & _MASK) % (size * 8)
        end = path.rfind(b"/", 0, end)
    return mask


@functools.lru_cache(4096)
def _hash_path(path: bytes) -> tuple[int, int]:
    return _murmur3(_SEEDS[0], path), _murmur3(_SEEDS[1], path)


def _murmur3(seed: int, data: bytes) -> int:
    """Return MurmurHash3's 32-bit hash; where the variants differ, for bytes above 127, as its author has it."""
    whole = len(data) // 4
    for word in struct.unpack_from(f"<{whole}L", data):
        seed ^= _scramble(word)
        seed = (_rotate(seed, 13) * 5 + 0xE6546B64) & _MASK
    if tail := data[whole * 4 :]:
        seed ^= _scramble(int.from_bytes(tail, "little"))
    seed ^= len(data)
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & _MASK
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & _MASK
    return seed ^ seed >> 16


def _scramble(word: int) -> int:
    return _rotate(word * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
