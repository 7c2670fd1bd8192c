"""The catalog's database file: opened, guarded, replaced when it is damaged, done without when it can't be had."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from gitmem.catalog.tables import SCHEMA, schema_version
from gitmem.errors import UnavailableError

_T = TypeVar("_T")
_IN_MEMORY = ":memory:"
_FAILED = "catalog-failed"
_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA secure_delete = ON",  # what becomes private must not linger in free pages
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",
    # A lost catalog is made again, so it is not worth a flush a commit; WAL keeps it whole all the same.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA journal_size_limit = 4194304",
)
# What says that the file can't be used now, not that it is damaged.
_OUT_OF_REACH = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
    }
)


def open_database(runtime_file: str, key: str, busy_timeout_s: float = 2.0) -> Database:
    """Open the catalog of one vault at ``runtime_file``, or an empty one in memory for ``:memory:``. Never fails.

    ``key`` names everything that shapes the content beside the tables: the vault's id, the version of the terms. A
    database made for another key, or damaged, is emptied or replaced; one that can't be opened is done without, and
    ``degraded`` says so. The file is created with mode 0600; its folder is not created.

    Processes share the file in WAL mode: reading never waits. A writer waits at most ``busy_timeout_s`` for another
    writer; after that the database goes on in a private copy in memory, where answers are the same and nothing is kept.
    """
    return Database(runtime_file, key, busy_timeout_s)


def sqlite_version() -> str:
    """Return the version of the SQLite library in use, such as ``3.40.1``."""
    return sqlite3.sqlite_version


class Database:
    """One open catalog, safe to use from several threads, which then take turns.

    Hold ``lock`` around scanning, reconciling and asking where an answer must belong to one scan.
    """

    def __init__(self, runtime_file: str, key: str, busy_timeout_s: float) -> None:
        self.lock = threading.RLock()
        self.reason = ""
        self._file = runtime_file
        self._key = key
        self._version = schema_version(key)
        self._busy_timeout_s = busy_timeout_s
        self._was_replaced = False
        self._connection = self._open()

    @property
    def degraded(self) -> bool:
        """Whether the catalog lives in memory only, because its file can't be used; ``reason`` says why."""
        return bool(self.reason)

    def close(self) -> None:
        """Close the database; it can't be used afterwards. Safe to call twice."""
        with self.lock:
            self._connection.close()

    def copy(self) -> Database:
        """Return a catalog in memory that holds what this one does. Raises as ``reading`` does."""
        copied = Database(_IN_MEMORY, self._key, self._busy_timeout_s)
        with self.reading() as connection:
            connection.backup(copied._connection)
        return copied

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to read with; all that is read inside is of one moment, whoever writes meanwhile.

        Where SQLite fails inside, the file is replaced or left for memory, so that the next try has an empty or copied
        catalog to reconcile, and ``UnavailableError`` (``catalog-failed``) is raised; ``attempt`` tries again.
        """
        with self._repairing() as connection, _transaction(connection, "BEGIN"):
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to write with, in one transaction that is undone if anything is raised inside.

        Where SQLite fails inside, it is as with ``reading``.
        """
        with self._repairing() as connection, _transaction(connection, "BEGIN IMMEDIATE"):
            yield connection

    def empty_log(self) -> None:
        """Bring the write-ahead log into the file and empty it, so that it keeps nothing of what was deleted."""
        with self._repairing() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextlib.contextmanager
    def _repairing(self) -> Iterator[sqlite3.Connection]:
        with self.lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                self._repair(error)
                raise UnavailableError(_FAILED, f"the search catalog failed: {error}", "Ask again.") from error

    def attempt(self, work: Callable[[], _T]) -> _T:
        """Return what ``work`` returns; run it again where the catalog failed, each time on a repaired one.

        ``work`` must reconcile before it asks: a repaired catalog may be empty.
        """
        for _ in range(3):
            try:
                return work()
            except UnavailableError as error:
                if error.code != _FAILED:
                    raise
        return work()

    def _open(self) -> sqlite3.Connection:
        if self._file == _IN_MEMORY:
            return self._open_memory()
        for _ in range(2):
            try:
                return self._connect(self._file)
            except (sqlite3.Error, OSError) as error:
                failure: Exception = error
            if _is_out_of_reach(failure):
                break
            _remove(self._file)
        self.reason = f"the search catalog can't be opened: {failure}"
        return self._open_memory()

    def _open_memory(self) -> sqlite3.Connection:
        return self._connect(_IN_MEMORY)

    def _connect(self, file: str) -> sqlite3.Connection:
        if file != _IN_MEMORY:
            _ensure_private(file)
        connection = sqlite3.connect(file, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False)
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            connection.execute("PRAGMA journal_mode = WAL")
            if _read_version(connection) != self._version:
                _make_tables(connection, self._version)
        except BaseException:
            connection.close()
            raise
        return connection

    def _repair(self, error: sqlite3.Error) -> None:
        """Leave a usable catalog behind: a new file once; a copy in memory where the file is only out of reach."""
        broken = self._connection
        if self._file == _IN_MEMORY or self.degraded or self._was_replaced or _is_out_of_reach(error):
            self.reason = self.reason or f"the search catalog can't be used: {error}"
            self._connection = self._open_memory()
            if _is_out_of_reach(error):
                with contextlib.suppress(sqlite3.Error):
                    broken.backup(self._connection)
            broken.close()
        else:
            broken.close()
            self._was_replaced = True
            _remove(self._file)
            self._connection = self._open()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Run the block in a transaction; in the one that is open already, where there is one."""
    is_inside: bool = connection.in_transaction
    if is_inside:
        yield
        return
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_out_of_reach(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, OSError) or (code is not None and code & 0xFF in _OUT_OF_REACH)


def _ensure_private(file: str) -> None:
    """Ensure that ``file`` is a regular file of mode 0600. Raises ``OSError`` where it can't be."""
    # An existing file is never opened here: closing it would drop the locks that SQLite holds in this process.
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        mode = os.lstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{file} is not a regular file") from None
        if mode & 0o077:
            os.chmod(file, 0o600)


def _remove(file: str) -> None:
    for name in (file, f"{file}-wal", f"{file}-shm", f"{file}-journal"):
        with contextlib.suppress(OSError):
            os.unlink(name)


def _read_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _make_tables(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if _read_version(connection) != version:  # another process may have been quicker
        # Emptied in place: removing a sound file from under another process would part it from its WAL.
        for name in _list_tables(connection, "CREATE VIRTUAL%") + _list_tables(connection, "CREATE TABLE%"):
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")


def _list_tables(connection: sqlite3.Connection, form: str) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE ?", (form,))
    return [name for (name,) in rows if '"' not in name and not name.startswith("sqlite_")]
