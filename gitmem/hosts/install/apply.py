"""Carry a plan out: every file is still as it was when the plan was shown, or none is touched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from gitmem.disk import ensure_folder, flush_folder, replace_file
from gitmem.errors import StateError, disk_refused
from gitmem.hosts.install.place import read_now
from gitmem.hosts.install.plan import PRIVATE_MODE, FileEdit

_PRIVATE_FOLDER, _SHARED_FOLDER = 0o700, 0o755


def apply_edits(edits: Sequence[FileEdit], probe: Callable[[str], None] = lambda _path: None) -> tuple[str, ...]:
    """Make all edits and return the folders that were made for them, parents first.

    ``probe`` is told each path before it is written, for tests. Raises ``StateError`` (``changed-meanwhile``) where a
    file is no more as it was looked at, ``UnavailableError`` (``disk``): what was done before is taken back then.
    """
    for edit in edits:
        _check_same(edit)
    folders: list[str] = []
    done: list[FileEdit] = []
    try:
        for edit in edits:
            probe(edit.path)
            _check_same(edit)
            done.append(edit)
            folders += _make_folders(edit)
            _write(edit.target, edit.after, edit.mode)
    except BaseException as error:
        for edit in reversed(done):
            if read_now(edit.target) == edit.after:
                with contextlib.suppress(OSError):
                    _write(edit.target, edit.before, edit.mode)
        remove_empty(tuple(reversed(folders)))
        if isinstance(error, OSError):
            raise disk_refused(error, "What was written before was taken back.") from error
        raise
    return tuple(folders)


def remove_empty(folders: Sequence[str]) -> None:
    """Remove those of ``folders`` that are empty, in this order; others stay."""
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _check_same(edit: FileEdit) -> None:
    if os.path.realpath(edit.path) != edit.target or read_now(edit.target) != edit.before:
        message = f"{edit.path} has changed since it was looked at; nothing was changed"
        raise StateError("changed-meanwhile", message, "Run the command again and look at what it says now.")


def _make_folders(edit: FileEdit) -> list[str]:
    folder, missing = os.path.dirname(edit.target), []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    ensure_folder(os.path.dirname(edit.target), _PRIVATE_FOLDER if edit.mode == PRIVATE_MODE else _SHARED_FOLDER)
    return missing[::-1]


def _write(target: str, data: bytes | None, mode: int) -> None:
    if data is not None:
        replace_file(target, data, mode)
        os.chmod(target, mode)
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(target)
        flush_folder(os.path.dirname(target))
