"""Paths of a tree of files in which a model sees records: ``/memories/notes.txt``, and the key of the record there.

A path is a name in a list of records, never one on the disk. Pure.
"""

from __future__ import annotations

import re
import unicodedata

from gitmem.errors import InputError
from gitmem.model.record import FOLDERS, MAX_KEY_CHARS
from gitmem.model.vault_path import find_path_problem, fold_path
from gitmem.patterns import late
from gitmem.text import quote

ROOT = "/memories"
KEY_PREFIX = "memories/"
"""What the key of a record begins with for which a model chose the path."""
MAX_FILE_CHARS = MAX_KEY_CHARS - len(KEY_PREFIX)
"""How long a path below the root may be that a model chooses."""
_ENCODED = late(r"%(?:2e|2f|5c|25|00)", re.IGNORECASE)


def parse_file(text: str) -> str:
    """Return the path below ``ROOT`` that ``text`` names, without a slash at its end; empty for the root itself.

    Raises ``InputError`` (``bad-path``) for one outside the root, with ``..``, an empty part, a backslash, an encoded
    character of these, or another that can't stand in a path.
    """
    if text.removesuffix("/") == ROOT:
        return ""
    if not text.startswith(f"{ROOT}/"):
        raise _bad(text, f"it does not begin with {ROOT}/")
    inside = text.removeprefix(f"{ROOT}/").removesuffix("/")
    if _ENCODED.search(inside):
        raise _bad(text, "it holds an encoded '.', '/', '\\' or '%'")
    problem = find_path_problem(inside) or find_path_problem(unicodedata.normalize("NFKC", inside))
    if problem:
        raise _bad(text, problem)
    return inside


def check_chosen(inside: str) -> str:
    """Return ``inside``, a path below the root, as one that a model may give a file of its own.

    Raises ``InputError``: ``bad-path`` where it is the root, too long, hidden (``.x``, ``node_modules``), with a blank
    in it or in another Unicode form than NFC, ``reserved-path`` in a folder of the vault.
    """
    path = f"{ROOT}/{inside}"
    if not inside:
        raise _bad(ROOT, "it is the folder itself")
    if len(inside) > MAX_FILE_CHARS:
        raise _bad(path, f"it is longer than {MAX_FILE_CHARS} characters below {ROOT}/")
    if inside != unicodedata.normalize("NFC", inside):
        raise _bad(path, "it is not in the composed form of Unicode (NFC)")
    if len(inside.split()) != 1:
        raise _bad(path, "it holds a blank; write - or _ instead")
    parts = inside.split("/")
    if any(part.startswith(".") or fold_path(part) == "node_modules" for part in parts):
        raise _bad(path, "names that begin with '.', and node_modules, are hidden")
    if fold_path(parts[0]) in FOLDERS:
        raise InputError(
            "reserved-path",
            f"{ROOT}/{parts[0]}/ holds the vault's own records, which are shown there and not changed",
            f"Write a file of your own elsewhere below {ROOT}/.",
        )
    return inside


def key_of(inside: str) -> str:
    """Return the key of the record for which a model chose the path ``inside``."""
    return KEY_PREFIX + inside


def find_chosen(key: str | None) -> str | None:
    """Return the path that ``key`` says a model chose, ``None`` where it says none that could be chosen."""
    if key is None or not key.startswith(KEY_PREFIX):
        return None
    try:
        return check_chosen(parse_file(f"/{key}"))
    except InputError:
        return None


def _bad(text: str, problem: str) -> InputError:
    return InputError("bad-path", f"the path {quote(text, 120)} can't be used: {problem}", "Name another.")
