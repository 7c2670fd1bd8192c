"""Bring the search catalog in step with the work tree: reread what changed, forget what went."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass

from gitmem.catalog.database import Database
from gitmem.catalog.writer import ADD_PROBLEM, Writer
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import VaultPath
from gitmem.vault.scan import FRESH_NS, SIGNATURE_FIELDS, FolderScan, Scan

_MANY = 500
_READ_AGAIN = bytes(SIGNATURE_FIELDS * 8)
_EMPTY = FolderScan("", b"")
_DUPLICATE = "duplicate-id"


@dataclass(frozen=True)
class Report:
    """How a reconciliation went.

    ``changed`` counts the files that were new, changed or gone; 0 says that the catalog was in step. ``problems``
    lists all that is wrong with files now, by path, whenever it was found. ``unstable`` lists the paths that kept
    changing while they were read: they are left out of answers and read again next time.
    """

    changed: int
    problems: tuple[Problem, ...]
    unstable: tuple[str, ...]


def reconcile(
    database: Database,
    scan: Scan,
    read: Callable[[str], bytes],
    parse: Callable[[VaultPath, bytes], Record | None],
    terms: Callable[[str], str],
    clean: Callable[[str], str],
) -> Report:
    """Bring ``database`` in step with ``scan``; read and parse only files whose signature differs. One transaction.

    ``read(path)`` returns the bytes; it raises ``StateError`` (``unstable``) for a file in motion, another
    ``GitmemError`` for one that can't be read. ``parse(path, data)`` returns the record, ``None`` for a note without
    ``gitmem_id``; it raises ``InputError`` for what can't be read as a note. ``terms(text)`` returns the search terms
    of a text, ``clean(text)`` the text without secrets.

    An unchanged vault costs one comparison a folder and no write. A file that changed within 100 ms of the scan is
    stored and looked at again next time. A file that can't be read or parsed is kept as a problem; a private record
    and a note without ``gitmem_id`` as a signature alone. Where two files have one id, both are problems and the first
    path answers.

    Another process that is reconciling is waited for, see ``open_database``. Raises ``UnavailableError``:
    ``catalog-failed`` where SQLite fails, so call it inside ``Database.attempt`` together with the question;
    ``scanner-failed`` where ``clean`` raises. The catalog stays as it was, or is repaired and perhaps empty.
    """
    with database.lock:
        return _reconcile(database, scan, _Intake(read, parse, terms, clean))


@dataclass(frozen=True)
class _Intake:
    """The four steps from a path to what is stored, given by those who know them."""

    read: Callable[[str], bytes]
    parse: Callable[[VaultPath, bytes], Record | None]
    terms: Callable[[str], str]
    clean: Callable[[str], str]


def _reconcile(database: Database, scan: Scan, intake: _Intake) -> Report:
    with database.reading() as connection:
        version, stored = _read_data_version(connection), _load_folders(connection)
        if stored == scan.folders:
            return Report(0, _collect_problems(connection, scan, []), ())
    with database.writing() as connection:
        if _read_data_version(connection) != version:  # another process has reconciled since
            stored = _load_folders(connection)
        writer = Writer(connection, intake.read, intake.parse, intake.terms, intake.clean)
        _apply(connection, writer, scan, stored)
        report = Report(writer.changed, _collect_problems(connection, scan, writer.unstable), tuple(writer.unstable))
    if writer.forgot_private:
        database.empty_log()
    return report


def _load_folders(connection: sqlite3.Connection) -> dict[str, FolderScan]:
    rows = connection.execute("SELECT path, names, signatures FROM folders")
    return {path: FolderScan(names, signatures) for path, names, signatures in rows}


def _read_data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes whenever another connection has committed."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def _apply(connection: sqlite3.Connection, writer: Writer, scan: Scan, stored: dict[str, FolderScan]) -> None:
    for folder in sorted(stored.keys() | scan.folders.keys()):
        old, new = stored.get(folder), scan.folders.get(folder)
        if old == new:
            continue
        found = _take_folder(writer, folder, (old or _EMPTY).decode(), (new or _EMPTY).decode(), scan.time_ns)
        connection.execute("DELETE FROM folders WHERE path = ?", (folder,))
        if new is not None:
            connection.execute("INSERT INTO folders VALUES (?, ?, ?)", (folder, new.names, b"".join(found.values())))
    writer.flush()
    _flag_duplicates(connection, writer.added)
    if writer.forgot_private:
        # Deleted terms stay in the engine's segments until these are merged.
        connection.execute("INSERT INTO terms(terms) VALUES ('optimize')")


def _take_folder(
    writer: Writer, folder: str, old: dict[str, bytes], new: dict[str, bytes], scan_ns: int
) -> dict[str, bytes]:
    """Take in one folder's differences; return the signatures to store, zeros for files to read again next time."""
    for name in old.keys() - new.keys():
        writer.forget(f"{folder}/{name}")
        writer.changed += 1
    kept = dict(new)
    for name, signature in new.items():
        if signature == old.get(name):
            continue
        is_settled = writer.take(f"{folder}/{name}", is_known=name in old)
        changed_ns = int.from_bytes(signature[:8], sys.byteorder, signed=True)
        if not is_settled or changed_ns > scan_ns - FRESH_NS:
            kept[name] = _READ_AGAIN
    return kept


def _flag_duplicates(connection: sqlite3.Connection, added: set[str]) -> None:
    """Flag the records that share an id, and no others; the first path of each id is the one that answers.

    Only the ids in ``added`` and those flagged before can have changed.
    """
    if len(added) > _MANY:  # one pass over the index beats a question for each
        doubled = connection.execute("SELECT id FROM records GROUP BY id HAVING count(*) > 1")
        suspects = {record_id for (record_id,) in doubled if record_id in added}
    else:
        count = "SELECT count(*) FROM records WHERE id = ?"
        suspects = {record_id for record_id in added if connection.execute(count, (record_id,)).fetchone()[0] > 1}
    flagged = "SELECT id FROM records JOIN problems USING (path) WHERE code = ?"
    suspects.update(record_id for (record_id,) in connection.execute(flagged, (_DUPLICATE,)))
    connection.execute("DELETE FROM problems WHERE code = ?", (_DUPLICATE,))
    for record_id in sorted(suspects):
        paths = [p for (p,) in connection.execute("SELECT path FROM records WHERE id = ? ORDER BY path", (record_id,))]
        for path in paths:
            connection.execute("UPDATE records SET is_shadowed = ? WHERE path = ?", (path != paths[0], path))
        if len(paths) > 1:
            message = f"these files have the same gitmem_id: {', '.join(paths)}"
            connection.executemany(ADD_PROBLEM, [(path, _DUPLICATE, message, None) for path in paths])


def _collect_problems(connection: sqlite3.Connection, scan: Scan, unstable: list[str]) -> tuple[Problem, ...]:
    rows = connection.execute("SELECT code, message, path, line FROM problems ORDER BY path, code, line")
    moving = [Problem("unstable", "it keeps changing and was left out", path) for path in unstable]
    return tuple(sorted([*scan.problems, *moving, *(Problem(*row) for row in rows)], key=lambda problem: problem.path))
