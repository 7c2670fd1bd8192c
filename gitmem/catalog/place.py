"""The files of a catalog: the database, its log, the log's map. Anybody may do anything to them at any moment."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat

Identity = tuple["tuple[int, int, int] | None", "tuple[int, int] | None", "tuple[int, int] | None"]
"""Device and inode of the database, its log and the log's map; ``None`` for what is not there.

The database also has the bytes behind its last whole page: 0 but for one that was cut.
"""
PAGE_BYTES = 8192
"""Twice what SQLite takes by itself: an eighth less time for a first catalog, 0.1 ms more for one edit."""
_BESIDE = ("-wal", "-shm", "-journal")


def ensure_private(file: str) -> None:
    """Ensure that ``file`` is a regular file of mode 0600, and what lies beside it, too.

    Raises ``OSError`` where it can't be: SQLite would follow a link and wait for a pipe.
    """
    # An existing file is never opened here: closing it would drop the locks that SQLite holds in this process.
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        mode = os.lstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{file} is not a regular file") from None
        if mode & 0o077:
            os.chmod(file, 0o600)
    for name in (f"{file}{suffix}" for suffix in _BESIDE):
        if os.path.lexists(name) and not stat.S_ISREG(os.lstat(name).st_mode):
            raise OSError(f"{name} is not a regular file")


def identify(file: str) -> Identity:
    """Return which files lie at the names of the catalog ``file`` now."""
    database, log, map_of_log = (_find(name) for name in (file, f"{file}-wal", f"{file}-shm"))
    whole = (database.st_dev, database.st_ino, database.st_size % PAGE_BYTES) if database else None
    return whole, _identify(log), _identify(map_of_log)


def close_nameless(connection: sqlite3.Connection) -> None:
    """Close a connection to a file that lost its name, without what SQLite does at the end *by name* to its log.

    That would be the log of the file that has the name now. Before Python 3.12 it can't be asked for.
    """
    with contextlib.suppress(AttributeError, sqlite3.Error):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)  # type: ignore[attr-defined]
    connection.close()


def remove(file: str) -> None:
    """Remove the catalog, as far as that can be done."""
    for name in (file, *(f"{file}{suffix}" for suffix in _BESIDE)):
        with contextlib.suppress(OSError):
            os.unlink(name)


def _find(name: str) -> os.stat_result | None:
    try:
        return os.lstat(name)
    except OSError:
        return None


def _identify(entry: os.stat_result | None) -> tuple[int, int] | None:
    return (entry.st_dev, entry.st_ino) if entry else None
