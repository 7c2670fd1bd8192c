"""A random key in a file of its own in runtime, made once, by whichever process comes first."""

from __future__ import annotations

import contextlib
import os

from gitmem.disk import NO_FOLLOW, ensure_folder, read_regular, write_new

KEY_BYTES = 32


def ensure_key(path: str) -> bytes:
    """Return the key in the file ``path`` (0600), made where it is missing or too short. Raises ``OSError``."""
    key = _read(path)
    if key:
        return key
    ensure_folder(os.path.dirname(path))
    temp = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        write_new(temp, os.urandom(KEY_BYTES))
        _put(temp, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp)
    return _read(path)


def _put(temp: str, path: str) -> None:
    """Give the file its name, where no other process was faster; a damaged file there gives way."""
    try:
        os.link(temp, path)
    except OSError:  # one is there, or the file system has no links
        if not _read(path):
            os.replace(temp, path)


def _read(path: str) -> bytes:
    if os.path.islink(path) and NO_FOLLOW:
        raise OSError(f"{path} is a link")
    with contextlib.suppress(FileNotFoundError):
        key = read_regular(path, 1 << 10)
        return key[:KEY_BYTES] if len(key) >= KEY_BYTES else b""
    return b""
