"""A catalog of what an earlier commit holds, made from that of the work tree: only what differs is read."""

from __future__ import annotations

from gitmem.catalog.database import Database
from gitmem.model.ids import Fingerprint
from gitmem.vault.scan import SIGNATURE_FIELDS, FolderScan, content_signature

_UNKNOWN = bytes(SIGNATURE_FIELDS * 8)


def copy_by_content(database: Database) -> Database:
    """Return a copy of ``database`` in memory that knows files by their content instead of by their times.

    It is to be reconciled with a scan whose signatures are ``content_signature``s. Raises as ``Database.reading`` does.
    """
    copied = database.copy()
    with copied.writing() as connection:
        prints = dict(connection.execute("SELECT path, fingerprint FROM records").fetchall())
        rows = connection.execute("SELECT path, names, signatures FROM folders").fetchall()
        for folder, names, signatures in rows:
            paths = [f"{folder}/{name}" for name in FolderScan(names, signatures).decode()]
            known = b"".join(_sign(prints.get(path)) for path in paths)
            connection.execute("UPDATE folders SET signatures = ? WHERE path = ?", (known, folder))
    return copied


def _sign(content: str | None) -> bytes:
    return _UNKNOWN if content is None else content_signature(Fingerprint(content))
