"""What people changed outside gitmem: the notes of the lifecycle folders that are not as they are committed."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence

from gitmem.errors import GitmemError, InputError
from gitmem.model.ids import CommitId, Fingerprint, RecordId, fingerprint
from gitmem.model.record import FOLDERS, Record, state_of
from gitmem.model.vault_path import VaultPath
from gitmem.service.differences import describe_edit
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import is_hidden_name
from gitmem.values import dataclass, replace
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.paths import check_way, read_file
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import MAX_NOTE_BYTES, is_conflict_copy

_SEE_STATUS = "See `gitmem status`."


@dataclass(frozen=True)
class EditedNote:
    """A note that is not committed as it lies there: its exact bytes, ``None`` where it is gone or can't be read.

    ``change`` is ``new``, ``edited``, ``plain`` (committed without an id), ``deleted``, ``unreadable`` (``why`` says
    it), or ``staged``: the file is as it is committed, or neither is there, and only the staging area differs.
    ``is_staged`` says that the staging area differs from what is committed, ``staged_apart`` that it holds a version
    which the file has not. ``shown`` is what a person should see of it, masked: all of a new note, the lines that
    changed of an edited one.
    """

    path: str
    change: str
    data: bytes | None
    shown: str = ""
    is_staged: bool = False
    staged_apart: bool = False
    why: str = ""

    @property
    def left_alone(self) -> str:
        """Why an adoption of everything does not take this note; empty for one that it takes."""
        if self.change == "staged":
            return "only the staging area differs, the file does not; commit or unstage it with Git"
        if is_conflict_copy(posixpath.basename(self.path)):
            return "a sync program's conflict copy; take what you need from it, then remove or rename it"
        return ""


def find_edited(vault: OpenVault, paths: Sequence[str] = ()) -> list[EditedNote]:
    """Return the notes that an adoption of ``paths`` (everything when empty) takes, read now, sorted by path.

    A path is absolute or relative to the vault's root; a folder means all in it. Notes that are ``left_alone`` are not
    among them. A plain note that is named is, committed or not, and the other half of a move comes with the half that
    is named. Looks with the vault locked: what another operation is just putting in place is no person's edit. Raises
    ``InputError``: ``outside-vault``, ``nothing-to-adopt`` for a path without such notes; ``UnavailableError``
    (``vault-busy``, ``index-locked``).
    """
    from gitmem.transaction.apply import locked

    with locked(vault.ground, vault.tools(), "a look at what was edited"):
        return _find_edited(vault, paths)


def _find_edited(vault: OpenVault, paths: Sequence[str]) -> list[EditedNote]:
    head = vault.head()
    edited = {note.path: note for note in list_edited(vault, head)}
    if not paths:
        return [note for note in edited.values() if not note.left_alone]
    chosen: dict[str, EditedNote] = {}
    for path in paths:
        inside = _path_in_vault(vault, path)
        under = [note for note in edited.values() if _is_under(note.path, inside)]
        found = {note.path: note for note in under if not note.left_alone} or _find_named(vault, inside)
        if not found:
            raise _nothing(inside, under)
        chosen |= found
    chosen |= _find_other_halves(vault, head, edited, chosen)
    return [chosen[path] for path in sorted(chosen)]


def list_edited(
    vault: OpenVault, head: CommitId, dirty: Iterable[str] | None = None, *, shows: bool = True
) -> list[EditedNote]:
    """Return the notes of the lifecycle folders that differ from what ``head`` has, read now, sorted by path.

    ``dirty`` are the paths that differ, where the caller has asked already. Without ``shows`` no note has ``shown``,
    which takes longer than all the rest.
    """
    from gitmem.git.stage import staged_ids

    paths = [path for path in (vault.repo.dirty_paths() if dirty is None else dirty) if is_note_path(path)]
    committed, staged = vault.repo.find_blobs(head, paths), staged_ids(vault.repo, paths)
    notes = [_read_note(vault, path, committed[path], staged[path]) for path in paths]
    return [_with_shown(vault, head, note) for note in notes] if shows else notes


def is_note_path(path: str) -> bool:
    """Tell whether ``path`` is where a note lies that may be a record: Markdown in a lifecycle folder, not hidden."""
    return state_of(path) is not None and path.endswith(".md") and not any(map(is_hidden_name, path.split("/")))


def read_committed(vault: OpenVault, head: CommitId, path: str) -> Record | None:
    """Return the record that ``head`` has at ``path``; ``None`` for none, a plain note, and one that can't be read."""
    data = vault.repo.read_blob(head, path)
    if data is None:
        return None
    try:
        return parse_record(VaultPath(path), data)
    except GitmemError:
        return None


def _path_in_vault(vault: OpenVault, path: str) -> str:
    """Return ``path`` relative to the vault's root, with ``/`` between names; empty for the root itself."""
    root = os.path.realpath(vault.layout.repo)
    whole = os.path.normpath(os.path.join(root, path))
    # A link at the end is the note that is meant, not what it points to.
    place = os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))
    place = place if os.path.islink(place) else os.path.realpath(place)
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../"):
        raise InputError("outside-vault", f"{path} lies outside the vault", f"The vault is {root}.", path=path)
    return "" if inside == "." else inside


def _is_under(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _nothing(path: str, under: Sequence[EditedNote]) -> InputError:
    if under:
        message, hint = f"{under[0].path}: {under[0].left_alone}", _SEE_STATUS
    elif path and path.partition("/")[0] not in FOLDERS:
        message = f"{path} lies outside the folders of records"
        hint = "Move it into baseline/, observations/ or promoted/, then adopt it; other files are committed with Git."
    else:
        message, hint = f"{path or 'the vault'} has no uncommitted notes", _SEE_STATUS
    return InputError("nothing-to-adopt", message, hint, path=path)


def _read_note(vault: OpenVault, path: str, old_id: Fingerprint | None, staged: Fingerprint | None) -> EditedNote:
    is_staged = staged != old_id
    try:
        check_way(vault.layout.repo, VaultPath(path))
        data = read_file(vault.layout.repo, VaultPath(path), MAX_NOTE_BYTES)
    except GitmemError as error:
        return EditedNote(path, "unreadable", None, is_staged=is_staged, why=error.message)
    new_id = None if data is None else fingerprint(data)
    if new_id == old_id:
        return EditedNote(path, "staged", data, is_staged=is_staged, staged_apart=is_staged)
    change = "deleted" if data is None else "new" if old_id is None else "edited"
    apart = is_staged and staged not in (None, new_id)
    return EditedNote(path, change, data, "", is_staged, apart)


def _with_shown(vault: OpenVault, head: CommitId, note: EditedNote) -> EditedNote:
    if note.change not in ("new", "edited", "deleted"):
        return note
    return replace(note, shown=describe_edit(vault.repo.read_blob(head, note.path), note.data))


def _find_named(vault: OpenVault, path: str) -> dict[str, EditedNote]:
    """Return the committed note at ``path`` if it is a plain one, unchanged, or one that Git was told to ignore."""
    if not is_note_path(path):
        return {}
    old = vault.repo.read_blob(vault.head(), path)
    try:
        data = read_file(vault.layout.repo, VaultPath(path), MAX_NOTE_BYTES)
    except GitmemError:
        return {}
    if data is not None and old is None:
        note = EditedNote(path, "new", data, describe_edit(None, data))
        return {} if note.left_alone else {path: note}
    if data is None or data != old or "gitmem_id" in parse_note(data).properties:
        return {}
    return {path: EditedNote(path, "plain", data, describe_edit(None, data))}


def _find_other_halves(
    vault: OpenVault, head: CommitId, edited: Mapping[str, EditedNote], chosen: Mapping[str, EditedNote]
) -> dict[str, EditedNote]:
    """Return what belongs to ``chosen`` because a person moved a record: where it was, or where it is now.

    Without the one, a record would lie in two places of a commit; without the other, a moved record would be retired.
    """
    gone: dict[RecordId, EditedNote] = {}
    came: dict[RecordId, EditedNote] = {}
    for note in edited.values():
        if note.change == "deleted" and (old := read_committed(vault, head, note.path)) is not None:
            gone.setdefault(old.id, note)
        elif note.change == "new" and not note.left_alone:
            new = _find_id(note)
            if new is not None and (new not in came or note.path in chosen):
                came[new] = note
    moves = [(gone[one], came[one]) for one in gone.keys() & came.keys()]
    return {half.path: half for move in moves if any(one.path in chosen for one in move) for half in move}


def _find_id(note: EditedNote) -> RecordId | None:
    try:
        record = parse_record(VaultPath(note.path), note.data or b"")
    except GitmemError:
        return None
    return None if record is None else record.id
