"""The notes of the working tree, as a person sees them: read now, committed or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gitmem.disk import iter_files
from gitmem.errors import GitmemError
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass
from gitmem.vault.frontmatter import Note, parse_note
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import Scan, StableReader, scan_records


@dataclass(frozen=True)
class WorkNote:
    """One Markdown file in a lifecycle folder. ``record`` is ``None`` for a person's plain note or with a problem.

    ``note`` holds its properties and body: the record where it is one, ``None`` with a problem.
    """

    path: VaultPath
    data: bytes
    record: Record | None = None
    note: Record | Note | None = None
    problem: Problem | None = None


def scan(vault: OpenVault) -> Scan:
    """Return one look at the metadata of the lifecycle folders. Raises ``UnavailableError`` (``vault-missing``)."""
    return scan_records(vault.layout.repo, vault.clock)


def iter_paths(found: Scan) -> Iterator[str]:
    """Yield the path of every note that the scan saw, folder by folder."""
    for folder, notes in sorted(found.folders.items()):
        for name in notes.decode():
            yield f"{folder}/{name}"


def iter_work_notes(
    vault: OpenVault, found: Scan, holds: Callable[[bytes], bool] = lambda _data: True
) -> Iterator[WorkNote]:
    """Yield every note that the scan saw, read whole; those that can't be read carry their problem.

    Those whose bytes ``holds`` turns down are left out, and cost no more than reading them.
    """
    with StableReader(vault.layout.repo, vault.clock) as read:
        for path in iter_paths(found):
            try:
                data = read(path)
                if not holds(data):
                    continue
                checked = parse_vault_path(path)
            except GitmemError as error:
                yield WorkNote(VaultPath(path), b"", problem=Problem(error.code, error.message, path))
                continue
            yield parse_work_note(checked, data)


def parse_work_note(path: VaultPath, data: bytes) -> WorkNote:
    """Return the note in ``data``, with its problem when it can't be read as one."""
    try:
        record = parse_record(path, data)
    except GitmemError as error:
        return WorkNote(path, data, problem=Problem(error.code, error.message, path, error.fields.get("line")))
    return WorkNote(path, data, record, record or parse_note(data))


def iter_link_targets(vault: OpenVault) -> Iterator[str]:
    """Yield every file of the vault that a link may mean; hidden files and folders left out."""
    for path in iter_files(vault.layout.repo, skips=is_hidden_name):
        if not is_hidden_name(os.path.basename(path)):
            yield path


def is_hidden_name(name: str) -> bool:
    """Tell whether a file or folder is hidden from Obsidian, and so no note."""
    return name.startswith(".")
