"""Takes in what an operation of gitmem's own has just written, so that the next reconciliation meets it as known."""

from __future__ import annotations

import os
import sqlite3
import stat
from bisect import bisect_left
from collections.abc import Callable, Mapping

from gitmem.catalog.database import Database
from gitmem.catalog.folders import READ_AGAIN, count_notes, load_folders, store_folder
from gitmem.catalog.reconcile import flag_duplicates
from gitmem.catalog.writer import Writer
from gitmem.errors import StateError
from gitmem.model.ids import Fingerprint, fingerprint
from gitmem.model.record import Record
from gitmem.model.vault_path import VaultPath
from gitmem.vault.folder import Folder
from gitmem.vault.scan import MAX_NOTE_BYTES, FolderScan, pack_signature, unpack_time

MAX_FILES = 200
"""An operation on more files is left to the next reconciliation: nobody is to wait for it here."""


class _LeaveError(Exception):
    """This is better left to a reconciliation."""


def take_own(
    database: Database,
    root: str,
    written: Mapping[VaultPath, Fingerprint | None],
    file_time_ns: int,
    parse: Callable[[VaultPath, bytes], Record | None],
    terms: Callable[[str], str],
    clean: Callable[[str], str],
) -> None:
    """Take in the files at ``written`` below ``root``, each as it was left: with these bytes, or gone for ``None``.

    No file that is written from now on gets a time before ``file_time_ns``. ``parse``, ``terms`` and ``clean`` are as
    for ``reconcile``. Waits for nobody. A catalog that was never filled, a file that is not as it was left, a record
    that becomes private, more than ``MAX_FILES``, anything that fails: all of that is left to the next reconciliation.
    """
    if len(written) > MAX_FILES:
        return

    def work(connection: sqlite3.Connection) -> None:
        if not count_notes(connection):
            raise _LeaveError
        data: dict[str, bytes] = {}
        writer = Writer(connection, lambda path: data[path], parse, terms, clean)
        folders: dict[str, dict[str, Fingerprint | None]] = {}
        for path, left in written.items():
            folder, _slash, name = path.rpartition("/")
            folders.setdefault(folder, {})[name] = left
        for folder, names in folders.items():
            _take_folder(connection, writer, data, root, folder, names, file_time_ns)
        writer.flush()
        if writer.has_new_private:  # what is to be wiped from the file takes its time
            raise _LeaveError
        flag_duplicates(connection, writer.added)

    try:
        database.write_aside(work)
    except _LeaveError:
        return


def _take_folder(
    connection: sqlite3.Connection,
    writer: Writer,
    data: dict[str, bytes],
    root: str,
    folder: str,
    names: Mapping[str, Fingerprint | None],
    file_time_ns: int,
) -> None:
    stored = load_folders(connection, [folder]).get(folder, FolderScan("", b""))
    known = stored.names.split("/") if stored.names else []
    packed = bytearray(stored.signatures)
    before, size = len(known), len(READ_AGAIN)
    for name, left in names.items():
        path, at = f"{folder}/{name}", bisect_left(known, name)
        is_known = at < len(known) and known[at] == name
        if left is None:
            if is_known and not os.path.lexists(os.path.join(root, folder, name)):
                writer.forget(path)
                del known[at], packed[at * size : (at + 1) * size]
            continue
        try:
            data[path], signature = _read(root, folder, name)
        except (OSError, StateError):
            continue
        if fingerprint(data[path]) == left and writer.take(path, is_known=is_known):
            # Written in the same tick of the clock as another program's write might be: read again, to be sure.
            signature = signature if unpack_time(signature) < file_time_ns else READ_AGAIN
            packed[at * size : (at + is_known) * size] = signature
            known[at : at + is_known] = [name]
    if packed != stored.signatures:
        store_folder(connection, folder, before, "/".join(known), bytes(packed))
        connection.execute("UPDATE looks SET stamp = x'' WHERE path = ?", (folder,))


def _read(root: str, folder: str, name: str) -> tuple[bytes, bytes]:
    """Return the bytes of a file and its signature. Raises ``OSError``, and ``StateError`` for one in motion."""
    with Folder(root, folder) as opened:
        handle = opened.open(name)
        try:
            before = os.fstat(handle)
            data = os.read(handle, MAX_NOTE_BYTES)
        finally:
            os.close(handle)
        entry = opened.lstat(name, dir_fd=opened.fd)
    signature = pack_signature(entry)
    if not stat.S_ISREG(entry.st_mode) or pack_signature(before) != signature or len(data) != entry.st_size:
        raise StateError("unstable", f"{name} changed while it was read", "Ask again.")
    return data, signature
