"""What an earlier commit holds, looked at without touching the work tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

from gitmem.errors import InputError
from gitmem.model.ids import CommitId, Fingerprint
from gitmem.model.record import FOLDERS, Problem, Record
from gitmem.model.vault_path import VaultPath
from gitmem.service.hidden import Hidden
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, replace
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import MAX_NOTE_BYTES, FolderScan, Scan, content_signature, is_note


@dataclass(frozen=True)
class Past:
    """The notes of one commit. ``scan`` knows them by their content; ``hidden`` is what is private now.

    INV-PRIVATE: what is private now is private in every earlier commit, too.
    """

    vault: OpenVault
    commit: CommitId
    scan: Scan
    blobs: dict[str, Fingerprint]
    hidden: Hidden

    def open(self) -> AbstractContextManager[Callable[[str], bytes]]:
        """Return what reads a note by its path. Raises ``InputError`` (``too-large``,
        ``no-such-record``), ``IntegrityError`` (``object-unreadable``)."""
        return nullcontext(self._read)

    def parse(self, path: VaultPath, data: bytes) -> Record | None:
        """Return the record in ``data`` as ``parse_record`` does."""
        record = parse_record(path, data)
        return replace(record, private=True) if record is not None and record.id in self.hidden else record

    def iter_link_targets(self) -> Iterator[str]:
        """Yield every file of the commit that a link may mean; hidden files and folders left out."""
        files = self.vault.repo.iter_files(self.commit)
        return (path for path, _blob in files if not any(part.startswith(".") for part in path.split("/")))

    def _read(self, path: str) -> bytes:
        if path not in self.blobs:
            raise InputError("no-such-record", f"that commit has no note {path}", "See `gitmem list --as-of`.")
        data = self.vault.repo.read_object(self.blobs[path])
        if len(data) > MAX_NOTE_BYTES:
            message = f"{len(data)} bytes, more than {MAX_NOTE_BYTES}"
            raise InputError("too-large", message, "Split it into several notes.", path=path)
        return data


def scan_commit(vault: OpenVault, commit: CommitId, hidden: Hidden, tops: Iterable[str] = tuple(FOLDERS)) -> Past:
    """Look at the folders of ``commit`` below ``tops``, and at no note.

    Raises ``IntegrityError`` (``object-unreadable``).
    """
    blobs: dict[str, Fingerprint] = {}
    problems: list[Problem] = []
    folders: dict[str, list[str]] = {}
    for top in tops:
        for path, blob in vault.repo.iter_files(commit, top):
            folder, _slash, name = path.rpartition("/")
            if name.endswith(".md") and "/." not in folder and is_note(name, folder, problems):
                blobs[path] = blob
                folders.setdefault(folder, []).append(name)
    scans = {
        folder: FolderScan("/".join(names), b"".join(content_signature(blobs[f"{folder}/{name}"]) for name in names))
        for folder, names in folders.items()
    }
    return Past(vault, commit, Scan(vault.clock.time_ns(), scans, tuple(problems)), blobs, hidden)
