"""One file of a host's, looked at before anything is done to it: where it lies, and whether it may be written."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass

from gitmem.disk import NotAFileError, read_regular
from gitmem.errors import StateError

MAX_BYTES = 32 << 20
"""How large a host's configuration may be. Claude Code keeps much else in its own, and it is far below this."""


@dataclass(frozen=True)
class Found:
    """A file as it is: ``target`` is where it lies when ``path`` is a link; ``data`` is ``None`` for no file."""

    path: str
    target: str
    data: bytes | None
    mode: int = 0


def look_at(path: str, within: str = "") -> Found:
    """Return what lies at ``path``. A link is followed, but not out of the folder ``within``, where one is given.

    Raises ``StateError``: ``link-leads-out``, ``link-leads-nowhere``, ``not-a-file``, ``not-readable``.
    """
    target = os.path.realpath(path)
    if within and not target.startswith(os.path.realpath(within) + os.sep):
        message = f"{path} leads out of the project, to {target}"
        raise StateError("link-leads-out", message, "Take the link away, or install for you as a person.", path=path)
    try:
        info = os.stat(target)
        return Found(path, target, read_regular(target, MAX_BYTES), stat.S_IMODE(info.st_mode))
    except FileNotFoundError:
        if os.path.islink(path):
            message = f"{path} is a link to {target}, where nothing is"
            raise StateError("link-leads-nowhere", message, "Mend the link or take it away.", path=path) from None
        return Found(path, target, None)
    except NotADirectoryError:
        message = f"{path} can't be: one of its folders is a file"
        raise StateError("not-a-file", message, "Look what lies in its place.", path=path) from None
    except (NotAFileError, IsADirectoryError):
        raise StateError("not-a-file", f"{path} is no file", "Look what lies in its place.", path=path) from None
    except OSError as error:
        message = f"{path} can't be read: {error.strerror or error}"
        raise StateError("not-readable", message, "Give yourself permission.", path=path) from None


def check_writable(found: Found) -> None:
    """Raise ``StateError`` (``not-writable``) for a file whose person made it read-only, or whose folder is closed.

    A file is replaced, not written into, so that the system alone would let it be changed.
    """
    closed = found.data is not None and not found.mode & 0o222
    folder = os.path.dirname(found.target)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if closed or not os.access(folder, os.W_OK) or (found.data is not None and not os.access(found.target, os.W_OK)):
        message = f"{found.path} is read-only"
        raise StateError("not-writable", message, "Give yourself permission to write it.", path=found.path)


def read_now(target: str) -> bytes | None:
    """Return the bytes of ``target`` at this moment, ``None`` where there is no regular file to read."""
    with contextlib.suppress(OSError):
        return read_regular(target, MAX_BYTES)
    return None
