"""What files say, put into the tables of the search catalog in batches, and taken out of them again."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable

from gitmem.catalog.expressions import fold_name, join_name
from gitmem.catalog.tables import FIELDS
from gitmem.errors import GitmemError, InputError, UnavailableError
from gitmem.model.ids import fingerprint
from gitmem.model.links import link_name
from gitmem.model.record import Record
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.patterns import late
from gitmem.text import fold, one_line
from gitmem.typed import NamedTuple
from gitmem.vault.markdown import find_links, find_property_links, list_superseded
from gitmem.vault.plain_note import parse_plain_note

# Each step is done for the whole batch before the next: that takes a third less than all steps for one file after the
# other, and the gain is all there from some 30 files on.
_BATCH = 64
_ADD_RECORD = f"INSERT INTO records VALUES ({', '.join('?' * 18)}, 0)"  # noqa: S608
_ADD_TERMS = f"INSERT INTO terms(rowid, {', '.join(FIELDS)}) VALUES (?{', ?' * len(FIELDS)})"  # noqa: S608
_ADD_NAME = "INSERT OR IGNORE INTO names VALUES (?, ?, ?)"
_ADD_TAG = "INSERT OR IGNORE INTO tags VALUES (?, ?, ?)"
_ADD_LINK = "INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)"
ADD_PROBLEM = "INSERT INTO problems VALUES (?, ?, ?, ?)"
# What the engine keeps beside its averages and its structure are terms, those of deleted rows among them.
_STORED_TERMS = (
    "SELECT 1 FROM terms_data WHERE id > 10 LIMIT 1",
    "SELECT 1 FROM note_terms_data WHERE id > 10 LIMIT 1",
)
_NO_ID = "it has no gitmem_id"
# What gitmem names its files: no need to look at each letter of ten thousand of them.
_OWN_PATH = late(
    r"(?:baseline|promoted|(?:observations|retired)/\d{4}-\d\d)/[a-z0-9-]{1,120}-[a-z0-9]{6}\.md", re.ASCII
)


class _File(NamedTuple):
    """A file that was read and is to be taken in; ``was_private`` tells whether it was known to be private before."""

    path: str
    data: bytes
    was_private: bool


class _Texts(NamedTuple):
    """A record's texts without secrets, one line each but the body."""

    title: str
    key: str
    aliases: list[str]
    tags: list[str]
    links: list[str]
    summary: str
    body: str


class Writer:
    """Takes files into the catalog one by one and writes their rows in batches; ``flush`` writes the last ones.

    ``read``, ``parse``, ``terms`` and ``clean`` are as ``reconcile`` takes them. ``changed`` counts the files that were
    taken or forgotten, ``unstable`` names those in motion, ``added`` holds the ids of the records that were written.
    ``has_new_private`` says that a file is private that was not known as such, beside text that was stored before: some
    of that may have been its own, at this path or another, and gone since.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        read: Callable[[str], bytes],
        parse: Callable[[VaultPath, bytes], Record | None],
        terms: Callable[[str], str],
        clean: Callable[[str], str],
    ) -> None:
        self.changed = 0
        self.unstable: list[str] = []
        self.has_new_private = False
        self.added: set[str] = set()
        self._connection = connection
        self._read = read
        self._parse = parse
        self._terms = terms
        self._clean_text = clean
        self._row = connection.execute("SELECT coalesce(max(rowid), 0) FROM records").fetchone()[0]
        self._waiting: list[_File] = []
        self._is_fresh = not any(connection.execute(each).fetchone() for each in _STORED_TERMS)

    def take(self, path: str, *, is_known: bool) -> bool:
        """Read the file at ``path`` and replace what is stored of it; return whether it held still."""
        try:
            data = self._read(path)
        except GitmemError as error:
            self._replace(path, is_known=is_known)
            if error.code == "unstable":
                self.unstable.append(path)
                return False
            self._note_problem(path, error.code, error.message)
            return True
        if is_known and self._find_fingerprint(path) == fingerprint(data):
            return True
        self._waiting.append(_File(path, data, self._replace(path, is_known=is_known)))
        if len(self._waiting) >= _BATCH:
            self.flush()
        return True

    def forget(self, path: str) -> bool:
        """Drop everything stored of the file at ``path``; return whether it was known to be private."""
        execute = self._connection.execute
        row = execute("SELECT rowid, key, title, aliases, tags FROM records WHERE path = ?", (path,)).fetchone()
        execute("DELETE FROM problems WHERE path = ?", (path,))
        was_private = execute("DELETE FROM private WHERE path = ?", (path,)).rowcount > 0
        execute("DELETE FROM links WHERE path = ?", (path,))
        if row is None:
            note = execute("SELECT rowid FROM notes WHERE path = ?", (path,)).fetchone()
            if note is not None:
                execute("DELETE FROM note_terms WHERE rowid = ?", note)
                execute("DELETE FROM notes WHERE rowid = ?", note)
            return was_private
        number, key, title, aliases, tags = row
        for name in _list_names(number, title, key, aliases.split("\n")):
            execute("DELETE FROM names WHERE name = ? AND field = ? AND record = ?", name)
        for tag in tags.split("\n"):
            execute("DELETE FROM tags WHERE folded = ? AND record = ?", (fold(tag), number))
        execute("DELETE FROM terms WHERE rowid = ?", (number,))
        execute("DELETE FROM records WHERE rowid = ?", (number,))
        return was_private

    def flush(self) -> None:
        """Take in the files that are waiting."""
        parsed = [(record, file.data) for file in self._waiting if (record := self._parse_file(file)) is not None]
        self._waiting.clear()
        texts = [self._clean_texts(record, data) for record, data in parsed]
        rows = range(self._row + 1, self._row + 1 + len(parsed))
        self._row += len(parsed)
        taken = [(row, record, text) for row, (record, _data), text in zip(rows, parsed, texts, strict=True)]
        write = self._connection.executemany
        write(_ADD_RECORD, [_format_record(*each) for each in taken])
        write(_ADD_TERMS, [self._format_terms(row, text) for row, text in zip(rows, texts, strict=True)])
        write(_ADD_NAME, [name for row, _record, text in taken for name in _list_names(row, *text[:3])])
        write(_ADD_TAG, [(fold(tag), row, tag) for row, _record, text in taken for tag in text.tags])
        write(_ADD_LINK, [link for _row, record, text in taken for link in _format_links(record, text.links)])
        for _row, record, _text in taken:
            self.added.add(record.id)
            for problem in record.problems:
                self._note_problem(record.path, problem.code, problem.message, problem.line)

    def _replace(self, path: str, *, is_known: bool) -> bool:
        self.changed += 1
        return is_known and self.forget(path)

    def _find_fingerprint(self, path: str) -> str | None:
        row = self._connection.execute("SELECT fingerprint FROM records WHERE path = ?", (path,)).fetchone()
        return str(row[0]) if row else None

    def _note_problem(self, path: str, code: str, message: str, line: int | None = None) -> None:
        self._connection.execute(ADD_PROBLEM, (path, code, self._clean(message), line))

    def _parse_file(self, file: _File) -> Record | None:
        """Return the record to be stored; see to all that can be stored of a file without one."""
        path = VaultPath(file.path)
        try:
            record = self._parse(path, file.data)
            if record is None:
                self._add_note(file, _NO_ID)
            elif record.private:
                self._hide(file)
            else:
                return record if _OWN_PATH.fullmatch(path) or parse_vault_path(path) else None
        except InputError as error:
            self._note_problem(path, error.code, error.message, error.fields.get("line"))
            self._add_note(file, error.message)
        return None

    def _hide(self, file: _File) -> None:
        self._connection.execute("INSERT INTO private VALUES (?)", (file.path,))
        self.has_new_private |= not (file.was_private or self._is_fresh)

    def _add_note(self, file: _File, why: str) -> None:
        """Store what is no record, so that it is found all the same; nothing of what may be private."""
        note = parse_plain_note(file.path, file.data)
        if note is None:
            return
        if note.is_private:
            self._hide(file)
            return
        execute, terms = self._connection.execute, self._terms
        title, text, why, *links = [self._clean(each) for each in (note.title, note.text, why, *note.links)]
        row = execute("INSERT INTO notes(path, why) VALUES (?, ?)", (file.path, why)).lastrowid
        execute("INSERT INTO note_terms(rowid, title, body) VALUES (?, ?, ?)", (row, terms(title), terms(text)))
        self._connection.executemany(_ADD_LINK, [(file.path, link, link_name(link), 0) for link in links])

    def _format_terms(self, row: int, texts: _Texts) -> tuple[object, ...]:
        terms = self._terms
        names = " ".join([texts.key, *texts.aliases]) if texts.aliases else texts.key
        return (
            row,
            terms(texts.title),
            terms(names),
            terms(" ".join(texts.tags)),
            terms(texts.summary),
            terms(texts.body),
        )

    def _clean_texts(self, record: Record, data: bytes) -> _Texts:
        tags_at = 3 + len(record.aliases)
        links_at = tags_at + len(record.tags) + len(record.inline_tags)
        lines = [record.title, record.key or "", record.summary]
        lines += (*record.aliases, *record.tags, *record.inline_tags, *_list_links(record, data))
        joined = "\n".join(lines)
        if joined.count("\n") >= len(lines):
            lines = [one_line(line) for line in lines]
            joined = "\n".join(lines)
        body = "\n".join((record.body, *record.evidence))
        if not self._is_clean(f"{joined}\n{body}"):
            *lines, body = [self._clean(text) for text in (*lines, body)]
        title, key, summary = lines[:3]
        return _Texts(title, key, lines[3:tags_at], lines[tags_at:links_at], lines[links_at:], summary, body)

    def _is_clean(self, text: str) -> bool:
        return self._clean(text) == text

    def _clean(self, text: str) -> str:
        try:
            return self._clean_text(text)
        except Exception as error:
            raise UnavailableError(
                "scanner-failed", "the secret scanner failed, so nothing is read", "Run `gitmem doctor`."
            ) from error


def _format_record(row: int, record: Record, texts: _Texts) -> tuple[object, ...]:
    # Plain strings: for an enum SQLite's module first looks for an adapter, which takes longer than all the rest.
    kind = record.kind and record.kind.value
    authority = record.authority and record.authority.value
    return (
        *(row, record.path, record.id, record.fingerprint, record.state.value, kind, authority),
        *(texts.title, texts.key or None, "\n".join(texts.aliases), "\n".join(texts.tags), texts.summary),
        *(record.created, record.updated, record.verified),
        *(record.valid_from, record.valid_until, record.review_after),
    )


def _list_names(row: int, title: str, key: str | None, aliases: Iterable[str]) -> list[tuple[str, str, int]]:
    names = [(fold_name(title), "title", row)]
    if key:
        names.append((fold_name(key), "key", row))
        if (joined := join_name(key)) not in ("", names[-1][0]):
            names.append((joined, "joined key", row))
    names += [(fold_name(alias), "alias", row) for alias in aliases if alias]
    return names


def _format_links(record: Record, links: Iterable[str]) -> list[tuple[str, str, str, bool]]:
    older = {link.target for link in list_superseded(record)} if record.supersedes else ()
    return [(record.path, link, link_name(link), link in older) for link in links]


def _list_links(record: Record, data: bytes) -> list[str]:
    if b"[" not in data and b"\\" not in data:  # an escape in YAML may stand for the bracket
        return []
    links = (*find_property_links(record.properties), *find_links(record.body))
    return [link.target for link in links if link.target]
