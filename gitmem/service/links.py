"""Where a record's links lead, and what links to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.links import LinkTargets
from gitmem.service.find import get_record
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import iter_link_targets, iter_work_notes
from gitmem.vault.frontmatter import Note, parse_note
from gitmem.vault.markdown import Link, find_links, find_property_links


def links(vault: OpenVault, ref: str) -> Answer:
    """Return the links of the record ``ref`` as rows: its own (``direction: out``) in order, then those to it (``in``).

    A row has ``direction``, ``path`` (of the other end, ``None`` if broken), ``target`` (as written), ``line``,
    ``source`` (``body`` or a property) and ``others`` (further files of that name). Reads every note of the vault.
    """
    settled = vault.settle_abandoned()
    record, data = get_record(vault, ref)
    targets = LinkTargets(iter_link_targets(vault))
    rows = [_row("out", link, targets, record.path) for link in iter_links(parse_note(data))]
    for note in iter_work_notes(vault):
        if note.path == record.path or note.problem is not None:
            continue
        for link in iter_links(parse_note(note.data)):
            if link.target and targets.resolve(link.target, note.path).path == record.path:
                rows.append({**_row("in", link, targets, note.path), "path": note.path})
    return Answer(Status.OK, vault.head(), rows=tuple(rows), diagnostics=settled, extra={"record": Hit(record)})


def iter_links(note: Note) -> Iterator[Link]:
    """Yield the links of a note, properties first."""
    yield from find_property_links(note.properties)
    yield from find_links(note.body)


def _row(direction: str, link: Link, targets: LinkTargets, source: str) -> dict[str, Any]:
    found = targets.resolve(link.target, source)
    return {
        "direction": direction,
        "path": found.path,
        "target": link.target,
        "line": link.line,
        "source": link.source,
        "others": list(found.others),
    }
