"""Bring the search catalog in step with the work tree: reread what changed, forget what went."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from gitmem.catalog.database import Database, read_epoch
from gitmem.catalog.folders import (
    READ_AGAIN,
    count_notes,
    find_new_looks,
    forget_looks,
    load_differing,
    store_folder,
    store_look,
)
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import VaultPath
from gitmem.typed import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from gitmem.catalog.writer import Writer
from gitmem.values import dataclass
from gitmem.vault.scan import FRESH_NS, FolderScan, Look, Scan, unpack_time

MAX_STRICT_NOTES = 20_000
"""The largest vault in which every read looks at every note."""
_MANY = 500
_EMPTY = FolderScan("", b"")
_DUPLICATE = "duplicate-id"


@dataclass(frozen=True)
class Report:
    """How a reconciliation went.

    ``changed`` counts the files that were new, changed or gone; 0 says that the catalog was in step. ``problems``
    lists all that is wrong with files now, by path, whenever it was found. ``unstable`` lists the paths that kept
    changing while they were read: they are left out of answers and read again next time.

    ``notes`` counts the notes of the vault, ``looked_at`` those whose metadata were read this time. ``tier`` says how
    the answer came about: ``strict`` (every note was looked at), ``folders`` (most were taken as known because their
    folders have not changed), ``memory`` (as ``strict``, and nothing is kept for the next process). ``epoch`` names the
    catalog, for ``Database.steady``.
    """

    changed: int
    problems: tuple[Problem, ...]
    unstable: tuple[str, ...]
    notes: int = 0
    looked_at: int = 0
    tier: Literal["strict", "folders", "memory"] = "strict"
    epoch: int = 0


def reconcile(
    database: Database,
    scan: Scan,
    read: Callable[[str], bytes],
    parse: Callable[[VaultPath, bytes], Record | None],
    terms: Callable[[str], str],
    clean: Callable[[str], str],
    max_strict_notes: int = MAX_STRICT_NOTES,
    progress: Callable[[int], object] = lambda _files: None,
) -> Report:
    """Bring ``database`` in step with ``scan``; read and parse only files whose signature differs. One transaction.

    ``read(path)`` returns the bytes; it raises ``StateError`` (``unstable``) for a file in motion, another
    ``GitmemError`` for one that can't be read. ``parse(path, data)`` returns the record, ``None`` for a note without
    ``gitmem_id``; it raises ``InputError`` for what can't be read as a note. ``terms(text)`` returns the search terms
    of a text, ``clean(text)`` the text without secrets. ``progress`` is told of each file that was taken in. Of a vault
    of more than ``max_strict_notes`` notes the times of the folders are kept, for a scan by these.

    An unchanged vault costs one comparison a folder and no write. A file that changed within 100 ms of the scan is
    stored and looked at again next time. A file that can't be read or parsed is kept as a problem; a private record
    and a note without ``gitmem_id`` as a signature alone. Where two files have one id, both are problems and the first
    path answers.

    Another process that is reconciling is waited for, see ``open_database``. Raises ``UnavailableError``:
    ``catalog-failed`` where SQLite fails, so call it inside ``Database.attempt`` together with the question;
    ``scanner-failed`` where ``clean`` raises. The catalog stays as it was, or is repaired and perhaps empty.
    """
    with database.lock:
        return _reconcile(database, scan, _Intake(read, parse, terms, clean, max_strict_notes, progress))


def rebuild(database: Database, scan: Scan, *intake: Any) -> Report:
    """Make the catalog afresh from ``scan``, in one transaction; takes what ``reconcile`` takes, and raises the same.

    Others go on with what was there until it is done.
    """
    with database.lock:
        with database.writing() as connection:
            database.make_afresh(connection)
            report = _reconcile(database, scan, _Intake(*intake))
        database.empty_log()  # which by now is as large as the catalog
    return report


@dataclass(frozen=True)
class _Intake:
    """The four steps from a path to what is stored, given by those who know them, and two settings."""

    read: Callable[[str], bytes]
    parse: Callable[[VaultPath, bytes], Record | None]
    terms: Callable[[str], str]
    clean: Callable[[str], str]
    max_strict_notes: int = MAX_STRICT_NOTES
    progress: Callable[[int], object] = lambda _files: None


def _reconcile(database: Database, scan: Scan, intake: _Intake) -> Report:
    with database.reading() as connection:
        version = _read_data_version(connection)
        differing = load_differing(connection, scan)
        looks = find_new_looks(connection, scan, intake.max_strict_notes)
        if not differing and not looks:
            return _make_report(database, connection, scan)
    from gitmem.catalog.writer import Writer

    with database.writing() as connection:
        if _read_data_version(connection) != version:  # another process has reconciled since
            differing = load_differing(connection, scan)
        writer = Writer(connection, intake.read, intake.parse, intake.terms, intake.clean)
        _apply(connection, writer, scan, differing, intake)
        report = _make_report(database, connection, scan, writer.changed, writer.unstable)
    if writer.has_new_private:
        database.empty_log()
    return report


def _make_report(
    database: Database, connection: sqlite3.Connection, scan: Scan, changed: int = 0, unstable: Iterable[str] = ()
) -> Report:
    moving = tuple(unstable)
    return Report(
        changed,
        _collect_problems(connection, scan, moving),
        moving,
        notes=count_notes(connection),
        looked_at=scan.looked_at,
        tier="memory" if database.in_memory else "folders" if scan.kept or scan.partial else "strict",
        epoch=read_epoch(connection),
    )


def _read_data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes whenever another connection has committed."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def _apply(
    connection: sqlite3.Connection,
    writer: Writer,
    scan: Scan,
    differing: dict[str, tuple[FolderScan | None, FolderScan | None]],
    intake: _Intake,
) -> None:
    for folder, (old, new) in sorted(differing.items()):
        before = (old or _EMPTY).decode()
        found = _take_folder(writer, folder, before, (new or _EMPTY).decode(), scan.time_ns, intake.progress)
        store_folder(connection, folder, len(before), new.names if new else "", b"".join(found.values()))
    writer.flush()
    if count_notes(connection) > intake.max_strict_notes:
        looks: dict[str, Look] = find_new_looks(connection, scan, intake.max_strict_notes)
        looks |= {path: scan.looks[path] for path in differing if path in scan.looks}
        for path, look in looks.items():
            store_look(connection, path, look)
        forget_looks(connection, scan)
    else:
        connection.execute("DELETE FROM looks")
    flag_duplicates(connection, writer.added)
    if writer.has_new_private:
        # Deleted terms stay in the engine's segments until these are merged.
        connection.execute("INSERT INTO terms(terms) VALUES ('optimize')")
        connection.execute("INSERT INTO note_terms(note_terms) VALUES ('optimize')")


def _take_folder(
    writer: Writer,
    folder: str,
    old: dict[str, bytes],
    new: dict[str, bytes],
    scan_ns: int,
    progress: Callable[[int], object],
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
        progress(1)
        if not is_settled or unpack_time(signature) > scan_ns - FRESH_NS:
            kept[name] = READ_AGAIN
    return kept


def flag_duplicates(connection: sqlite3.Connection, added: set[str]) -> None:
    """Flag the records that share an id, and no others; the first path of each id is the one that answers.

    Only the ids in ``added`` and those flagged before can have changed.
    """
    from gitmem.catalog.writer import ADD_PROBLEM

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


def _collect_problems(connection: sqlite3.Connection, scan: Scan, unstable: Iterable[str]) -> tuple[Problem, ...]:
    rows = connection.execute("SELECT code, message, path, line FROM problems ORDER BY path, code, line")
    moving = [Problem("unstable", "it keeps changing and was left out", path) for path in unstable]
    return tuple(sorted([*scan.problems, *moving, *(Problem(*row) for row in rows)], key=lambda problem: problem.path))
