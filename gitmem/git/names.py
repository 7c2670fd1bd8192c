"""Names of files as Git holds them: bytes, in UTF-8 but for what people brought from elsewhere. Pure."""

from __future__ import annotations


def encode_name(name: str) -> bytes:
    """Return the bytes of a name or path; the inverse of ``decode_name``."""
    return name.encode("utf-8", "surrogateescape")


def decode_name(name: bytes) -> str:
    """Return a name or path as text; bytes that are not UTF-8 become surrogates."""
    return name.decode("utf-8", "surrogateescape")
