"""What a path meets on disk: links on the way, other spellings of its name, files that are no files."""

from __future__ import annotations

import errno
import os
import stat

from gitmem.errors import InputError, StateError
from gitmem.model.ids import ALPHABET
from gitmem.model.vault_path import VaultPath, fold_path
from gitmem.patterns import late
from gitmem.vault.work_folder import WorkFolder

MAX_FILE_BYTES = 64 << 20
# Six random characters of an id: no other spelling of such a name is there by chance, so its folder isn't listed.
_MADE_BY_US = late(rf"[^A-Z]*-[{ALPHABET}]{{6}}\.md")


def check_way(root: str, path: VaultPath) -> None:
    """Check that no part of ``path`` is a symbolic link and that what is there is folders and a regular file.

    Raises ``StateError`` (``symlink-in-path``, ``not-a-regular-file``).
    """
    place = root
    parts = path.split("/")
    for depth, part in enumerate(parts, 1):
        place = os.path.join(place, part)
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode):
            raise _is_link("/".join(parts[:depth]), path)
        if not (stat.S_ISREG(mode) if depth == len(parts) else stat.S_ISDIR(mode)):
            raise StateError(
                "not-a-regular-file", f"{'/'.join(parts[:depth])} is in the way", "Move it elsewhere.", path=path
            )


class FolderNames:
    """The names that lie in a vault's folders, each folder listed once: for many paths at one moment."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._names: dict[str, dict[str, list[str]]] = {}

    def check_no_clash(self, path: VaultPath) -> None:
        """Check that no other spelling of ``path`` (case, Unicode form) lies on disk.

        Raises ``InputError`` (``path-clash``).
        """
        place = self._root
        for part in path.split("/"):
            if not _MADE_BY_US.fullmatch(part):
                self._check_part(place, part, path)
            place = os.path.join(place, part)
            if not os.path.isdir(place):
                return

    def _check_part(self, folder: str, part: str, path: VaultPath) -> None:
        for name in self._list(folder).get(fold_path(part), ()):
            if name != part:
                raise InputError(
                    "path-clash",
                    f"{path} differs from {name!r}, which is there, only in case or Unicode form",
                    "Choose another name: the two would be one file on other systems.",
                    path=path,
                )

    def _list(self, folder: str) -> dict[str, list[str]]:
        """Return the names in ``folder`` by what they are on a system that takes other spellings for the same."""
        if folder not in self._names:
            found = self._names.setdefault(folder, {})
            try:
                names = os.listdir(folder)
            except (FileNotFoundError, NotADirectoryError):
                names = []
            for name in names:
                found.setdefault(fold_path(name), []).append(name)
        return self._names[folder]


def read_file(root: str, path: VaultPath, max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """Return the bytes of a regular file, ``None`` when it is absent.

    Never follows a link. Raises ``StateError`` (``symlink-in-path``, ``not-a-regular-file``, ``note-too-large``,
    ``not-readable``).
    """
    try:
        with open_folder(root, path) as folder:
            return read_in(folder, path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None


def open_folder(root: str, path: VaultPath, *, make: bool = False) -> WorkFolder:
    """Return the folder in which ``path`` lies, held open; ``make`` makes what is missing of it, durable.

    No link is followed on the way. Raises ``StateError`` (``symlink-in-path``, ``folder-exchanged``, ``not-readable``),
    ``FileNotFoundError``, ``NotADirectoryError`` for a file on the way, and what else the disk raises.
    """
    try:
        return WorkFolder(root, path.rpartition("/")[0], make=make)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            _check_parents(root, path)
        if error.errno in (errno.EACCES, errno.EPERM):
            folder = path.rpartition("/")[0] or "the vault's folder"
            raise StateError(
                "not-readable", f"{folder} can't be opened", "Give yourself permission to it.", path=path
            ) from None
        raise


def read_in(folder: WorkFolder, path: VaultPath, max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """Do what ``read_file`` does, in the open folder of ``path``."""
    try:
        fd = folder.open(path.rpartition("/")[2])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise StateError("not-readable", f"{path} can't be read", "Give yourself read permission.", path=path) from None
    except OSError as error:
        raise StateError(
            "not-a-regular-file", f"{path}: {error.strerror}", "Put a regular file there.", path=path
        ) from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise StateError("not-a-regular-file", f"{path} is not a regular file", "Move it elsewhere.", path=path)
        if info.st_size > max_bytes:
            message = f"{path} is larger than {max_bytes >> 20} MiB"
            raise StateError("note-too-large", message, "Move it out of the vault.", path=path)
        return _read_all(fd, info.st_size)
    finally:
        os.close(fd)


def _check_parents(root: str, path: VaultPath) -> None:
    """Say what kept the folder of ``path`` from being opened; return if it is a file on the way."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        inside = "/".join(parts[:depth])
        place = os.path.join(root, inside)
        if os.path.islink(place):
            raise _is_link(inside, path)
        if os.path.lexists(place) and not os.path.isdir(place):
            return
    raise StateError(
        "folder-exchanged",
        f"a folder on the way to {path} was something else for a moment",
        "Another program exchanges folders of the vault. Stop it, look at `git status`, and try again.",
        path=path,
    )


def _is_link(inside: str, path: VaultPath) -> StateError:
    return StateError(
        "symlink-in-path",
        f"{inside} is a symbolic link; gitmem does not write through links",
        "Put the real file or folder there.",
        path=path,
    )


def _read_all(fd: int, size: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, max(size + 1, 65536)):
        chunks.append(chunk)
    return b"".join(chunks)
