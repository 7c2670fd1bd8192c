"""Looking for a secret in every byte that gitmem may have left: files, Git objects inflated, packs, SQLite, names."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

CORE = "x7Qm2Vd9Rk4Tz8Lw3Np6Hb5Yc1Jf0GsAeUoi"
SECRET = "ghp_" + CORE
"""A made-up token; its letters differ from everything else, so that a part of it is found, too."""
_PART = 16


def find_leaks(roots: Iterable[Path], without: Iterable[Path] = ()) -> list[str]:
    """Return where below ``roots`` there is a part of ``SECRET``, in a file, in its name, or in an object of Git.

    Whatever the case, and in base64, too. Files ``without`` are those that a person wrote it into.
    """
    left = {path.resolve() for path in without}
    found = []
    for root in roots:
        for path in sorted(root.rglob("*")):
            if holds(str(path.name).encode()):
                found.append(f"the name {path.name}")
            if path.is_file() and path.resolve() not in left and holds(path.read_bytes()):
                found.append(str(path))
        found += [f"{git_dir}: an object" for git_dir in _iter_git_dirs(root) if holds(_read_objects(git_dir))]
    return found


def holds(data: bytes) -> bool:
    """Tell whether ``data`` holds a part of ``SECRET`` of 16 characters, or the beginning of it in base64."""
    folded = data.lower()
    parts = (CORE[:_PART], CORE[-_PART:], CORE[_PART // 2 : _PART // 2 + _PART])
    encoded = [base64.b64encode((lead + SECRET).encode())[4:28] for lead in ("", "a", "ab")]
    return any(part.lower().encode() in folded for part in parts) or any(one in data for one in encoded)


def _iter_git_dirs(root: Path) -> Iterator[Path]:
    for head in sorted(root.rglob("HEAD")):
        if (head.parent / "objects").is_dir():
            yield head.parent


def _read_objects(git_dir: Path) -> bytes:
    """Return all objects of a repository, reached or not, loose or packed, inflated."""
    command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run(command, check=True, capture_output=True).stdout
