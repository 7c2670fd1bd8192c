"""Names of files inside a vault: which ones gitmem will write, and which ones it makes.

A path is relative, has ``/`` between parts, and must be safe on every system that a vault may be cloned to, because
Git carries it there: rules from Git's own path protections, Windows' file names and Obsidian's links.
"""

from __future__ import annotations

import re
import unicodedata

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.text import find_hidden, fold, quote
from gitmem.typed import NewType

VaultPath = NewType("VaultPath", str)

MAX_DEPTH = 32
MAX_PART_BYTES = 255
MAX_PATH_BYTES = 1024
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"
}
_FORBIDDEN = late(r'[\\:*?"<>|\x00-\x1f\x7f]')
_GIT_SHORT_NAME = late(r"git~\d+", re.IGNORECASE)


def parse_vault_path(text: str) -> VaultPath:
    """Return ``text`` as a path inside a vault. Raises ``InputError`` (``bad-path``) that says which rule it breaks."""
    problem = find_path_problem(text)
    if problem:
        raise InputError("bad-path", f"{quote(text, 120)} can't be a path in a vault: {problem}", "Rename the file.")
    return VaultPath(text)


def find_path_problem(text: str) -> str | None:
    """Return why ``text`` can't be a path in a vault, or ``None`` when it can."""
    if not text:
        return "it is empty"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    if size > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    parts = text.split("/")
    if len(parts) > MAX_DEPTH:
        return f"it is more than {MAX_DEPTH} folders deep"
    return next((problem for part in parts if (problem := _find_part_problem(part))), None)


def fold_path(path: str) -> str:
    """Return the key under which ``path`` clashes on a case-blind or normalising file system (``ß`` = ``ss``)."""
    return fold(unicodedata.normalize("NFKC", path)).replace("ı", "i")


def _find_part_problem(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "it has an empty, '.' or '..' part"
    if len(part.encode()) > MAX_PART_BYTES:
        return f"one of its names is longer than {MAX_PART_BYTES} bytes"
    if _FORBIDDEN.search(part):
        return 'it holds a control character or one of \\ : * ? " < > |'
    if find_hidden(part):
        return "it holds an invisible or direction-changing character"
    if part[-1] in ". " or part[0] in " -":
        return "a name starts with a blank or '-', or ends with a blank or '.'"
    seen = fold(part)
    if seen.startswith(".git") or _GIT_SHORT_NAME.fullmatch(part):
        return "names that start with .git belong to Git"
    if seen.split(".")[0].rstrip() in _DEVICES:
        return "it is a device name on Windows"
    return None
