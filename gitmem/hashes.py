"""SHA-1, SHA-256 and BLAKE2b for a process that starts in no time. ADR 0035.

``hashlib`` loads OpenSSL, which takes as long as a third of an idle Python; the interpreter's own code for the same
hashes takes no time to load, and several times as long per byte. So what is long, and whatever a process hashes once
somebody imported ``hashlib``, goes through that.
"""

from __future__ import annotations

import functools
import sys

from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LONG_BYTES = 16_384


def sha1(data: bytes) -> bytes:
    """Return the SHA-1 of ``data``, 20 bytes: a name, as Git gives it, and no proof of where something comes from."""
    return _hash("sha1", data)


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 of ``data``, 32 bytes."""
    return _hash("sha256", data)


def blake2b(data: bytes, *, key: bytes, digest_size: int) -> bytes:
    """Return the BLAKE2b of ``data`` under ``key``, ``digest_size`` bytes. ``hashlib`` has the same function."""
    try:
        from _blake2 import blake2b as make
    except ImportError:
        from hashlib import blake2b as make
    return make(data, key=key, digest_size=digest_size).digest()


def _hash(name: str, data: bytes) -> bytes:
    if len(data) <= _LONG_BYTES and "hashlib" not in sys.modules:
        make = _find_own(name)
        if make is not None:
            return make(data)
    import hashlib

    return hashlib.new(name, data, usedforsecurity=name != "sha1").digest()


@functools.cache
def _find_own(name: str) -> Callable[[bytes], bytes] | None:
    """Return the interpreter's own function; ``None`` where it was built without it."""
    is_together = name == "sha256" and sys.version_info >= (3, 12)
    try:
        make = getattr(__import__("_sha2" if is_together else f"_{name}"), name)
    except ImportError:
        return None

    def find_digest(data: bytes) -> bytes:
        found: bytes = make(data).digest()
        return found

    return find_digest
