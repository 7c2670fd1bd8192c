"""From what a person types to one record: its id, a unique prefix of it, its key, or its path."""

from __future__ import annotations

import os
import shlex

from gitmem.errors import InputError, StateError
from gitmem.model.ids import ALPHABET, ID_CHARS, fingerprint
from gitmem.model.links import LinkTargets
from gitmem.model.record import Record, state_of
from gitmem.model.vault_path import VaultPath, find_path_problem, parse_vault_path
from gitmem.service.reading import ask, check_current, iter_private
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible
from gitmem.typed import TYPE_CHECKING
from gitmem.vault.markdown import find_property_links
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import read_stable

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report
    from gitmem.service.reading import Reading

MIN_PREFIX_CHARS = 3
_SHOWN = 5


def get_record(vault: OpenVault, ref: str) -> tuple[Record, bytes]:
    """Return the record that ``ref`` names, and the bytes of its file, read now.

    Private records are found like all others; the person at the keyboard names them. Raises ``InputError``
    (``no-such-record``, ``ambiguous-record``) and what reading the file raises.
    """
    path = _find_path(vault, ref)
    data = read_stable(vault.layout.repo, path, vault.clock)
    record = parse_record(path, data)
    if record is None:
        hint = f"`gitmem adopt {shlex.quote(path)}` makes it a record."
        raise InputError("no-such-record", f"{path} is a note without gitmem_id", hint)
    return record, data


def find_linked_path(targets: LinkTargets, link: str, source: str) -> str | None:
    """Return the file that ``[[link]]``, a property of the note ``source``, leads to; ``None`` for none or several."""
    for found in find_property_links({"": link}):
        resolution = targets.resolve(found.target, source)
        return None if resolution.others else resolution.path
    return None


def find_linked_record(vault: OpenVault, targets: LinkTargets, link: str, source: str) -> tuple[Record, bytes] | None:
    """Return the one record that ``[[link]]``, a property of ``source``, leads to, with its bytes; or ``None``."""
    path = find_linked_path(targets, link, source)
    if path is None or state_of(path) is None:
        return None
    try:
        return get_record(vault, path)
    except InputError:  # a plain note, or one that can't be read as a record
        return None


def _find_path(vault: OpenVault, ref: str) -> VaultPath:
    path = _as_path(vault, ref)
    if path is not None:
        return path
    try:
        return ask(vault, lambda database, report: _look_up(vault, database, report, ref))
    except InputError as error:
        if error.code != "no-such-record":
            raise
    # A record that another operation moves can be missed by a look at the folders one after the other, and one that was
    # just written in place by a look at the folders' times.
    return ask(vault, lambda database, report: _look_up(vault, database, report, ref), strict=True)


def get_past_record(reading: Reading, ref: str) -> tuple[Record, bytes]:
    """Return the record that ``ref`` names, as an earlier commit has it; by what it is called then, else by what now.

    Private ones are not found. Raises ``InputError`` (``no-such-record``, ``ambiguous-record``).
    """
    path = _find_past_path(reading, ref)
    if path is None:
        now, _data = get_record(reading.vault, ref)
        path = _find_in_catalog(reading.database, now.id)
    found = {} if path is None else reading.records([path])
    if path not in found:
        raise _no_such(ref, reading.report, " in that commit")
    return found[path]


def _find_past_path(reading: Reading, ref: str) -> VaultPath | None:
    inside = _to_inside(reading.vault, ref)
    is_path = state_of(inside) is not None and not find_path_problem(inside) and bool(reading.records([inside]))
    return parse_vault_path(inside) if is_path else _find_in_catalog(reading.database, ref.strip())


def _as_path(vault: OpenVault, ref: str) -> VaultPath | None:
    inside = _to_inside(vault, ref)
    if state_of(inside) is None or find_path_problem(inside):
        return None
    path = parse_vault_path(inside)
    if os.path.lexists(vault.layout.file(path)):
        return path
    raise InputError("no-such-record", f"there is no file {make_visible(ref)[:200]}", "See `gitmem list`.")


def _to_inside(vault: OpenVault, ref: str) -> str:
    inside = os.path.relpath(ref, vault.layout.repo) if os.path.isabs(ref) else os.path.normpath(ref)
    return inside.replace(os.sep, "/")


def _look_up(vault: OpenVault, database: Database, report: Report, ref: str) -> VaultPath:
    wanted = ref.strip()
    path = _find_in_catalog(database, wanted)
    if path is not None:
        check_current(database, report, {path: _read_fingerprint(vault, path)})
        return path
    path = _find_private(vault, database, wanted)
    if path is None:
        raise _no_such(ref, report)
    return path


def _read_fingerprint(vault: OpenVault, path: VaultPath) -> str | None:
    try:
        return fingerprint(read_stable(vault.layout.repo, path, vault.clock))
    except (InputError, StateError):
        return None


def _find_in_catalog(database: Database, wanted: str) -> VaultPath | None:
    from gitmem.catalog.query import find_by_key, find_by_prefix, find_row

    row = find_row(database, wanted) or find_by_key(database, wanted)
    if row is not None:
        return row.path
    rows = find_by_prefix(database, wanted, limit=-1) if _is_prefix(wanted) else []
    if len(rows) > 1:
        listed = ", ".join(f"{row.id} ({row.title})" for row in rows[:_SHOWN])
        raise InputError(
            "ambiguous-record", f"{len(rows)} records begin with {wanted!r}: {listed}", "Give more of the id."
        )
    return rows[0].path if rows else None


def _no_such(ref: str, report: Report, where: str = "") -> InputError:
    named = make_visible(ref.strip())[:80]
    broken = len(report.problems)
    also = f" (files with problems: {broken}, see `gitmem check`)" if broken else ""
    message = f"no record has the id, key or path {named!r}{where}{also}"
    return InputError("no-such-record", message, "Look for it with `gitmem search`.")


def _find_private(vault: OpenVault, database: Database, wanted: str) -> VaultPath | None:
    for record in iter_private(vault, database):
        if wanted in (record.id, record.key) or (_is_prefix(wanted) and record.id.startswith(wanted)):
            return record.path
    return None


def _is_prefix(text: str) -> bool:
    return MIN_PREFIX_CHARS <= len(text) < ID_CHARS and not set(text) - set(ALPHABET)
