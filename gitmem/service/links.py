"""Where a record's links lead, and what links to it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.links import LinkTargets, link_name
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.patterns import late
from gitmem.service.find import get_record
from gitmem.service.reading import ask, mask
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import WorkNote, iter_link_targets, iter_work_notes, parse_work_note, scan
from gitmem.text import fold
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.vault.frontmatter import Note
from gitmem.vault.markdown import Link, find_links, find_property_links
from gitmem.vault.scan import StableReader

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report

_PLAIN_NAME = late(r"[a-z0-9_-]+")


def links(vault: OpenVault, ref: str) -> Answer:
    """Return the links of the record ``ref`` as rows: its own (``direction: out``) in order, then those to it (``in``).

    A row has ``direction``, ``path`` (of the other end, ``None`` if broken or ``private``), ``private``, ``target`` (as
    written), ``line`` (in the file, ``None`` in a property), ``source`` (``body`` or a property) and ``others``
    (further files of that name).
    Private records stay out of it: one that is asked for is ``withheld``, those that link to a record are left out.
    Reads the notes that link to it, by what the search catalog knows of links, and the names of all files.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    record, data = get_record(vault, ref)
    if record.private:
        told = Problem("private", f"the record {record.id} is private; open its file to see its links")
        return Answer(Status.WITHHELD, head, diagnostics=(*settled, told))
    targets = LinkTargets(iter_link_targets(vault))
    linking, private = _find_linking(vault, targets, record.path)
    rows = [
        _without_private(_row("out", link, line, targets, record.path), private)
        for link, line in iter_links(record, data)
    ]
    for note in _iter_notes(vault, linking):
        if note.note is None or (note.record is not None and note.record.private):
            continue
        for link, line in iter_links(note.note, note.data):
            if link.target and targets.resolve(link.target, note.path).path == record.path:
                row = {**_row("in", link, line, targets, note.path), "path": note.path}
                rows.append(_without_private(row, private))
    return Answer(Status.OK, head, rows=tuple(rows), diagnostics=settled, extra={"record": Hit(mask(record, data)[0])})


def _find_linking(vault: OpenVault, targets: LinkTargets, path: str) -> tuple[list[str], frozenset[str]]:
    """Return the notes that link to ``path``, folder by folder, and which notes are private."""

    def find(database: Database, _report: Report) -> tuple[set[str], frozenset[str]]:
        from gitmem.catalog.query import list_links, list_private_paths

        found = list_links(database, link_name(path))
        linking = {source for source, target in found if targets.resolve(target, source).path == path}
        return linking - {path}, frozenset(list_private_paths(database))

    linking, private = ask(vault, find, strict=True)
    return sorted(linking, key=posixpath.split), private


def _iter_notes(vault: OpenVault, paths: Iterable[str]) -> Iterator[WorkNote]:
    """Yield the notes at ``paths``, read now."""
    with StableReader(vault.layout.repo, vault.clock) as read:
        for path in paths:
            with suppress(GitmemError):
                yield parse_work_note(parse_vault_path(path), read(path))


def _without_private(row: dict[str, Any], private: Container[str]) -> dict[str, Any]:
    """Return a row of links without the paths of private notes; where it leads to one, that is said."""
    is_private = row["path"] in private
    others = [path for path in row["others"] if path not in private]
    return {**row, "path": None if is_private else row["path"], "others": others, "private": is_private}


def list_linking(
    vault: OpenVault, paths: Iterable[str], edited: Mapping[VaultPath, bytes | None]
) -> list[VaultPath | None]:
    """Return the notes that link to one of ``paths``, by path; ``None`` stands for each private one, last.

    Notes in ``edited`` count with the bytes given there, not at all where these are ``None``. Reads every note, and
    looks for links in those that hold the name of one of ``paths``.
    """
    wanted = set(paths)
    notes = [parse_work_note(path, data) for path, data in edited.items() if data is not None]
    others = iter_work_notes(vault, scan(vault), _make_filter(wanted))
    notes += [note for note in others if note.path not in edited]
    targets = LinkTargets(iter_link_targets(vault) if notes else ())
    shown: list[VaultPath | None] = []
    private = 0
    for note in sorted(notes, key=lambda note: note.path):
        if note.note is None or note.path in wanted:
            continue
        links_of = iter_links(note.note, note.data)
        if any(targets.resolve(link.target, note.path).path in wanted for link, _line in links_of):
            is_private = note.record is not None and note.record.private
            shown += [] if is_private else [note.path]
            private += is_private
    return shown + [None] * private


def _make_filter(paths: Iterable[str]) -> Callable[[bytes], bool]:
    """Return what tells whether a file may link to one of ``paths``: whether it holds the name of one, in any case.

    A name that a link can say in other ways (percent-encoded, in another Unicode form) lets every file pass.
    """
    names = [fold(posixpath.basename(path).removesuffix(".md")) for path in paths]
    if not all(map(_PLAIN_NAME.fullmatch, names)):
        return lambda _data: True
    plain = [name.encode() for name in names]

    def may_link(data: bytes) -> bool:
        lowered = data.lower()
        return any(name in lowered for name in plain)

    return may_link


def iter_links(note: Record | Note, data: bytes) -> Iterator[tuple[Link, int | None]]:
    """Yield the links of the note in the file ``data``, properties first.

    Each comes with its line in the file, from 1; ``None`` for one in a property.
    """
    for link in find_property_links(note.properties):
        yield link, None
    lines_before = data.count(b"\n") - note.body.count("\n")
    for link in find_links(note.body):
        yield link, lines_before + link.line


def _row(direction: str, link: Link, line: int | None, targets: LinkTargets, source: str) -> dict[str, Any]:
    found = targets.resolve(link.target, source)
    return {
        "direction": direction,
        "path": found.path,
        "target": link.target,
        "line": line,
        "source": link.source,
        "others": list(found.others),
    }
