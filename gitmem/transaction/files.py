"""Putting an operation's files in place so that no byte of a person's edit is lost. Design step 5.

An update exchanges the new file with the old one and then looks at what came out: if it isn't what the change was made
from, the two are exchanged back and the person wins. What was displaced stays beside its file, under a hidden name that
the journal knows, until the operation is whole and it is proven unchanged.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable
from dataclasses import replace

from gitmem.disk import ensure_folder, open_regular, replace_file
from gitmem.errors import IntegrityError, StateError
from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.journal import JournalEdit
from gitmem.vault.layout import LIFECYCLE_FOLDERS, VaultLayout
from gitmem.vault.paths import open_folder, read_file, read_in
from gitmem.vault.work_folder import WorkFolder

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
    made from; the file is then as the other program left it. ``symlink-in-path`` for a link on the way.
    """
    try:
        with open_folder(root, edit.path, make=data is not None) as folder:
            if data is None:
                _take_away(folder, edit)
            else:
                folder.write_new(_name(edit.temp), data, FILE_MODE)
                (_add if edit.before is None else _swap)(folder, edit)
    except (FileNotFoundError, NotADirectoryError):
        raise _edited(edit) from None
    if data is None:
        remove_empty_folders(root, edit.path)


def flush_folders(root: str, edits: Iterable[JournalEdit]) -> None:
    """Flush the entries of the files that ``put_in_place`` put there or took away, each folder once."""
    for path in {os.path.dirname(edit.path): edit.path for edit in edits}.values():
        # Where its last file has gone, it has gone with it.
        with contextlib.suppress(FileNotFoundError), open_folder(root, path) as folder:
            folder.flush()


def take_back(root: str, edit: JournalEdit, old: bytes | None) -> str | None:
    """Undo ``put_in_place``, at whatever point it was stopped; ``old`` is the file's content in the base commit.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    Raises ``IntegrityError`` (``old-content-lost``) when the old content is nowhere; the file keeps the new one.
    """
    try:
        with open_folder(root, edit.path, make=edit.before is not None) as folder:
            kept = _find_displaced(folder, edit)
            if kept is None and edit.before is not None and old is not None and fingerprint(old) == edit.before:
                kept = _write_beside(folder, edit, old)
            said = _bring(folder, edit, edit.after, edit.before, kept)
    except FileNotFoundError:
        if edit.before is not None:
            raise
        return None  # neither the file nor its folder is there, as before the operation
    remove_empty_folders(root, edit.path)
    return said


def bring_forward(root: str, edit: JournalEdit, new: bytes | None) -> str | None:
    """Finish ``put_in_place`` for an operation that is committed; ``new`` is the content of ``edit.after``.

    A file that holds neither the old nor the new content is a person's and stays as it is. Returns a notice then.
    """
    if find_fingerprint(root, edit.path) == edit.after:
        return None
    with open_folder(root, edit.path, make=new is not None) as folder:
        source = None if new is None else _write_beside(folder, edit, new)
        said = _bring(folder, edit, edit.before, edit.after, source)
    remove_empty_folders(root, edit.path)
    return said


def settle_temp(layout: VaultLayout, op_id: OpId, edit: JournalEdit) -> str | None:
    """Remove what the operation left beside a file, keeping in runtime whatever a person may have written into it.

    Returns a notice that says where it was kept.
    """
    notice = None
    try:
        with open_folder(layout.repo, edit.path) as folder:
            for path in _temps(edit):
                data = read_in(folder, path)
                if data is None:
                    continue
                ours = path.endswith(_NEW) or (edit.before is None and path == edit.temp)  # or cut short by a crash
                if data and not ours and fingerprint(data) not in (edit.before, edit.after):
                    keep_displaced(layout, op_id, edit.path, data)
                    notice = f"what another program wrote into {edit.path} meanwhile is kept in {displaced_name(op_id)}"
                folder.discard(_name(path))
    except FileNotFoundError:  # nothing is left of the folder either
        return None
    return notice


def keep_displaced(layout: VaultLayout, op_id: OpId, path: VaultPath, data: bytes) -> None:
    """Keep bytes that a person wrote in ``runtime/displaced``, durable, under a name that says where they were."""
    folder = os.path.join(layout.displaced, op_id)
    ensure_folder(folder)
    place = os.path.join(folder, path.replace("/", "%2F"))
    # An operation that is tried again under its id may displace the same file again.
    others = (f"{place}.{number}" for number in itertools.count(2))
    while os.path.exists(place):
        with open_regular(place) as file:
            if file.read() == data:
                return
        place = next(others)
    replace_file(place, data)


def displaced_name(op_id: OpId) -> str:
    """Return where ``keep_displaced`` keeps things, as people are told it."""
    return f"runtime/displaced/{op_id}"


def remove_empty_folders(root: str, path: VaultPath) -> None:
    """Remove the folders that a vanished file leaves empty, up to its lifecycle folder."""
    inside = path.rpartition("/")[0]
    while inside and inside not in LIFECYCLE_FOLDERS:
        try:
            with open_folder(root, VaultPath(inside)) as above:
                above.remove_folder(_name(inside))
        except (OSError, StateError):
            return
        inside = inside.rpartition("/")[0]


def _add(folder: WorkFolder, edit: JournalEdit) -> None:
    try:
        folder.move_no_replace(_name(edit.temp), _name(edit.path))
    except FileExistsError:
        folder.unlink(_name(edit.temp))
        raise _edited(edit) from None


def _swap(folder: WorkFolder, edit: JournalEdit) -> None:
    target, temp = _name(edit.path), _name(edit.temp)
    try:
        if not folder.exchange(temp, target):
            _swap_by_link(folder, edit)
    except FileNotFoundError:
        folder.unlink(temp)
        raise _edited(edit) from None
    if _held(folder, edit.temp) != edit.before:
        folder.exchange(temp, target)
        if _held(folder, edit.temp) == edit.after:
            folder.unlink(temp)
        raise _edited(edit)


def _swap_by_link(folder: WorkFolder, edit: JournalEdit) -> None:
    """Exchange where the platform can't: the old file gets a second name first, so its bytes outlive the replacement.

    A file that another program *renames* into place between the two steps is not seen; ``doctor`` says so.
    """
    target, temp = _name(edit.path), _name(edit.temp)
    old = temp + _OLD
    folder.link(target, old)
    if _held(folder, VaultPath(edit.temp + _OLD)) != edit.before:
        folder.unlink(old)
        folder.unlink(temp)
        raise _edited(edit)
    folder.move(temp, target)
    folder.move(old, temp)


def _take_away(folder: WorkFolder, edit: JournalEdit) -> None:
    target, temp = _name(edit.path), _name(edit.temp)
    try:
        folder.move_no_replace(target, temp)
    except FileNotFoundError:
        raise _edited(edit) from None
    if _held(folder, edit.temp) != edit.before:
        folder.move_no_replace(temp, target)
        raise _edited(edit)


def _temps(edit: JournalEdit) -> tuple[VaultPath, ...]:
    return (edit.temp, *(VaultPath(edit.temp + ending) for ending in (_OLD, _NEW, _AWAY)))


def _find_displaced(folder: WorkFolder, edit: JournalEdit) -> str | None:
    """Return the name of the hidden file that holds the content from before, wherever the operation was stopped."""
    for path in _temps(edit):
        if edit.before is not None and _held(folder, path) == edit.before:
            return _name(path)
    return None


def _bring(
    folder: WorkFolder, edit: JournalEdit, held: Fingerprint | None, wanted: Fingerprint | None, source: str | None
) -> str | None:
    """Bring a file from ``held`` to ``wanted``, whose bytes lie in the hidden file named ``source``.

    Whatever another program puts there meanwhile wins, as in ``put_in_place``.
    """
    now = _held(folder, edit.path)
    if now == wanted:
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
        _swap_in(folder, edit, source, now)
    except (StateError, FileExistsError, FileNotFoundError):
        return f"{edit.path} was edited meanwhile and is left as it is"
    folder.flush()
    return None


def _swap_in(folder: WorkFolder, edit: JournalEdit, source: str | None, held: Fingerprint | None) -> None:
    away = VaultPath(edit.temp + _AWAY)
    step = replace(edit, before=held, temp=away)
    if source is None:
        _take_away(folder, step)
    elif held is None:
        folder.move_no_replace(source, _name(edit.path))
    else:
        folder.move(source, _name(away))
        _swap(folder, step)


def _write_beside(folder: WorkFolder, edit: JournalEdit, data: bytes) -> str:
    """Write ``data`` to a hidden file beside the edit's, flushed; return its name."""
    new = _name(edit.temp) + _NEW
    folder.discard(new)
    folder.write_new(new, data, FILE_MODE)
    return new


def _held(folder: WorkFolder, path: VaultPath) -> Fingerprint | None:
    data = read_in(folder, path)
    return None if data is None else fingerprint(data)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _edited(edit: JournalEdit) -> StateError:
    return StateError(
        "edited-meanwhile",
        f"{edit.path} was edited by another program at the same moment",
        "The other edit was kept and nothing was committed. Look at the file and try again.",
        path=edit.path,
    )
