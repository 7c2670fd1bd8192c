"""The tables of the search catalog, and the number that says whether a file has exactly these."""

from __future__ import annotations

import hashlib

SCHEMA = (
    # One row a folder: `names` and `signatures` as vault.scan packs them, all zeros for a file to be read again.
    "CREATE TABLE folders(path TEXT NOT NULL UNIQUE, names TEXT NOT NULL, signatures BLOB NOT NULL)",
    # What a scan by folders' times needs of each folder, also of those without notes: `stamp` as vault.scan packs it,
    # empty for a folder to be looked at again; `problems` as JSON.
    """
    CREATE TABLE looks(
        path TEXT PRIMARY KEY, stamp BLOB NOT NULL, notes INTEGER NOT NULL, newest_ns INTEGER NOT NULL,
        problems TEXT NOT NULL) WITHOUT ROWID
    """,
    # One row. `epoch` is random: another one says that the catalog was made afresh. `notes` counts the notes of all
    # folders; `folder` and `place` say where the notes begin that have waited longest for a look.
    """
    CREATE TABLE progress(
        epoch INTEGER NOT NULL, notes INTEGER NOT NULL, folder TEXT NOT NULL, place INTEGER NOT NULL)
    """,
    "INSERT INTO progress VALUES (random(), 0, '', 0)",
    # Several values in one column (aliases, tags) are joined by line feeds. A shadowed record has the id of another
    # whose path comes first.
    """
    CREATE TABLE records(
        rowid INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, id TEXT NOT NULL, fingerprint TEXT NOT NULL,
        state TEXT NOT NULL, kind TEXT, authority TEXT, title TEXT NOT NULL, key TEXT, aliases TEXT NOT NULL,
        tags TEXT NOT NULL, summary TEXT NOT NULL, created TEXT, updated TEXT, verified TEXT, valid_from TEXT,
        valid_until TEXT, review_after TEXT, is_shadowed INTEGER NOT NULL DEFAULT 0)
    """,
    "CREATE INDEX records_by_id ON records(id)",
    # Folded keys, titles and aliases, for exact matches; keys also without what joins their parts.
    "CREATE TABLE names(name TEXT, field TEXT, record INTEGER, PRIMARY KEY(name, field, record)) WITHOUT ROWID",
    "CREATE TABLE tags(folded TEXT, record INTEGER, tag TEXT, PRIMARY KEY(folded, record)) WITHOUT ROWID",
    # Where the links of each note lead, as written, with the name that a file must have for it, and whether the note
    # says in `supersedes` that it replaces that file; private notes left out.
    """
    CREATE TABLE links(
        path TEXT, target TEXT, name TEXT NOT NULL, supersedes INTEGER NOT NULL, PRIMARY KEY(path, target))
        WITHOUT ROWID
    """,
    "CREATE INDEX links_by_name ON links(name)",
    "CREATE TABLE problems(path TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, line INTEGER)",
    "CREATE INDEX problems_by_path ON problems(path)",
    # Of a private record nothing is kept but that this file is one.
    "CREATE TABLE private(path TEXT PRIMARY KEY) WITHOUT ROWID",
    """
    CREATE VIRTUAL TABLE terms USING fts5(
        title, key, tags, summary, body, tokenize = 'porter unicode61 remove_diacritics 2')
    """,
    # The stems of all terms, for what is spelt nearly like a word that no record has.
    "CREATE VIRTUAL TABLE stems USING fts5vocab(terms, 'row')",
    # Files that are no records: notes without an id, and notes whose frontmatter can't be read. Private ones left out.
    "CREATE TABLE notes(rowid INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, why TEXT NOT NULL)",
    """
    CREATE VIRTUAL TABLE note_terms USING fts5(title, body, tokenize = 'porter unicode61 remove_diacritics 2')
    """,
    # Terms are gathered in 8 MiB of memory before they are written: fewer segments to merge in a first catalog.
    "INSERT INTO terms(terms, rank) VALUES ('hashsize', 8388608)",
)

FIELDS = ("title", "key", "tags", "summary", "body")
"""The searched fields, in the order of the columns of ``terms``; ``key`` holds the aliases too."""
WEIGHTS = (8.0, 6.0, 4.0, 3.0, 1.0)
"""How much a match in each field counts."""


_INTAKE = "4: one rule of what is private; names folded with full-width letters, and keys without what joins them"
"""Changed whenever something else of a record is stored in the same tables."""


def schema_version(key: str) -> int:
    """Return the number that marks a database as made by these tables and intake for ``key``: 31 bits, positive."""
    digest = hashlib.sha256("\0".join((key, _INTAKE, *SCHEMA)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1 or 1
