"""What waits for a person, as rows: each uncommitted note, and whose it is likely to be."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitmem.clock import format_utc, moment_at
from gitmem.model.ids import CommitId
from gitmem.service.edited import EditedNote, list_edited
from gitmem.service.origin import guess_origins
from gitmem.service.vault import OpenVault
from gitmem.typed import Any


def list_waiting(vault: OpenVault, head: CommitId, dirty: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return a row for each note among ``dirty``, the paths that differ from ``head``; see ``service.status``."""
    notes = list_edited(vault, head, dirty, shows=False)
    whose = guess_origins(vault, head, notes)
    return tuple(_row(vault, note, whose[note.path]) for note in notes)


def _row(vault: OpenVault, note: EditedNote, whose: str) -> dict[str, Any]:
    modified, owner = _look_at(vault.layout.file(note.path))
    return {
        "path": note.path,
        "change": note.change,
        "whose": whose,
        "staged": note.is_staged,
        "staged_apart": note.staged_apart,
        "left_alone": note.left_alone,
        "modified": modified,
        "owner": owner,
    }


def _look_at(file: str) -> tuple[str | None, str | None]:
    """Return when a file was last written, and the account that owns it if that is another than this process's."""
    try:
        found = os.lstat(file)
    except OSError:
        return None, None
    modified = format_utc(moment_at(found.st_mtime))
    is_own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return modified, None if is_own else _name_account(found.st_uid)


def _name_account(number: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return str(number)
