"""Putting an operation's files in place so that no byte of a person's edit is lost. Design step 5.

An update exchanges the new file with the old one and then looks at what came out: if it isn't what the change was made
from, the two are exchanged back and the person wins. What was displaced stays beside its file, under a hidden name that
the journal knows, until the operation is whole and it is proven unchanged.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from gitmem.errors import StateError
from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.journal import JournalEdit
from gitmem.vault.atomic import ensure_folder, exchange, flush_folder, move_no_replace, replace_file, write_new
from gitmem.vault.layout import LIFECYCLE_FOLDERS, VaultLayout
from gitmem.vault.paths import read_file

FILE_MODE = 0o644


def temp_name(path: VaultPath, op_id: OpId, number: int) -> VaultPath:
    """Return the hidden name beside ``path`` that one file of an operation uses while it is put in place."""
    folder, slash, _name = path.rpartition("/")
    return VaultPath(f"{folder}{slash}.gitmem-{op_id}-{number}.tmp")


def find_fingerprint(root: str, path: VaultPath) -> Fingerprint | None:
    """Return the content hash of a file on disk, ``None`` when it is absent."""
    data = read_file(root, path)
    return None if data is None else fingerprint(data)


def put_in_place(root: str, edit: JournalEdit, data: bytes | None) -> None:
    """Bring one file from ``edit.before`` to ``edit.after``; its bytes are flushed, its folder by ``flush_folders``.

    Keeps INV-PEOPLE-FIRST. Raises ``StateError`` (``edited-meanwhile``) when what is there is not what the change was
    made from; the file is then as the other program left it.
    """
    target, temp = os.path.join(root, edit.path), os.path.join(root, edit.temp)
    if data is None:
        _take_away(root, edit, target, temp)
    else:
        ensure_folder(os.path.dirname(target), 0o755)
        write_new(temp, data, FILE_MODE)
        if edit.before is None:
            _add(edit, temp, target)
        else:
            _swap(root, edit, temp, target)


def flush_folders(root: str, edits: Iterable[JournalEdit]) -> None:
    """Flush the entries of the files that ``put_in_place`` put there or took away, each folder once."""
    for folder in sorted({os.path.dirname(edit.path) for edit in edits}):
        with contextlib.suppress(FileNotFoundError):  # its last file has gone, and it with it
            flush_folder(os.path.join(root, folder))


def take_back(root: str, edit: JournalEdit, old: bytes | None) -> str | None:
    """Undo ``put_in_place``, at whatever point it was stopped; ``old`` is the content of ``edit.before``.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    """
    target = os.path.join(root, edit.path)
    now = find_fingerprint(root, edit.path)
    if now == edit.after and edit.after != edit.before:
        if edit.before is None:
            os.unlink(target)
        elif find_fingerprint(root, edit.temp) == edit.before:
            os.replace(os.path.join(root, edit.temp), target)
        else:
            assert old is not None
            replace_file(target, old, FILE_MODE)
        flush_folder(os.path.dirname(target))
    elif now != edit.before:
        return f"{edit.path} was edited meanwhile and is left as it is"
    remove_empty_folders(root, edit.path)
    return None


def bring_forward(root: str, edit: JournalEdit, new: bytes | None) -> str | None:
    """Finish ``put_in_place`` for an operation that is committed; ``new`` is the content of ``edit.after``.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    """
    target = os.path.join(root, edit.path)
    now = find_fingerprint(root, edit.path)
    if now == edit.after:
        return None
    if now != edit.before:
        return f"{edit.path} was edited meanwhile and is left as it is, uncommitted"
    if new is None:
        os.unlink(target)
        remove_empty_folders(root, edit.path)
    else:
        ensure_folder(os.path.dirname(target), 0o755)
        replace_file(target, new, FILE_MODE)
    return None


def settle_temp(layout: VaultLayout, op_id: OpId, edit: JournalEdit) -> str | None:
    """Remove what the operation left beside a file, keeping in runtime whatever a person may have written into it.

    Returns a notice that says where it was kept.
    """
    data = read_file(layout.repo, edit.temp)
    if data is None:
        return None
    notice = None
    if fingerprint(data) not in (edit.before, edit.after) and not _is_our_torn_write(edit, data):
        folder = os.path.join(layout.displaced, op_id)
        ensure_folder(folder)
        replace_file(os.path.join(folder, edit.path.replace("/", "%2F")), data)
        notice = f"what another program wrote into {edit.path} at the same moment is kept in runtime/displaced/{op_id}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(layout.repo, edit.temp))
    return notice


def remove_empty_folders(root: str, path: VaultPath) -> None:
    """Remove the folders that a vanished file leaves empty, up to its lifecycle folder."""
    folder = os.path.dirname(path)
    while folder and folder not in LIFECYCLE_FOLDERS:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)


def _add(edit: JournalEdit, temp: str, target: str) -> None:
    try:
        move_no_replace(temp, target)
    except FileExistsError:
        os.unlink(temp)
        raise _edited(edit) from None


def _swap(root: str, edit: JournalEdit, temp: str, target: str) -> None:
    try:
        if not exchange(temp, target):
            _swap_by_link(edit, temp, target)
    except FileNotFoundError:
        os.unlink(temp)
        raise _edited(edit) from None
    if find_fingerprint(root, edit.temp) != edit.before:
        exchange(temp, target)
        if find_fingerprint(root, edit.temp) == edit.after:
            os.unlink(temp)
        raise _edited(edit)


def _swap_by_link(edit: JournalEdit, temp: str, target: str) -> None:
    """Exchange where the platform can't: the old file gets a second name first, so its bytes outlive the replacement.

    A file that another program *renames* into place between the two steps is not seen; ``doctor`` says so.
    """
    old = temp + ".old"
    os.link(target, old)
    with open(old, "rb") as file:
        unchanged = fingerprint(file.read()) == edit.before
    if not unchanged:
        os.unlink(old)
        os.unlink(temp)
        raise _edited(edit)
    os.replace(temp, target)
    os.replace(old, temp)


def _take_away(root: str, edit: JournalEdit, target: str, temp: str) -> None:
    try:
        move_no_replace(target, temp)
    except FileNotFoundError:
        raise _edited(edit) from None
    if find_fingerprint(root, edit.temp) != edit.before:
        move_no_replace(temp, target)
        raise _edited(edit)
    remove_empty_folders(root, edit.path)


def _is_our_torn_write(edit: JournalEdit, data: bytes) -> bool:
    # A new file that a crash cut short holds less than we meant to write and nothing of anybody else's; only a
    # created file's temp is never exchanged with a person's.
    return edit.before is None or not data


def _edited(edit: JournalEdit) -> StateError:
    return StateError(
        "edited-meanwhile",
        f"{edit.path} was edited by another program at the same moment",
        "The other edit was kept and nothing was committed. Look at the file and try again.",
        path=edit.path,
    )
