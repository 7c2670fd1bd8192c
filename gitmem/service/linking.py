"""Which notes link to a file: names from the search catalog, resolved as Obsidian resolves them."""

from __future__ import annotations

from gitmem.model.ids import ID_CHARS
from gitmem.model.links import LinkTargets, link_name
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.service.reading import Reading


def list_linking_records(reading: Reading, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of the notes that link to every one of ``wanted``, sorted; plain notes are among them.

    Each is a record's id, key or path, or else what a link would call a file. Where no file is called so, the links
    that would lead to one count. Lists the names of all files of the vault; reads none.
    """
    database, targets = reading.database, LinkTargets(reading.iter_link_targets())
    found = [_list_linking(database, targets, _find_target(database, one) or one) for one in wanted]
    return tuple(sorted(set.intersection(*found)))


def _list_linking(database: Database, targets: LinkTargets, wanted: str) -> set[str]:
    from gitmem.catalog.query import list_links

    path = targets.resolve(wanted, "").path
    links = list_links(database, link_name(path or wanted))
    return {source for source, target in links if source != path and targets.resolve(target, source).path == path}


def _find_target(database: Database, ref: str) -> str | None:
    """Return the path of the record with the id or key ``ref``, ``None`` for anything else."""
    from gitmem.catalog.query import find_by_key, find_row

    row = find_row(database, ref) if len(ref) == ID_CHARS else None
    row = row or find_by_key(database, ref)
    return row.path if row else None
