"""Keys: each belongs to one record of the vault, whoever asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gitmem.errors import InputError
from gitmem.model.change import Change, RecordChange
from gitmem.model.ids import RecordId
from gitmem.model.record import Record
from gitmem.service.reading import ask, iter_private
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.catalog.database import Database


def find_owners(vault: OpenVault, keys: Iterable[str]) -> dict[str, set[RecordId]]:
    """Return the ids of the records that have each of ``keys`` (as folded), private and retired ones included."""
    wanted = {fold(key) for key in keys}
    return ask(vault, lambda database, _report: _find_owners(vault, database, wanted)) if wanted else {}


def list_keys(vault: OpenVault) -> set[str]:
    """Return every key of the vault (as folded), those of private and retired records included."""
    return ask(vault, lambda database, _report: _list_keys(vault, database))


def check_key_is_free(vault: OpenVault, key: str) -> None:
    """Check that no record has the key. Raises ``InputError`` (``key-taken``)."""
    for owner in sorted(find_owners(vault, [key])[fold(key)]):
        raise _taken(key, owner)


def check_keys(vault: OpenVault, change: Change) -> None:
    """Check, with the vault locked, that no other record has a key that ``change`` gives to one.

    Raises ``InputError`` (``key-taken``). Two records of one change can't share a key either, but one may take over
    what another gives up.
    """
    for _one, error in iter_taken_keys(vault, change.records):
        raise error


def iter_taken_keys(vault: OpenVault, changes: Sequence[RecordChange]) -> Iterator[tuple[RecordChange, InputError]]:
    """Yield the changes that give a record a key which another record has or gets, each with what to say of it."""
    given: dict[str, RecordChange] = {}
    for one in changes:
        key = _key_of(one.after)
        if key is not None and key != _key_of(one.before):
            if key in given:
                yield one, _taken(key, given[key].id)
            given.setdefault(key, one)
    owners: Mapping[str, set[RecordId]] = find_owners(vault, given)
    keys_after = {one.id: _key_of(one.after) for one in changes}
    for key, one in given.items():
        others = (other for other in sorted(owners[key] - {one.id}) if keys_after.get(other, key) == key)
        for other in islice(others, 1):
            yield one, _taken(key if one.after is None else one.after.key or key, other)


def _key_of(record: Record | None) -> str | None:
    return None if record is None or record.key is None else fold(record.key)


def _list_keys(vault: OpenVault, database: Database) -> set[str]:
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.query import list_rows

    shown = {fold(row.key) for row in list_rows(database, Filters(states=())) if row.key}
    return shown | {fold(record.key) for record in iter_private(vault, database) if record.key}


def _find_owners(vault: OpenVault, database: Database, wanted: set[str]) -> dict[str, set[RecordId]]:
    from gitmem.catalog.query import list_by_key

    owners = {key: {row.id for row in list_by_key(database, key)} for key in wanted}
    for record in iter_private(vault, database):
        if record.key is not None and fold(record.key) in owners:
            owners[fold(record.key)].add(record.id)
    return owners


def _taken(key: str, owner: RecordId) -> InputError:
    return InputError("key-taken", f"the key {key!r} belongs to {owner}", "Choose another, or edit that record.")
