"""Checked identities: records, operations, commits, paths in a vault, content.

The types are plain strings to the machine; a value of one of them has passed the function of the same name here.
"""

from __future__ import annotations

import hashlib
import os

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import NewType

RecordId = NewType("RecordId", str)
OpId = NewType("OpId", str)
CommitId = NewType("CommitId", str)
VaultId = NewType("VaultId", str)
Fingerprint = NewType("Fingerprint", str)
"""The content hash of one file: the Git blob id of its bytes, so that disk, crash journal and Git compare alike."""

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 in lower case: no i, l, o, u."""
ID_CHARS = 12
_RECORD_ID = late(f"[{ALPHABET}]{{{ID_CHARS}}}")
_OWN_OP_CHARS = 16
_OWN_OP_ID = late(f"[{ALPHABET}]{{{_OWN_OP_CHARS}}}")
_OP_ID = late(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


random_bytes = os.urandom
"""Where ids come from; what is to be repeated puts something else here."""


def is_record_id(text: object) -> bool:
    """Tell whether ``text`` has the form of a record id: 12 characters of Crockford base32 in lower case."""
    return isinstance(text, str) and _RECORD_ID.fullmatch(text) is not None


def parse_record_id(text: str) -> RecordId:
    """Return ``text`` as a record id. Raises ``InputError`` (``bad-record-id``)."""
    if not is_record_id(text):
        raise InputError(
            "bad-record-id",
            "a record id is 12 characters of 0-9 a-z without i, l, o, u",
            "Copy the id from `gitmem list`.",
        )
    return RecordId(text)


def parse_op_id(text: str) -> OpId:
    """Return ``text`` as an operation id. Raises ``InputError`` (``bad-op-id``)."""
    if _OP_ID.fullmatch(text) is None:
        raise InputError(
            "bad-op-id",
            "an operation id is 1 to 64 letters, digits, - and _, and starts with a letter or digit",
            "Leave --op-id out to have one made, or give one that your program keeps for its retries.",
        )
    return OpId(text)


def new_token(chars: int = ID_CHARS) -> str:
    """Return ``chars`` random characters of the id alphabet, 5 bits each, from the system's secure source."""
    return "".join(ALPHABET[byte & 31] for byte in random_bytes(chars))


def new_record_id() -> RecordId:
    """Return a fresh random record id. Never ordered by time: time order makes two branches touch the same lines."""
    return RecordId(new_token())


def derive_record_id(*parts: str) -> RecordId:
    """Return the record id that these parts always give, as good as random; what is made from them is made once."""
    hashed = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return RecordId("".join(ALPHABET[byte & 31] for byte in hashed[:ID_CHARS]))


def new_op_id() -> OpId:
    """Return a fresh random operation id."""
    return OpId(new_token(_OWN_OP_CHARS))


def is_own_op_id(text: str) -> bool:
    """Tell whether ``text`` has the form of an operation id that gitmem makes, and not one that a program chose."""
    return _OWN_OP_ID.fullmatch(text) is not None


def new_vault_id() -> VaultId:
    """Return a fresh random vault id."""
    return VaultId(new_token())


def fingerprint(data: bytes) -> Fingerprint:
    """Return the Git blob id of ``data``."""
    return Fingerprint(hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())
