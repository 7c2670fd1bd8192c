"""The crash journal: what an operation is about to do, flushed before it does it. Design step 5.

One file an operation in runtime/journal, made by atomic replacement and dropped when the operation is whole. It holds
hashes, never content, so a refused secret can't linger in it.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import Any

from gitmem.disk import ensure_folder, replace_file
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, Fingerprint, OpId
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.receipts import receipt_from_json, receipt_to_json
from gitmem.vault.layout import VaultLayout


@dataclass(frozen=True)
class JournalEdit:
    """One file of the operation: what the base commit has, what is on disk before, and what will be in both after.

    ``temp`` is the name, in the same folder, of what it replaces or is replaced by.
    """

    path: VaultPath
    base: Fingerprint | None
    before: Fingerprint | None
    after: Fingerprint | None
    temp: VaultPath


@dataclass(frozen=True)
class Journal:
    """An operation under way: the commit it started from, its files, and the receipt it will leave (no commit yet)."""

    op_id: OpId
    branch: str
    base: CommitId
    edits: tuple[JournalEdit, ...]
    receipt: Receipt


def save_journal(layout: VaultLayout, journal: Journal) -> None:
    """Write the journal; durable."""
    ensure_folder(layout.journal)
    replace_file(_file(layout, journal.op_id), _format(journal))


def drop_journal(layout: VaultLayout, op_id: OpId) -> None:
    """Remove the journal. Not flushed: should it come back after a power cut, recovery finds nothing left to do."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_file(layout, op_id))


def find_journals(layout: VaultLayout) -> list[str]:
    """Return the names of the journals that wait for recovery, sorted; half-made ones are removed.

    Called under the vault lock only: a half-made journal of an operation under way must stay.
    """
    names = []
    for name in _names(layout):
        if name.endswith(".tmp"):
            os.unlink(os.path.join(layout.journal, name))
        elif name.endswith(".json"):
            names.append(name)
    return sorted(names)


def is_pending(layout: VaultLayout) -> bool:
    """Tell, without the lock, whether an operation is under way or was abandoned."""
    return any(name.endswith((".json", ".tmp")) for name in _names(layout))


def load_journal(layout: VaultLayout, name: str) -> Journal:
    """Return one journal. Raises ``ValueError`` when it can't be understood."""
    with open(os.path.join(layout.journal, name), "rb") as file:
        value: Any = json.loads(file.read())
    try:
        return Journal(
            op_id=OpId(value["op_id"]),
            branch=value["branch"],
            base=CommitId(value["base"]),
            edits=tuple(JournalEdit(**edit) for edit in value["edits"]),
            receipt=receipt_from_json(value["receipt"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(repr(error)) from None


def set_aside(layout: VaultLayout, name: str) -> str:
    """Rename a journal that can't be understood so that it is kept but no longer waits. Returns its new name."""
    kept = name + ".unreadable"
    os.replace(os.path.join(layout.journal, name), os.path.join(layout.runtime, kept))
    return kept


def _names(layout: VaultLayout) -> list[str]:
    try:
        return os.listdir(layout.journal)
    except FileNotFoundError:
        return []


def _file(layout: VaultLayout, op_id: OpId) -> str:
    return os.path.join(layout.journal, f"{op_id}.json")


def _format(journal: Journal) -> bytes:
    value = {
        "op_id": journal.op_id,
        "branch": journal.branch,
        "base": journal.base,
        "edits": [vars(edit) for edit in journal.edits],
        "receipt": receipt_to_json(journal.receipt),
    }
    return json.dumps(value, ensure_ascii=False).encode()
