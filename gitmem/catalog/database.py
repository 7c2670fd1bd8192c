"""The catalog's database file: opened, guarded, replaced when it is damaged, done without when it can't be had."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator

from gitmem.catalog.place import PAGE_BYTES, Identity, close_nameless, ensure_private, identify, remove
from gitmem.catalog.tables import SCHEMA, schema_version
from gitmem.errors import GitmemError, UnavailableError
from gitmem.text import fold
from gitmem.typed import Literal, TypeVar

_T = TypeVar("_T")
_IN_MEMORY = ":memory:"
_FAILED = "catalog-failed"
RETRY_S = 60.0
"""How long a catalog that had to be had in memory is left there before its file is tried again."""
_ASIDE_WAIT_S = 0.05
_SETTINGS = (
    f"PRAGMA page_size = {PAGE_BYTES}",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA secure_delete = ON",  # what becomes private must not linger in free pages
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",
    # A lost catalog is made again, so it is not worth a flush a commit; WAL keeps it whole all the same.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA journal_size_limit = 4194304",
)
# What the code may meet where a row does not hold what was put into it.
_ODD = (ValueError, TypeError, LookupError)
# SQLite quotes a damaged schema in its message, and Python fails to decode that.
_FAILURES = (sqlite3.Error, UnicodeDecodeError)
_CANNOT_OPEN = (*_FAILURES, *_ODD, OSError)
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

    The file may be deleted, replaced or damaged at any moment, by anybody: what is asked is then asked again, on a
    catalog made afresh or in memory. Ask inside ``attempt``, and the question itself inside ``steady``. ``reason`` says
    why the catalog had to be had in memory, ``damage`` what was found when a damaged file was replaced; both are empty
    otherwise.
    """

    def __init__(self, runtime_file: str, key: str, busy_timeout_s: float) -> None:
        self.lock = threading.RLock()
        self.reason = ""
        self.damage = ""
        self._file = runtime_file
        self._key = key
        self._version = schema_version(key)
        self._busy_timeout_s = busy_timeout_s
        self._was_replaced = False
        self._retry_at_s = 0.0
        self._identity: Identity = (None, None, None)
        self._connection = self._open()

    @property
    def degraded(self) -> bool:
        """Whether the catalog lives in memory only, because its file can't be used; ``reason`` says why."""
        return bool(self.reason)

    @property
    def in_memory(self) -> bool:
        """Whether the catalog lives in memory only, on purpose or because its file can't be used."""
        return self.degraded or self._file == _IN_MEMORY

    def close(self) -> None:
        """Close the database; it can't be used afterwards. Safe to call twice."""
        with self.lock:
            if self.in_memory or identify(self._file) == self._identity:
                self._connection.close()
            else:
                close_nameless(self._connection)

    def return_to_file(self, now_s: float) -> None:
        """Try the file again where it could not be used, at most once in ``RETRY_S`` and without waiting for anybody.

        ``now_s`` is the present on a clock that never goes back.
        """
        with self.lock:
            if not self.degraded or now_s < self._retry_at_s or self._connection.in_transaction:
                return
            self._retry_at_s = now_s + RETRY_S
            try:
                connection = self._connect(self._file, 0)
            except _CANNOT_OPEN as error:
                if not _is_out_of_reach(error):
                    remove(self._file)
                return
            try:
                with _transaction(connection, "BEGIN IMMEDIATE"):
                    pass
            except sqlite3.Error:
                connection.close()
                return
            self._connection.close()
            self._connection = connection
            self.reason, self._was_replaced = "", False

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

    def write_aside(self, work: Callable[[sqlite3.Connection], object]) -> Literal["done", "busy", "failed"]:
        """Run ``work`` in one transaction, for what may as well be left undone; waits for nobody, raises nothing.

        Return whether it was done, somebody else was writing, or SQLite failed; nothing is repaired then.
        """
        if not self.lock.acquire(timeout=_ASIDE_WAIT_S):
            return "busy"
        try:
            if self._connection.in_transaction:
                return "busy"
            self._follow_file()
            self._connection.execute("PRAGMA busy_timeout = 0")
            with _transaction(self._connection, "BEGIN IMMEDIATE"):
                work(self._connection)
        except (*_FAILURES, *_ODD) as error:
            return "busy" if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY else "failed"
        else:
            return "done"
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000)}")
            self.lock.release()

    @contextlib.contextmanager
    def steady(self, epoch: int) -> Iterator[None]:
        """Make sure that all that is asked inside is asked of the catalog whose ``read_epoch`` was ``epoch``.

        Raises ``UnavailableError`` (``catalog-failed``) where it was emptied or made afresh meanwhile, by whomever: an
        empty catalog must not look like an empty memory.
        """
        try:
            yield
        except GitmemError as error:
            if error.code != _FAILED:
                self._check_epoch(epoch)
            raise
        self._check_epoch(epoch)

    def _check_epoch(self, epoch: int) -> None:
        with self.reading() as connection:
            if read_epoch(connection) != epoch:
                raise UnavailableError(_FAILED, "the search catalog was made afresh meanwhile", "Ask again.")

    def make_afresh(self, connection: sqlite3.Connection) -> None:
        """Empty the catalog, inside ``writing``: others see what was there until that is over."""
        _fill_tables(connection, self._version)

    def empty_log(self) -> None:
        """Bring the write-ahead log into the file and empty it, so that it keeps nothing of what was deleted."""
        with self._repairing() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextlib.contextmanager
    def _repairing(self) -> Iterator[sqlite3.Connection]:
        with self.lock:
            try:
                self._follow_file()
                yield self._connection
            except _FAILURES as error:
                self._repair(error)
                raise UnavailableError(_FAILED, f"the search catalog failed: {error}", "Ask again.") from error

    def attempt(self, work: Callable[[], _T]) -> _T:
        """Return what ``work`` returns; run it again where the catalog failed, each time on a repaired one.

        ``work`` must reconcile before it asks: a repaired catalog may be empty. An error of another kind is taken for
        the work of a damaged row, once, and the catalog is made afresh.
        """
        is_doubted = False
        for _ in range(3):
            try:
                return work()
            except UnavailableError as error:
                if error.code != _FAILED:
                    raise
            except _ODD as error:
                if is_doubted or self.in_memory:
                    raise
                is_doubted = True
                with self.lock:
                    self._repair(error)
        return work()

    def _open(self) -> sqlite3.Connection:
        if self._file == _IN_MEMORY:
            return self._open_memory()
        for _ in range(2):
            try:
                return self._connect(self._file)
            except _CANNOT_OPEN as error:
                failure: Exception = error
            if _is_out_of_reach(failure):
                break
            self.damage = str(failure)
            remove(self._file)
        self.reason = f"the search catalog can't be opened: {failure}"
        return self._open_memory()

    def _open_memory(self) -> sqlite3.Connection:
        return self._connect(_IN_MEMORY)

    def _connect(self, file: str, busy_timeout_s: float | None = None) -> sqlite3.Connection:
        if file != _IN_MEMORY:
            ensure_private(file)
        wait_s = self._busy_timeout_s if busy_timeout_s is None else busy_timeout_s
        connection = sqlite3.connect(file, timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            connection.create_function("fold", 1, fold, deterministic=True)
            connection.execute("PRAGMA journal_mode = WAL")
            if _read_page_bytes(connection) != PAGE_BYTES:  # nor could it be copied to memory
                raise sqlite3.DatabaseError("its pages have another size")
            if _read_version(connection) != self._version:
                _make_tables(connection, self._version)
            else:
                read_epoch(connection)
            if file != _IN_MEMORY:
                self._identity = identify(file)
                if self._identity[0] and self._identity[0][2]:  # SQLite takes what is missing of a page for zeros
                    raise sqlite3.DatabaseError("the file was cut within a page")
        except BaseException:
            connection.close()
            raise
        if file != _IN_MEMORY:
            connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000)}")
        return connection

    def _follow_file(self) -> None:
        """Open the file anew where another one has taken its place, or it is gone, or its log was taken from it.

        What is written into a file without a name nobody else sees, and two logs for one file would spoil it.
        """
        if self.in_memory or self._connection.in_transaction:
            return
        now = identify(self._file)
        if now == self._identity:
            return
        close_nameless(self._connection)
        if now[0] and self._identity[0] and now[0][:2] == self._identity[0][:2]:
            remove(self._file)
        self._connection = self._open()

    def _repair(self, error: Exception) -> None:
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
            self.damage = str(error)
            remove(self._file)
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


def _read_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def read_epoch(connection: sqlite3.Connection) -> int:
    """Return the number that is another one once the catalog was made afresh, or was made by another version."""
    epoch: int = connection.execute("SELECT epoch FROM progress").fetchone()[0]
    return epoch


def _read_page_bytes(connection: sqlite3.Connection) -> int:
    size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return size


def _make_tables(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if _read_version(connection) != version:  # another process may have been quicker
        _fill_tables(connection, version)
    connection.execute("COMMIT")


def _fill_tables(connection: sqlite3.Connection, version: int) -> None:
    # Emptied in place: removing a sound file from under another process would part it from its WAL.
    for name in _list_tables(connection, "CREATE VIRTUAL%") + _list_tables(connection, "CREATE TABLE%"):
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")


def _list_tables(connection: sqlite3.Connection, form: str) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE ?", (form,))
    return [name for (name,) in rows if '"' not in name and not name.startswith("sqlite_")]
