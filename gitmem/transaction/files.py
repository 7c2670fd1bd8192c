"""Putting an operation's files in place so that no byte of a person's edit is lost. Design step 5.

An update exchanges the new file with the old one and then looks at what came out: if it isn't what the change was made
from, the two are exchanged back and the person wins. What was displaced stays beside its file, under a hidden name that
the journal knows, until the operation is whole and it is proven unchanged.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace

from gitmem.disk import ensure_folder, flush_folder, replace_file, write_new
from gitmem.errors import IntegrityError, StateError
from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.journal import JournalEdit
from gitmem.vault.atomic import exchange, move_no_replace
from gitmem.vault.layout import LIFECYCLE_FOLDERS, VaultLayout
from gitmem.vault.paths import read_file

FILE_MODE = 0o644
_OLD = ".old"
_NEW = ".new"
_AWAY = ".away"


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
    """Undo ``put_in_place``, at whatever point it was stopped; ``old`` is the file's content in the base commit.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    Raises ``IntegrityError`` (``old-content-lost``) when the old content is nowhere; the file keeps the new one.
    """
    kept = _find_displaced(root, edit)
    if kept is None and edit.before is not None and old is not None and fingerprint(old) == edit.before:
        kept = _write_beside(root, edit, old)
    return _bring(root, edit, edit.after, edit.before, kept)


def bring_forward(root: str, edit: JournalEdit, new: bytes | None) -> str | None:
    """Finish ``put_in_place`` for an operation that is committed; ``new`` is the content of ``edit.after``.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    """
    if find_fingerprint(root, edit.path) == edit.after:
        return None
    return _bring(root, edit, edit.before, edit.after, None if new is None else _write_beside(root, edit, new))


def settle_temp(layout: VaultLayout, op_id: OpId, edit: JournalEdit) -> str | None:
    """Remove what the operation left beside a file, keeping in runtime whatever a person may have written into it.

    Returns a notice that says where it was kept.
    """
    notice = None
    for name in _temps(edit):
        data = read_file(layout.repo, name)
        if data is None:
            continue
        ours = name.endswith(_NEW) or (edit.before is None and name == edit.temp)  # at worst cut short by a crash
        if data and not ours and fingerprint(data) not in (edit.before, edit.after):
            keep_displaced(layout, op_id, edit.path, data)
            notice = f"what another program wrote into {edit.path} meanwhile is kept in {displaced_name(op_id)}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(layout.repo, name))
    return notice


def keep_displaced(layout: VaultLayout, op_id: OpId, path: VaultPath, data: bytes) -> None:
    """Keep bytes that a person wrote in ``runtime/displaced``, durable, under a name that says where they were."""
    folder = os.path.join(layout.displaced, op_id)
    ensure_folder(folder)
    replace_file(os.path.join(folder, path.replace("/", "%2F")), data)


def displaced_name(op_id: OpId) -> str:
    """Return where ``keep_displaced`` keeps things, as people are told it."""
    return f"runtime/displaced/{op_id}"


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
    old = temp + _OLD
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


def _temps(edit: JournalEdit) -> tuple[VaultPath, ...]:
    return (edit.temp, *(VaultPath(edit.temp + ending) for ending in (_OLD, _NEW, _AWAY)))


def _find_displaced(root: str, edit: JournalEdit) -> str | None:
    """Return the hidden file that holds the content from before, wherever the operation was stopped."""
    for name in _temps(edit):
        if edit.before is not None and find_fingerprint(root, name) == edit.before:
            return os.path.join(root, name)
    return None


def _bring(
    root: str, edit: JournalEdit, held: Fingerprint | None, wanted: Fingerprint | None, source: str | None
) -> str | None:
    """Bring a file from ``held`` to ``wanted``, whose bytes lie in the hidden file ``source``.

    Whatever another program puts there meanwhile wins, as in ``put_in_place``.
    """
    target = os.path.join(root, edit.path)
    now = find_fingerprint(root, edit.path)
    if now == wanted:
        remove_empty_folders(root, edit.path)
        return None
    if now not in (held, None):
        return f"{edit.path} was edited meanwhile and is left as it is"
    if wanted is not None and source is None:
        raise IntegrityError(
            "old-content-lost",
            f"the content that {edit.path} had before an undone operation can't be found",
            "The file holds the new content, uncommitted. Compare it with `git diff`.",
            path=edit.path,
        )
    try:
        if source is not None:
            ensure_folder(os.path.dirname(target), 0o755)
        _swap_in(root, edit, source, target, now)
    except (StateError, FileExistsError, FileNotFoundError):
        return f"{edit.path} was edited meanwhile and is left as it is"
    remove_empty_folders(root, edit.path)
    if os.path.isdir(os.path.dirname(target)):
        flush_folder(os.path.dirname(target))
    return None


def _swap_in(root: str, edit: JournalEdit, source: str | None, target: str, held: Fingerprint | None) -> None:
    away = VaultPath(edit.temp + _AWAY)
    step = replace(edit, before=held, temp=away)
    if source is None:
        _take_away(root, step, target, os.path.join(root, away))
    elif held is None:
        move_no_replace(source, target)
    else:
        os.replace(source, os.path.join(root, away))
        _swap(root, step, os.path.join(root, away), target)


def _write_beside(root: str, edit: JournalEdit, data: bytes) -> str:
    """Write ``data`` to a hidden file beside the edit's, flushed; return its name."""
    new = os.path.join(root, edit.temp + _NEW)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    ensure_folder(os.path.dirname(new), 0o755)
    write_new(new, data, FILE_MODE)
    return new


def _edited(edit: JournalEdit) -> StateError:
    return StateError(
        "edited-meanwhile",
        f"{edit.path} was edited by another program at the same moment",
        "The other edit was kept and nothing was committed. Look at the file and try again.",
        path=edit.path,
    )
