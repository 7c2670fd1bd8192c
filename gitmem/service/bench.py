"""Several changes to the same records in one operation: each is made from what the one before it left."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.model.ids import RecordId
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.service.find import get_record
from gitmem.service.plan import Move, path_in, reread, stamp
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.frontmatter import edit_note


class Bench:
    """Holds every record that an operation touches, as it was and as it is to be. Nothing is written.

    ``moves`` has them in the order in which they came.
    """

    def __init__(self, vault: OpenVault) -> None:
        self.vault = vault
        self._moves: dict[RecordId, Move] = {}

    @property
    def moves(self) -> list[Move]:
        """Every record that is new or changes, before and after."""
        return [move for move in self._moves.values() if move[0] is None or move[0] != move[1]]

    def get(self, ref: str) -> Record:
        """Return the record ``ref`` as it is to be so far. Raises what ``get_record`` raises."""
        if ref in self._moves:
            return self._moves[RecordId(ref)][1]
        record, data = get_record(self.vault, ref)
        return self._moves.setdefault(record.id, (record, record, data))[1]

    def before(self, record: Record) -> Record | None:
        """Return the record as it is in the vault now; ``None`` for a new one."""
        return self._moves[record.id][0]

    def data(self, record: Record) -> bytes:
        """Return the bytes of a record's file as they are to be so far."""
        return self._moves[record.id][2]

    def add(self, record: Record, data: bytes) -> None:
        """Put a new record on the bench."""
        self._moves[record.id] = (None, record, data)

    def change(self, record: Record, changes: Mapping[str, Any], *, to: State | None = None) -> Record:
        """Return the record with property ``changes``, stamped, and moved where ``to`` is another state."""
        path = record.path if to is None else path_in(to, record.path, self.vault.clock.now())
        data = edit_note(self.data(record), {**changes, "updated": stamp(self.vault)})
        return self.put(record, data, path)

    def put(self, record: Record, data: bytes, path: VaultPath | None = None) -> Record:
        """Return the record that ``data`` holds, in place of ``record``."""
        before = self._moves[record.id][0]
        after = reread(path or record.path, data)
        self._moves[record.id] = (before, after, data)
        return after
