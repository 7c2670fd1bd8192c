"""Public keys and signatures as OpenSSH writes them: parsed, named by their fingerprint. Pure but for ``read``."""

from __future__ import annotations

import base64
import binascii
import hashlib

from gitmem.disk import read_regular
from gitmem.errors import InputError

KEY_TYPES = (
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
"""The types that a person's key may have; those with ``sk-`` live in a device that wants to be touched."""
MAX_KEY_BYTES = 16 << 10
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG\0\0\0\1"


def parse_public_key(text: str) -> tuple[str, str]:
    """Return the key in one line of a ``.pub`` file, without its comment, and the comment.

    Raises ``InputError`` (``bad-key``) for what is none, and for a type that can't be used.
    """
    parts = text.strip().split(maxsplit=2)
    if len(parts) < 2 or "\n" in text.strip():
        raise _bad("it is not one line of a public key")
    kind, data = parts[0], parts[1]
    if kind not in KEY_TYPES:
        raise _bad("its type can't be used")
    try:
        blob = base64.b64decode(data, validate=True)
        if _take(blob)[0] != kind.encode() or base64.b64encode(blob).decode() != data:
            raise ValueError
    except (ValueError, binascii.Error):
        raise _bad("its text is garbled") from None
    return f"{kind} {data}", parts[2] if len(parts) > 2 else ""


def is_public_key(text: str) -> bool:
    """Tell whether ``text`` is exactly a public key of a type that can be used: no comment, no further line."""
    try:
        return parse_public_key(text) == (text, "")
    except InputError:
        return False


def read_public_key(file: str) -> tuple[str, str]:
    """Return the key in ``file``, or in the ``.pub`` beside it where that is a private one, and its comment.

    Raises ``InputError`` (``bad-key``, ``no-such-key``).
    """
    for place in (file, f"{file}.pub"):
        try:
            text = read_regular(place, MAX_KEY_BYTES).decode()
        except UnicodeDecodeError:
            continue
        except OSError:
            continue
        if "PRIVATE KEY-----" not in text:
            return parse_public_key(text)
    raise InputError("no-such-key", "there is no public key in that file, nor beside it", "Name the .pub file.")


def fingerprint_of(key: str) -> str:
    """Return a key's fingerprint as ``ssh-keygen -l`` shows it: ``SHA256:`` and 43 characters."""
    digest = hashlib.sha256(base64.b64decode(key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def is_in_device(key: str) -> bool:
    """Tell whether a key lives in a device of its own (FIDO) that wants to be touched for each signature."""
    return key.startswith("sk-")


def find_signer(signature: str) -> str | None:
    """Return the public key that an armoured signature says it is by, ``None`` for text that is no signature.

    That proves nothing yet.
    """
    lines = signature.strip().splitlines()
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        return None
    try:
        data = base64.b64decode("".join(lines[1:-1]), validate=True)
        if not data.startswith(_MAGIC):
            return None
        blob, _rest = _take(data[len(_MAGIC) :])
        kind = _take(blob)[0].decode("ascii")
    except (ValueError, binascii.Error):
        return None
    return f"{kind} {base64.b64encode(blob).decode()}"


def _take(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 + size:
        raise ValueError
    return data[4 : 4 + size], data[4 + size :]


def _bad(reason: str) -> InputError:
    return InputError(
        "bad-key", f"that is no public key that can be used: {reason}", "Make one with `ssh-keygen -t ed25519`."
    )
