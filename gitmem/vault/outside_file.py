"""One file of a person's, outside every vault, replaced so that no edit of theirs is lost.

It is read, and what is to be written is made from what was read. If it changed meanwhile, it stays as it is then.
"""

from __future__ import annotations

import contextlib
import os
import stat

from gitmem.disk import flush_folder, read_regular, write_new
from gitmem.errors import InputError, StateError, disk_refused
from gitmem.vault.atomic import exchange, move_aside, move_no_replace

MAX_BYTES = 4 << 20
_MODE = 0o644


def read_outside(path: str) -> bytes | None:
    """Return the bytes of the file, ``None`` where there is none.

    Raises ``InputError``: ``odd-file`` for a link, a folder, a pipe or a file with several names, ``no-such-folder``,
    ``file-too-large``, ``file-unreadable``.
    """
    if not os.path.isdir(os.path.dirname(path)):
        raise InputError("no-such-folder", "the folder of the file is not there", "Name a file in one that is.")
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(error) from None
    if stat.S_ISLNK(info.st_mode):
        raise InputError("odd-file", "the file is a link", "Name the file that it leads to.")
    if not stat.S_ISREG(info.st_mode):
        raise InputError("odd-file", "that is no regular file", "Name a file of text.")
    if info.st_nlink > 1:
        hint = "Make it a file of its own first, for the names would be parted."
        raise InputError("odd-file", f"the file has {info.st_nlink} names (hard links)", hint)
    if info.st_size > MAX_BYTES:
        raise InputError("file-too-large", f"the file is larger than {MAX_BYTES >> 20} MiB", "Name another file.")
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise _unreadable(error) from None


def replace_outside(path: str, before: bytes | None, after: bytes | None) -> None:
    """Bring the file from ``before`` to ``after``; ``None`` is no file. Durable; its mode stays.

    Raises ``StateError`` (``changed-meanwhile``) where it is not as it was read, and ``UnavailableError`` (``disk``);
    the file is then as others left it.
    """
    temp = f"{path}.gitmem-{os.getpid()}.tmp"
    try:
        if after is None:
            _take_away(path, before, temp)
        else:
            _put(path, before, after, temp)
        flush_folder(os.path.dirname(path))
    except FileExistsError:
        raise _changed() from None
    except OSError as error:
        raise disk_refused(error, "The file is as it was.") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temp)


def _put(path: str, before: bytes | None, after: bytes, temp: str) -> None:
    mode = _MODE if before is None else stat.S_IMODE(os.lstat(path).st_mode)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temp)
    write_new(temp, after, mode)
    if before is None:
        move_no_replace(temp, path)
        return
    os.chmod(temp, mode)  # what the umask took from it
    if exchange(temp, path):
        if not _holds(temp, before):
            exchange(temp, path)
            raise _changed()
        return
    if not _holds(path, before):
        raise _changed()
    os.replace(temp, path)


def _take_away(path: str, before: bytes | None, temp: str) -> None:
    move_aside(path, temp)
    if not _holds(temp, before):
        move_no_replace(temp, path)
        raise _changed()


def _holds(path: str, data: bytes | None) -> bool:
    try:
        return read_outside(path) == data
    except InputError:
        return False


def _changed() -> StateError:
    return StateError(
        "changed-meanwhile",
        "the file changed while it was being written; it was left as it is now",
        "Run the command again.",
    )


def _unreadable(error: OSError) -> InputError:
    message = f"the file can't be read: {error.strerror or error}"
    return InputError("file-unreadable", message, "Give yourself read permission, or name another file.")
