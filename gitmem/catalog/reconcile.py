"""Bring the search catalog in step with the work tree: reread what changed, forget what went."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gitmem.catalog.database import Database
from gitmem.catalog.tables import FIELDS
from gitmem.errors import GitmemError, InputError, UnavailableError
from gitmem.model.ids import fingerprint
from gitmem.model.links import link_name
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.text import fold, one_line
from gitmem.vault.markdown import find_links, find_property_links
from gitmem.vault.scan import FRESH_NS, SIGNATURE_FIELDS, FolderScan, Scan

_BATCH = 500
_READ_AGAIN = bytes(SIGNATURE_FIELDS * 8)
_EMPTY = FolderScan("", b"")
_ADD_RECORD = f"INSERT INTO records VALUES ({', '.join('?' * 18)}, 0)"  # noqa: S608
_ADD_TERMS = f"INSERT INTO terms(rowid, {', '.join(FIELDS)}) VALUES (?{', ?' * len(FIELDS)})"  # noqa: S608
_ADD_NAME = "INSERT OR IGNORE INTO names VALUES (?, ?, ?)"
_ADD_TAG = "INSERT OR IGNORE INTO tags VALUES (?, ?, ?)"
_ADD_LINK = "INSERT OR IGNORE INTO links VALUES (?, ?, ?)"
_ADD_PROBLEM = "INSERT INTO problems VALUES (?, ?, ?, ?)"
# What gitmem names its files: no need to look at each letter of ten thousand of them.
_OWN_PATH = re.compile(
    r"(?:baseline|promoted|(?:observations|retired)/\d{4}-\d\d)/[a-z0-9-]{1,120}-[a-z0-9]{6}\.md", re.ASCII
)
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


class _Texts(NamedTuple):
    """A record's texts without secrets, one line each but the body."""

    title: str
    key: str
    summary: str
    aliases: list[str]
    tags: list[str]
    links: list[str]
    body: str


def _reconcile(database: Database, scan: Scan, intake: _Intake) -> Report:
    with database.reading() as connection:
        version, stored = _read_data_version(connection), _load_folders(connection)
        if stored == scan.folders:
            return Report(0, _collect_problems(connection, scan, []), ())
    with database.writing() as connection:
        if _read_data_version(connection) != version:  # another process has reconciled since
            stored = _load_folders(connection)
        writer = _Writer(connection, intake)
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


def _apply(connection: sqlite3.Connection, writer: _Writer, scan: Scan, stored: dict[str, FolderScan]) -> None:
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
    writer: _Writer, folder: str, old: dict[str, bytes], new: dict[str, bytes], scan_ns: int
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


class _Writer:
    """Takes files into the catalog one by one and writes their rows in batches."""

    def __init__(self, connection: sqlite3.Connection, intake: _Intake) -> None:
        self.changed = 0
        self.unstable: list[str] = []
        self.forgot_private = False
        self.added: set[str] = set()
        self._connection = connection
        self._intake = intake
        self._row = connection.execute("SELECT coalesce(max(rowid), 0) FROM records").fetchone()[0]
        self._records: list[tuple[object, ...]] = []
        self._terms: list[tuple[object, ...]] = []
        self._names: list[tuple[str, str, int]] = []
        self._tags: list[tuple[str, int, str]] = []
        self._links: list[tuple[str, str, str]] = []

    def take(self, path: str, *, is_known: bool) -> bool:
        """Read the file at ``path`` and replace what is stored of it; return whether it held still."""
        try:
            data = self._intake.read(path)
        except GitmemError as error:
            self._replace(path, is_known=is_known)
            if error.code == "unstable":
                self.unstable.append(path)
                return False
            self._note_problem(path, error.code, error.message)
            return True
        if is_known and self._find_fingerprint(path) == fingerprint(data):
            return True
        had_record = self._replace(path, is_known=is_known)
        try:
            record = self._intake.parse(VaultPath(path), data)
            if record is not None and record.private:
                self._connection.execute("INSERT INTO private VALUES (?)", (path,))
                self.forgot_private |= had_record
            elif record is not None:
                if not _OWN_PATH.fullmatch(path):
                    parse_vault_path(path)
                self._add(record)
        except InputError as error:
            self._note_problem(path, error.code, error.message, error.fields.get("line"))
        return True

    def forget(self, path: str) -> bool:
        """Drop everything stored of the file at ``path``; return whether there was a record."""
        execute = self._connection.execute
        row = execute("SELECT rowid, key, title, aliases, tags FROM records WHERE path = ?", (path,)).fetchone()
        execute("DELETE FROM problems WHERE path = ?", (path,))
        execute("DELETE FROM private WHERE path = ?", (path,))
        execute("DELETE FROM links WHERE path = ?", (path,))
        if row is None:
            return False
        number, key, title, aliases, tags = row
        for name, field in _iter_names(key, title, aliases.split("\n")):
            execute("DELETE FROM names WHERE name = ? AND field = ? AND record = ?", (name, field, number))
        for tag in tags.split("\n"):
            execute("DELETE FROM tags WHERE folded = ? AND record = ?", (fold(tag), number))
        execute("DELETE FROM terms WHERE rowid = ?", (number,))
        execute("DELETE FROM records WHERE rowid = ?", (number,))
        return True

    def flush(self) -> None:
        """Write the rows that are waiting."""
        self._connection.executemany(_ADD_RECORD, self._records)
        self._connection.executemany(_ADD_TERMS, self._terms)
        self._connection.executemany(_ADD_NAME, self._names)
        self._connection.executemany(_ADD_TAG, self._tags)
        self._connection.executemany(_ADD_LINK, self._links)
        for rows in (self._records, self._terms, self._names, self._tags, self._links):
            rows.clear()

    def _replace(self, path: str, *, is_known: bool) -> bool:
        self.changed += 1
        return is_known and self.forget(path)

    def _find_fingerprint(self, path: str) -> str | None:
        row = self._connection.execute("SELECT fingerprint FROM records WHERE path = ?", (path,)).fetchone()
        return str(row[0]) if row else None

    def _note_problem(self, path: str, code: str, message: str, line: int | None = None) -> None:
        self._connection.execute(_ADD_PROBLEM, (path, code, self._clean([message])[0], line))

    def _add(self, record: Record) -> None:
        self._row += 1
        self.added.add(record.id)
        row, texts = self._row, self._clean_texts(record)
        self._records.append(
            (
                *(row, record.path, record.id, record.fingerprint, record.state, record.kind, record.authority),
                *(texts.title, texts.key or None, "\n".join(texts.aliases), "\n".join(texts.tags), texts.summary),
                *(record.created, record.updated, record.verified),
                *(record.valid_from, record.valid_until, record.review_after),
            )
        )
        fields = (texts.title, " ".join([texts.key, *texts.aliases]), " ".join(texts.tags), texts.summary, texts.body)
        terms = self._intake.terms
        self._terms.append((row, *[terms(field) for field in fields]))
        self._names += [(name, field, row) for name, field in _iter_names(texts.key, texts.title, texts.aliases)]
        self._tags += [(fold(tag), row, tag) for tag in texts.tags]
        self._links += [(record.path, target, link_name(target)) for target in texts.links]
        for problem in record.problems:
            self._note_problem(record.path, problem.code, problem.message, problem.line)
        if len(self._records) >= _BATCH:
            self.flush()

    def _clean_texts(self, record: Record) -> _Texts:
        tags = (*record.tags, *record.inline_tags)
        links = [link.target for link in (*find_property_links(record.properties), *find_links(record.body))]
        lines = [record.title, record.key or "", record.summary, *record.aliases, *tags, *filter(None, links)]
        if "\n".join(lines).count("\n") >= len(lines):
            lines = [one_line(line) for line in lines]
        body = "\n".join((record.body, *record.evidence))
        *lines, body = self._clean([*lines, body])
        tags_at = 3 + len(record.aliases)
        links_at = tags_at + len(tags)
        return _Texts(lines[0], lines[1], lines[2], lines[3:tags_at], lines[tags_at:links_at], lines[links_at:], body)

    def _clean(self, texts: list[str]) -> list[str]:
        """Return ``texts`` without secrets; one look at all of them, and one at each only where that found any."""
        try:
            whole = "\n".join(texts)
            return texts if self._intake.clean(whole) == whole else [self._intake.clean(text) for text in texts]
        except Exception as error:
            raise UnavailableError(
                "scanner-failed", "the secret scanner failed, so nothing is read", "Run `gitmem doctor`."
            ) from error


def _iter_names(key: str | None, title: str, aliases: Iterable[str]) -> Iterable[tuple[str, str]]:
    if key:
        yield fold(key), "key"
    yield fold(title), "title"
    for alias in aliases:
        if alias:
            yield fold(alias), "alias"


def _flag_duplicates(connection: sqlite3.Connection, added: set[str]) -> None:
    """Flag the records that share an id, and no others; the first path of each id is the one that answers.

    Only the ids in ``added`` and those flagged before can have changed.
    """
    if len(added) > _BATCH:  # one pass over the index beats a question for each
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
            connection.executemany(_ADD_PROBLEM, [(path, _DUPLICATE, message, None) for path in paths])


def _collect_problems(connection: sqlite3.Connection, scan: Scan, unstable: list[str]) -> tuple[Problem, ...]:
    rows = connection.execute("SELECT code, message, path, line FROM problems ORDER BY path, code, line")
    moving = [Problem("unstable", "it keeps changing and was left out", path) for path in unstable]
    return tuple(sorted([*scan.problems, *moving, *(Problem(*row) for row in rows)], key=lambda problem: problem.path))
