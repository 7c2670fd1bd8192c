"""The crash journal: what an operation is about to do, flushed before it does it. Design step 5.

One file an operation in ``gitmem/journal`` of Git's common directory, made by atomic replacement and dropped when the
operation is whole. It holds hashes, never content, so a refused secret can't linger in it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
from collections.abc import Iterator

from gitmem.disk import NotAFileError, ensure_folder, read_regular, replace_file
from gitmem.errors import GitmemError, StateError, UnavailableError
from gitmem.model.ids import CommitId, Fingerprint, OpId, parse_op_id
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.model.change import Receipt
from gitmem.values import dataclass, replace
from gitmem.vault.layout import FOLDER_IN_GIT as FOLDER

_FOLDER = "journal"

FORMAT = 1
"""The newest form of a journal that this gitmem settles."""


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


def save_journal(common_dir: str, journal: Journal) -> None:
    """Write the journal into the repository whose common directory is ``common_dir``; durable."""
    ensure_folder(journal_folder(common_dir))
    replace_file(_file(common_dir, journal.op_id), _format(journal))


def drop_journal(common_dir: str, op_id: OpId) -> None:
    """Remove the journal. Not flushed: should it come back after a power cut, recovery finds nothing left to do."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_file(common_dir, op_id))


def find_journals(common_dir: str) -> list[str]:
    """Return the names of the journals that wait for recovery, sorted; half-made ones are removed.

    Called under the vault lock only: a half-made journal of an operation under way must stay.
    """
    names = []
    for name in _names(common_dir):
        if name.endswith(".tmp"):
            with contextlib.suppress(IsADirectoryError):  # not of our making
                os.unlink(os.path.join(journal_folder(common_dir), name))
        elif name.endswith(".json"):
            names.append(name)
    return sorted(names)


def list_journals(common_dir: str) -> list[str]:
    """Return the names of the journals there are, without the lock, sorted; reads only.

    Raises ``UnavailableError`` (``journal-unreadable``).
    """
    return sorted(name for name in _names(common_dir) if name.endswith(".json"))


def iter_waiting(common_dir: str) -> Iterator[Journal]:
    """Yield, without the lock, the journals of operations under way or abandoned; what can't be read is passed over."""
    with contextlib.suppress(GitmemError):
        for name in list_journals(common_dir):
            with contextlib.suppress(OSError, ValueError, GitmemError):  # it may be dropped at this very moment
                yield load_journal(common_dir, name)


def is_pending(common_dir: str) -> bool:
    """Tell, without the lock, whether an operation is under way or was abandoned.

    Raises ``UnavailableError`` (``journal-unreadable``).
    """
    return any(name.endswith((".json", ".tmp")) for name in _names(common_dir))


def load_journal(common_dir: str, name: str) -> Journal:
    """Return one journal. It lies in the repository, and so may have come with it from somebody else.

    Raises ``ValueError`` when it can't be understood, or names a file outside the vault, ``UnavailableError``
    (``journal-unreadable``) when the system does not let it be read, ``StateError`` (``journal-too-new``) for one that
    a newer gitmem left.
    """
    from gitmem.transaction.receipts import receipt_from_json

    value = _read(os.path.join(journal_folder(common_dir), name))
    try:
        is_new = value.get("format", FORMAT) > FORMAT
    except (AttributeError, TypeError) as error:
        raise ValueError(repr(error)) from None
    if is_new:
        raise StateError(
            "journal-too-new",
            "a newer gitmem left an operation unfinished",
            "Run any command of that gitmem in the vault; it settles the operation.",
        )
    try:
        op_id = parse_op_id(value["op_id"])
        return Journal(
            op_id=op_id,
            branch=value["branch"],
            base=CommitId(value["base"]),
            edits=tuple(_parse_edit(edit, op_id) for edit in value["edits"]),
            receipt=receipt_from_json(value["receipt"]),
        )
    except (GitmemError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(repr(error)) from None


def set_aside(common_dir: str, name: str) -> str:
    """Rename a journal that can't be understood so that it is kept but no longer waits. Returns where it is."""
    folder = journal_folder(common_dir)
    os.replace(os.path.join(folder, name), os.path.join(folder, name + ".unreadable"))
    return f".git/{FOLDER}/{_FOLDER}/{name}.unreadable"


def journal_folder(common_dir: str) -> str:
    """Return the folder of a repository's journals. Every home and worktree that knows the repository shares it."""
    return os.path.join(common_dir, FOLDER, _FOLDER)


def _names(common_dir: str) -> list[str]:
    try:
        return os.listdir(journal_folder(common_dir))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(error) from error


def _read(path: str) -> Any:
    try:
        return json.loads(read_regular(path))
    except (NotAFileError, RecursionError) as error:
        raise ValueError(str(error)) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ValueError(error.strerror) from None
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> UnavailableError:
    return UnavailableError(
        "journal-unreadable",
        f"whether an operation was abandoned can't be told: {error.strerror or error}",
        f"Look at what lies in .git/{FOLDER}/{_FOLDER} and who may read it.",
    )


def _file(common_dir: str, op_id: OpId) -> str:
    return os.path.join(journal_folder(common_dir), f"{op_id}.json")


def _parse_edit(value: dict[str, Any], op_id: OpId) -> JournalEdit:
    edit = JournalEdit(**value)
    folder, slash, name = edit.temp.rpartition("/")
    is_beside = folder + slash == edit.path[: len(edit.path) - len(edit.path.rpartition("/")[2])]
    if not is_beside or not re.fullmatch(rf"\.gitmem-{re.escape(op_id)}-\d+\.tmp", name):
        raise ValueError(f"{edit.temp} is no name of a temporary file")
    return replace(edit, path=parse_vault_path(edit.path))


def _format(journal: Journal) -> bytes:
    from gitmem.transaction.receipts import receipt_to_json

    value = {
        "format": FORMAT,
        "op_id": journal.op_id,
        "branch": journal.branch,
        "base": journal.base,
        "edits": [vars(edit) for edit in journal.edits],
        "receipt": receipt_to_json(journal.receipt),
    }
    return json.dumps(value, ensure_ascii=False).encode()
