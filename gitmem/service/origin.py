"""Whose an uncommitted change is likely to be: a guess from what can be seen, and said to be one.

Nothing here tells a person from a program: what no trace speaks for was written by someone with an editor or by another
program.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice

from gitmem.disk import open_regular
from gitmem.errors import IntegrityError
from gitmem.model.ids import CommitId, Fingerprint, fingerprint
from gitmem.patterns import late
from gitmem.service.edited import EditedNote
from gitmem.service.vault import OpenVault
from gitmem.vault.scan import MAX_NOTE_BYTES, is_conflict_copy

MAX_COMMITS = 50
"""How many commits back from HEAD are looked at, and how many tips of other branches."""
MAX_ASKED = 200
"""How many notes are looked for in the history; of further ones nothing but the name and what crashes left tells."""
MAX_LEFT_FILES = 200
EDITOR, GIT, GITMEM, SYNC = "editor", "git", "gitmem", "sync"
# Nextcloud, Seafile, Google Drive; then what iCloud and OneDrive put behind the name of a note that is there, too.
_SYNC_NAME = late(r"\((?:SFConflict|conflict|Conflict)[^/)]*\)[^/]*\.md$|\(case clash[^/)]*\)[^/]*\.md$")
_COPY_NAME = late(r"(?P<stem>.+?)(?: (?P<number>[2-9])|-(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{3,14})\.md$")


def guess_origins(vault: OpenVault, head: CommitId, notes: Sequence[EditedNote]) -> dict[str, str]:
    """Return for the path of each note ``sync``, ``gitmem``, ``git`` or ``editor``; reads, within bounds.

    ``sync``: it is named as sync programs name conflict copies. ``gitmem``: an operation that is under way or crashed
    has these bytes for it, or keeps them. ``git``: an earlier commit of the last ``MAX_COMMITS``, or the tip of another
    branch or of the stash, has these very bytes there; so a checkout, a stash or a revert may have put them there.
    ``editor``: none of these; someone with an editor, or any other program.
    """
    left = _Left(vault)
    found: dict[str, str] = {}
    asked: dict[str, Fingerprint] = {}
    for note in notes:
        blob = None if note.data is None else fingerprint(note.data)
        if is_sync_copy(vault.layout.repo, note.path):
            found[note.path] = SYNC
        elif left.has(note.path, note.data, blob):
            found[note.path] = GITMEM
        elif (
            blob is not None and note.change != "staged" and len(asked) < MAX_ASKED and vault.repo.objects.exists(blob)
        ):
            asked[note.path] = blob
    found |= dict.fromkeys(_find_committed(vault, head, asked), GIT)
    return {note.path: found.get(note.path, EDITOR) for note in notes}


def is_sync_copy(root: str, path: str) -> bool:
    """Tell whether the file ``path`` of the vault at ``root`` is named like a sync program's copy of another one."""
    folder, name = posixpath.split(path)
    if is_conflict_copy(name) or _SYNC_NAME.search(name):
        return True
    match = _COPY_NAME.fullmatch(name)
    if match is None or not os.path.lexists(os.path.join(root, folder, f"{match['stem']}.md")):
        return False
    # Obsidian numbers its copies, too, but begins with 1; iCloud begins with 2.
    return match["number"] is None or not os.path.lexists(os.path.join(root, folder, f"{match['stem']} 1.md"))


class _Left:
    """What operations that are under way, crashed or gave way left: planned bytes, displaced and temporary files."""

    def __init__(self, vault: OpenVault) -> None:
        self._root = vault.layout.repo
        self._planned = set(_iter_planned(vault))
        self._displaced: dict[str, list[str]] = {}
        self._temps: dict[str, list[str]] = {}
        for place in _iter_displaced(vault.layout.displaced):
            self._displaced.setdefault(os.path.basename(place), []).append(place)

    def has(self, path: str, data: bytes | None, blob: Fingerprint | None) -> bool:
        """Tell whether what lies at ``path`` (nothing, for ``None``) is what an operation put there or kept of it."""
        if (path, blob) in self._planned:
            return True
        if data is None:
            return False
        kept = self._displaced.get(path.replace("/", "%2F"), [])
        return any(_holds(place, data) for place in (*kept, *self._find_temps(posixpath.dirname(path))))

    def _find_temps(self, folder: str) -> list[str]:
        if folder not in self._temps:
            self._temps[folder] = []
            place = os.path.join(self._root, folder)
            with contextlib.suppress(OSError):
                names = [name for name in os.listdir(place) if name.startswith(".gitmem-")]
                self._temps[folder] = [os.path.join(place, name) for name in names[:MAX_LEFT_FILES]]
        return self._temps[folder]


def _iter_planned(vault: OpenVault) -> Iterator[tuple[str, Fingerprint | None]]:
    from gitmem.transaction.journal import iter_waiting

    for journal in iter_waiting(vault.repo.common_dir):
        for edit in journal.edits:
            yield edit.path, edit.after


def _iter_displaced(folder: str) -> Iterator[str]:
    number = 0
    with contextlib.suppress(OSError):
        for operation in sorted(os.listdir(folder), reverse=True):
            for name in os.listdir(os.path.join(folder, operation)):
                number += 1
                if number > MAX_LEFT_FILES:
                    return
                yield os.path.join(folder, operation, name)


def _holds(place: str, data: bytes) -> bool:
    try:
        with open_regular(place) as file:
            return os.fstat(file.fileno()).st_size == len(data) and file.read(MAX_NOTE_BYTES + 1) == data
    except OSError:
        return False


def _find_committed(vault: OpenVault, head: CommitId, asked: dict[str, Fingerprint]) -> set[str]:
    """Return the paths at which a commit of the near past, or the tip of another branch, has the very blob."""
    found: set[str] = set()
    if not asked:
        return found
    with contextlib.suppress(IntegrityError):  # a damaged past is told by others; here nothing but a guess is lost
        for commit in _iter_near(vault, head):
            rest = asked.keys() - found
            committed = vault.repo.find_blobs(commit, rest)
            found |= {path for path in rest if committed[path] == asked[path]}
            if len(found) == len(asked):
                break
    return found


def _iter_near(vault: OpenVault, head: CommitId) -> Iterator[CommitId]:
    from gitmem.git.history import iter_commits, list_tips

    yield from list_tips(vault.repo, MAX_COMMITS)
    yield from (commit.id for commit in islice(iter_commits(vault.repo, head), 1, MAX_COMMITS + 1))
