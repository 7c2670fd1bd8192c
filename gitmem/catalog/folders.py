"""What the catalog keeps of the vault's folders: signatures, stamps, and how far the looks at single notes came."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable

from gitmem.catalog.database import Database
from gitmem.model.record import Problem
from gitmem.vault.folder_times import Known, KnownFolder, Place
from gitmem.vault.scan import SIGNATURE_FIELDS, FolderScan, Look, Scan

READ_AGAIN = bytes(SIGNATURE_FIELDS * 8)
"""The signature of a file that is to be read again whatever it is."""
_BATCH = 500


def load_known(database: Database, max_notes: int) -> Known | None:
    """Return what the catalog knows of a vault of more than ``max_notes`` notes; ``None`` for a smaller one."""
    with database.reading() as connection:
        notes, folder, place = connection.execute("SELECT notes, folder, place FROM progress").fetchone()
        if notes <= max_notes:
            return None
        rows = connection.execute("SELECT path, stamp, notes, newest_ns, problems FROM looks").fetchall()
    folders = {
        path: KnownFolder(stamp, count, newest_ns, _parse_problems(problems))
        for path, stamp, count, newest_ns, problems in rows
    }

    def load(path: str) -> FolderScan:
        with database.reading() as again:
            return load_folders(again, [path]).get(path, FolderScan("", b""))

    return Known(folders, (folder, place), load)


def save_place(database: Database, place: Place) -> bool:
    """Remember where the next look at single notes begins; waits for nobody. Return ``False`` where that can't be.

    While another process is writing, nothing is remembered and the next look takes the same notes again.
    """
    sql = "UPDATE progress SET folder = ?, place = ? WHERE rowid = 1"
    return database.write_aside(lambda connection: connection.execute(sql, place)) != "failed"


def count_notes(connection: sqlite3.Connection) -> int:
    """Return how many notes the catalog has signatures of."""
    notes: int = connection.execute("SELECT notes FROM progress").fetchone()[0]
    return notes


def load_folders(connection: sqlite3.Connection, paths: Iterable[str] | None = None) -> dict[str, FolderScan]:
    """Return the notes of the folders at ``paths`` that are stored, or of all folders."""
    sql = "SELECT path, names, signatures FROM folders"
    if paths is None:
        rows = connection.execute(sql).fetchall()
    else:
        rows = [row for path in paths for row in connection.execute(f"{sql} WHERE path = ?", (path,))]
    return {path: FolderScan(names, signatures) for path, names, signatures in rows}


def load_differing(
    connection: sqlite3.Connection, scan: Scan
) -> dict[str, tuple[FolderScan | None, FolderScan | None]]:
    """Return the folders that are not as ``scan`` found them: what is stored and what was found, by path.

    Of a folder in which only some notes were looked at, what is stored must still have the names that these were taken
    from; where another process has been there since, its word counts.
    """
    if not scan.kept and not scan.partial:
        stored = load_folders(connection)
        if stored == scan.folders:
            return {}
        gone = stored.keys() - scan.folders.keys()
    else:
        stored = load_folders(connection, scan.folders)
        every = {path for (path,) in connection.execute("SELECT path FROM folders")}
        gone = every - scan.folders.keys() - scan.kept
        stored |= load_folders(connection, gone)
    differing: dict[str, tuple[FolderScan | None, FolderScan | None]] = {path: (stored[path], None) for path in gone}
    for path, new in scan.folders.items():
        old = stored.get(path)
        if old != new and (path not in scan.partial or (old is not None and old.names == new.names)):
            differing[path] = (old, new)
    return differing


def find_new_looks(connection: sqlite3.Connection, scan: Scan, max_notes: int) -> dict[str, Look]:
    """Return the looks of ``scan`` that are to be stored: none in a vault that is small enough to do without."""
    if not scan.kept and count_notes(connection) <= max_notes:
        return {}
    stored = dict(connection.execute("SELECT path, stamp FROM looks"))
    new = {path: look for path, look in scan.looks.items() if stored.get(path) != look.stamp}
    return {path: look for path, look in new.items() if look.stamp or stored.get(path) is None}


def store_folder(connection: sqlite3.Connection, path: str, old: int, names: str, signatures: bytes) -> None:
    """Store the notes of one folder, which had ``old`` notes before; without notes the folder is forgotten."""
    if names:
        connection.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (path, names, signatures))
    else:
        connection.execute("DELETE FROM folders WHERE path = ?", (path,))
    new = len(signatures) // len(READ_AGAIN)
    if new != old:
        # Without the condition SQLite would take it for a change of many rows, and first have the full-text table write
        # what it has gathered: a piece for every folder, which takes time then and at every search.
        connection.execute("UPDATE progress SET notes = notes + ? WHERE rowid = 1", (new - old,))


def store_look(connection: sqlite3.Connection, path: str, look: Look) -> None:
    """Store what was found of one folder; its notes must be stored before."""
    row = connection.execute("SELECT signatures FROM folders WHERE path = ?", (path,)).fetchone()
    times = array("q", row[0] if row else b"")[::SIGNATURE_FIELDS]
    # A file to be read again must not wait for its turn: the folder is not taken as known.
    stamp = b"" if 0 in times else look.stamp
    problems = json.dumps([[one.code, one.message, one.path, one.line] for one in look.problems])
    connection.execute(
        "INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?, ?)",
        (path, stamp, len(times), max(times, default=0), problems),
    )


def forget_looks(connection: sqlite3.Connection, scan: Scan) -> None:
    """Drop the looks at folders that are gone."""
    stored = {path for (path,) in connection.execute("SELECT path FROM looks")}
    gone = stored - scan.looks.keys() - scan.kept
    connection.executemany("DELETE FROM looks WHERE path = ?", [(path,) for path in gone])


def _parse_problems(text: str) -> tuple[Problem, ...]:
    return tuple(Problem(*one) for one in json.loads(text))
