"""Putting an operation's files in place so that no byte of a person's edit is lost. Design step 5.

An update exchanges the new file with the old one and then looks at what came out: if it isn't what the change was made
from, the two are exchanged back and the person wins. What was displaced stays beside its file, under a hidden name that
the journal knows, until the operation is whole; ``displaced.settle_temp`` says what becomes of it then. Nothing that
ever stood under a note's name is removed here: a program may have it open.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable

from gitmem.errors import IntegrityError, StateError
from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.record import state_of
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.journal import JournalEdit
from gitmem.values import replace
from gitmem.vault.layout import LIFECYCLE_FOLDERS
from gitmem.vault.paths import open_folder, read_file, read_in
from gitmem.vault.work_folder import WorkFolder

FILE_MODE = 0o644
_OLD = ".old"
_NEW = ".new"
_AWAY = ".away"
_SEEN = (".seen-1", ".seen-2", ".seen-3", ".seen-4")
_NOT_A_FILE = Fingerprint("not-a-file")


def temp_name(path: VaultPath, op_id: OpId, number: int) -> VaultPath:
    """Return the hidden name beside ``path`` that one file of an operation uses while it is put in place."""
    folder, slash, _name = path.rpartition("/")
    return VaultPath(f"{folder}{slash}.gitmem-{op_id}-{number}.tmp")


def find_fingerprint(root: str, path: VaultPath) -> Fingerprint | None:
    """Return the content hash of a file on disk, ``None`` when it is absent."""
    data = read_file(root, path)
    return None if data is None else fingerprint(data)


def find_modes(root: str, edits: tuple[JournalEdit, ...]) -> dict[VaultPath, int]:
    """Return the permissions of the files that replace others or come from elsewhere: those that the old ones have.

    A note that a person keeps from others' eyes stays so. Notes are no programs: none becomes executable.
    """
    found: dict[VaultPath, int] = {}
    gone: dict[str, int] = {}
    for edit in edits:
        if edit.before is not None:
            with contextlib.suppress(OSError):
                found[edit.path] = os.lstat(os.path.join(root, edit.path)).st_mode & 0o666
                if edit.after is None:
                    gone[os.path.basename(edit.path)] = found[edit.path]
    for edit in edits:
        name = os.path.basename(edit.path)
        if edit.before is None and name in gone:
            found[edit.path] = gone[name]
    return found


def put_in_place(root: str, edit: JournalEdit, data: bytes | None, mode: int | None = None) -> None:
    """Bring one file from ``edit.before`` to ``edit.after``; its bytes are flushed, its folder by ``flush_folders``.

    ``mode`` is the new file's permissions, left out those of new files. Keeps INV-PEOPLE-FIRST. Raises ``StateError``
    (``edited-meanwhile``) when what is there is not what the change was made from; the file is then as the other
    program left it. ``symlink-in-path`` for a link on the way.
    """
    try:
        with open_folder(root, edit.path, make=data is not None) as folder:
            if data is None:
                _take_away(folder, edit)
            else:
                _write_hidden(folder, _name(edit.temp), data, mode)
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
    if _look(root, edit.path) == edit.after:
        if edit.after is None:
            remove_empty_folders(root, edit.path)
        return None
    with open_folder(root, edit.path, make=new is not None) as folder:
        source = None if new is None else _write_beside(folder, edit, new)
        said = _bring(folder, edit, edit.before, edit.after, source)
    remove_empty_folders(root, edit.path)
    return said


def temps_of(edit: JournalEdit) -> tuple[VaultPath, ...]:
    """Return every hidden name beside a file that its edit, or the undoing of it, uses."""
    own = (edit.temp, VaultPath(edit.temp + _AWAY))
    return (VaultPath(edit.temp + _NEW), *own, *(VaultPath(name + ending) for name in own for ending in (_OLD, *_SEEN)))


def is_never_seen(edit: JournalEdit, name: VaultPath) -> bool:
    """Tell whether what lies under this hidden name never stood under the note's; a crash may have cut it short."""
    return name.endswith(_NEW) or (edit.before is None and name == edit.temp)


def is_copy(name: VaultPath) -> bool:
    """Tell whether this hidden name holds a copy of what a person wrote, made when an edit met theirs."""
    return name.endswith(_SEEN)


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
        raise _edited(edit) from None


def _swap(folder: WorkFolder, edit: JournalEdit) -> None:
    target, temp = _name(edit.path), _name(edit.temp)
    # Views are large and seldom edited by hand: what came out of the exchange tells soon enough.
    if state_of(edit.path) is not None and _held(folder, edit.path) != edit.before:
        raise _edited(edit)
    try:
        if not folder.exchange(temp, target):
            _swap_by_steps(folder, edit)
            return
    except FileNotFoundError:
        raise _edited(edit) from None
    if _held(folder, edit.temp) != edit.before:
        _give_back(folder, edit, temp, lambda: folder.exchange(temp, target))


def _swap_by_steps(folder: WorkFolder, edit: JournalEdit) -> None:
    """Exchange where the platform can't: the old file goes aside, then the new one comes, and replaces nothing.

    For a moment there is no file; nothing is lost to whoever writes one then.
    """
    target, temp = _name(edit.path), _name(edit.temp)
    old = temp + _OLD
    folder.move_aside(target, old)
    if _held(folder, VaultPath(edit.temp + _OLD)) != edit.before:
        _give_back(folder, edit, old, lambda: folder.move_no_replace(old, target))
    _add(folder, edit)
    folder.move(old, temp)


def _take_away(folder: WorkFolder, edit: JournalEdit) -> None:
    target, temp = _name(edit.path), _name(edit.temp)
    if _held(folder, edit.path) != edit.before:
        raise _edited(edit)
    try:
        folder.move_aside(target, temp)
    except FileNotFoundError:
        raise _edited(edit) from None
    if _held(folder, edit.temp) != edit.before:
        _give_back(folder, edit, temp, lambda: folder.move_no_replace(temp, target))


def _give_back(folder: WorkFolder, edit: JournalEdit, taken: str, move_back: Callable[[], object]) -> None:
    """Put back the file ``taken``, which turned out to hold a person's edit, and raise ``edited-meanwhile``.

    A program that looked in between saw another file, or none, and may save over this edit without having read it. So
    a copy stays beside, of before and after: what was written before it looked is in one of them.
    """
    seen = []
    with contextlib.suppress(OSError), folder.open_bytes(taken) as file:  # a link or a folder goes back as it is
        seen.append(file.read())
        _try_to(move_back)
        file.seek(0)
        seen.append(file.read())
    if not seen:
        _try_to(move_back)
    free = (name for name in (_name(edit.temp) + ending for ending in _SEEN) if not folder.has(name))
    for name, data in zip(free, dict.fromkeys(seen), strict=False):
        folder.write_new(name, data, 0o600)
    raise _edited(edit)


def _try_to(move_back: Callable[[], object]) -> None:
    # Somebody made or removed a file there in between: then theirs stands, and what was taken stays beside.
    with contextlib.suppress(FileExistsError, FileNotFoundError):
        move_back()


def _look(root: str, path: VaultPath) -> Fingerprint | None:
    """Return what ``find_fingerprint`` does, and a word that equals none for a link or folder in the file's place."""
    try:
        return find_fingerprint(root, path)
    except StateError:
        return _NOT_A_FILE


def _find_displaced(folder: WorkFolder, edit: JournalEdit) -> str | None:
    """Return the name of the hidden file that holds the content from before, wherever the operation was stopped."""
    for path in temps_of(edit):
        if edit.before is not None and not is_copy(path) and _held(folder, path) == edit.before:
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
    mode = folder.find_mode(_name(edit.path))  # as the file that it is to replace is kept from others' eyes
    _write_hidden(folder, new, data, mode & 0o666 if mode is not None and stat.S_ISREG(mode) else None)
    return new


def _write_hidden(folder: WorkFolder, name: str, data: bytes, mode: int | None) -> None:
    folder.write_new(name, data, FILE_MODE if mode is None else mode & 0o600)
    if mode is not None:
        folder.set_mode(name, mode)


def _held(folder: WorkFolder, path: VaultPath) -> Fingerprint | None:
    """Return the content hash of a file, ``None`` for none, and a word that equals none for a link or folder."""
    try:
        data = read_in(folder, path)
    except StateError:
        return _NOT_A_FILE
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
