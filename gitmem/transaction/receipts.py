"""Receipts: one line for each operation that made a commit, appended and flushed. Design step 9.

So that a retry gets the same answer, a named operation that had nothing to do has one too, in a folder of its own.

Receipts are for asking again (the same op id gives the same answer), for telling gitmem's own commits from those that
people made, and for people. Git's history stays the truth: where receipts were lost, it is asked.
Where they can't be read, ``UnavailableError`` (``receipts-unreadable``) is raised.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Iterator

from gitmem.disk import append_line, ensure_folder, open_regular
from gitmem.errors import UnavailableError
from gitmem.model.authority import Action
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import CommitId, OpId, RecordId
from gitmem.model.record import State
from gitmem.model.vault_path import VaultPath
from gitmem.patterns import late
from gitmem.typed import Any, BinaryIO
from gitmem.values import dataclass
from gitmem.vault.layout import VaultLayout

_LINE = late(rb'\{"op": "[a-z-]+", "op_id": "[^"]+", "commit": "[0-9a-f]{40}", .*\}')
_IN_BASELINE = b'"state": "baseline"'
_TAIL_BYTES = 64 << 10
_SEEN_BYTES = 512
_MAX_SEEN = 64


def append_receipt(layout: VaultLayout, receipt: Receipt) -> None:
    """Append ``receipt`` to its month's file; durable. One without a commit goes where only ``find_receipt`` looks.

    Raises ``OSError``.
    """
    folder = layout.receipts if receipt.commit is not None else layout.unchanged
    ensure_folder(folder)
    line = json.dumps(receipt_to_json(receipt), ensure_ascii=False).encode()
    append_line(os.path.join(folder, f"{receipt.time[:7]}.jsonl"), line)


def find_receipt(layout: VaultLayout, op_id: OpId) -> Receipt | None:
    """Return the receipt of ``op_id``, of one that changed nothing too, newest months first, or ``None``."""
    needle = f'"op_id": "{op_id}"'.encode()
    for folder in (layout.receipts, layout.unchanged):
        for name in sorted(_names(folder), reverse=True):
            with _open(folder, name) as file:
                data = file.read()
            if needle in data:
                for line in data.splitlines():
                    if needle in line and (receipt := _parse(line)) is not None and receipt.op_id == op_id:
                        return receipt
    return None


def find_latest(layout: VaultLayout, ids: Iterable[RecordId]) -> dict[RecordId, Receipt]:
    """Return for each of ``ids`` the newest receipt that names the record; those that none names are left out.

    Where a line that may name one is torn or garbled, the record counts as named by none.
    """
    found: dict[RecordId, Receipt] = {}
    wanted = set(ids)
    for name in sorted(_names(layout.receipts), reverse=True):
        if not wanted:
            break
        with _open(layout.receipts, name) as file:
            data = file.read()
        for one in sorted(wanted):
            at = data.rfind(f'"id": "{one}"'.encode())
            if at < 0:
                continue
            wanted.discard(one)
            end = data.find(b"\n", at)
            receipt = _parse(data[data.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(data)])
            if receipt is not None and any(ref.id == one for ref in receipt.records):
                found[one] = receipt
    return found


def list_baseline_receipts(layout: VaultLayout) -> dict[RecordId, Receipt]:
    """Return the newest receipt of each record that it left in the baseline.

    Lines that can name none are not parsed, and where a line is torn or garbled, so is what it may have named.
    """
    ids = {
        ref.id
        for name in sorted(_names(layout.receipts))
        for receipt in _iter_holding(layout, name, _IN_BASELINE)
        for ref in receipt.records
        if ref.state is State.BASELINE
    }
    latest = find_latest(layout, ids)
    return {
        one: receipt
        for one, receipt in latest.items()
        if any(ref.id == one and ref.state is State.BASELINE for ref in receipt.records)
    }


def iter_holding(layout: VaultLayout, month: str, needle: bytes) -> Iterator[Receipt]:
    """Yield the receipts of one ``month`` (``2026-11``) whose line holds ``needle``, oldest first; parses no others."""
    name = f"{month}.jsonl"
    return _iter_holding(layout, name, needle) if name in _names(layout.receipts) else iter(())


def iter_naming(layout: VaultLayout, record_id: RecordId) -> Iterator[Receipt]:
    """Yield the receipts that name one record, oldest first; parses no others."""
    needle = f'"id": "{record_id}"'.encode()
    for name in sorted(_names(layout.receipts)):
        yield from _iter_holding(layout, name, needle)


def find_last_of(layout: VaultLayout, action: Action) -> Receipt | None:
    """Return the newest receipt of an operation of ``action`` that made a commit, ``None`` for none.

    Torn lines are passed over.
    """
    needle = f'{{"op": "{action.value}", '.encode()
    for name in sorted(_names(layout.receipts), reverse=True):
        for receipt in reversed(tuple(_iter_holding(layout, name, needle))):
            return receipt
    return None


def find_last_receipt(layout: VaultLayout) -> Receipt | None:
    """Return the newest receipt, ``None`` when there is none or its line is torn. Reads the end of one file."""
    names = sorted(_names(layout.receipts))
    if not names:
        return None
    with _open(layout.receipts, names[-1]) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        _head, newline, line = file.read().rstrip(b"\n").rpartition(b"\n")
        if not newline and len(line) < size - 1:  # an operation of very many records
            file.seek(0)
            line = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    return _parse(line)


def iter_receipts(layout: VaultLayout) -> Iterator[Receipt]:
    """Yield the receipts in the order in which they were written; lines that a crash tore are passed over."""
    for name in sorted(_names(layout.receipts)):
        with _open(layout.receipts, name) as file:
            for line in file:
                if (receipt := _parse(line)) is not None:
                    yield receipt


def find_first_receipt(layout: VaultLayout) -> Receipt | None:
    """Return the oldest receipt, ``None`` when there is none or its line is torn. Reads one line."""
    for name in sorted(_names(layout.receipts)):
        with _open(layout.receipts, name) as file:
            return _parse(file.readline())
    return None


def are_whole(layout: VaultLayout) -> bool:
    """Tell whether every line is a receipt of a commit: a torn or garbled one may have been the one looked for."""
    for name in _names(layout.receipts):
        with _open(layout.receipts, name) as file:
            if not all(_LINE.fullmatch(line) for line in file.read().splitlines()):
                return False
    return True


def receipt_to_json(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt as ``schema/receipt.schema.json`` describes it."""
    value = {
        "op": receipt.op.value,
        "op_id": receipt.op_id,
        "commit": receipt.commit,
        "changed": receipt.changed,
        "time": receipt.time,
        "surface": receipt.surface,
        "actor": receipt.actor,
        "request": receipt.request,
        "records": [{"id": ref.id, "path": ref.path, "state": ref.state} for ref in receipt.records],
        "notices": list(receipt.notices),
    }
    return value | {"session": receipt.session} if receipt.session else value


def receipt_from_json(value: dict[str, Any]) -> Receipt:
    """Return the receipt that ``receipt_to_json`` made. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
    return Receipt(
        op=Action(value["op"]),
        op_id=OpId(value["op_id"]),
        commit=None if value["commit"] is None else CommitId(value["commit"]),
        changed=value["changed"],
        records=tuple(_parse_ref(ref) for ref in value["records"]),
        time=value["time"],
        actor=value["actor"],
        surface=value["surface"],
        request=value.get("request", ""),
        notices=tuple(value["notices"]),
        session=value.get("session", ""),
    )


@dataclass(frozen=True)
class _Seen:
    """What was found in a file up to ``end``, just before which its bytes were ``tail``."""

    inode: int
    end: int
    tail: bytes
    found: tuple[Receipt, ...]


_seen: dict[tuple[str, bytes], _Seen] = {}


def _iter_holding(layout: VaultLayout, name: str, needle: bytes) -> Iterator[Receipt]:
    """Yield the receipts of one file whose line holds ``needle``.

    Files of receipts only grow: what this process has looked through is not read again, unless it is not as it was.
    """
    key = (os.path.join(layout.receipts, name), needle)
    with _open(layout.receipts, name) as file:
        inode = os.fstat(file.fileno()).st_ino
        known = _seen.get(key) or _Seen(inode, 0, b"", ())
        file.seek(known.end - len(known.tail))
        if inode != known.inode or file.read(len(known.tail)) != known.tail:
            known = _Seen(inode, 0, b"", ())
            file.seek(0)
        data = file.read()
    whole = data.rfind(b"\n") + 1
    found = known.found + tuple(_find_holding(data[:whole], needle))
    if len(_seen) >= _MAX_SEEN:
        _seen.clear()
    if whole:
        _seen[key] = _Seen(inode, known.end + whole, data[max(0, whole - _SEEN_BYTES) : whole], found)
    yield from found
    yield from _find_holding(data[whole:], needle)


def _find_holding(data: bytes, needle: bytes) -> Iterator[Receipt]:
    at = data.find(needle)
    while at >= 0:
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        if (receipt := _parse(data[data.rfind(b"\n", 0, at) + 1 : end])) is not None:
            yield receipt
        at = data.find(needle, end)


def _parse_ref(value: dict[str, Any]) -> RecordRef:
    state = value["state"]
    return RecordRef(RecordId(value["id"]), VaultPath(value["path"]), None if state is None else State(state))


def _parse(line: bytes) -> Receipt | None:
    try:
        return receipt_from_json(json.loads(line))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(folder, error) from error


@contextlib.contextmanager
def _open(folder: str, name: str) -> Iterator[BinaryIO]:
    path = os.path.join(folder, name)
    try:
        if os.path.islink(path):  # nothing is appended to what lies elsewhere
            raise OSError(errno.ELOOP, "a symbolic link", path)
        with open_regular(path) as file:
            yield file
    except OSError as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: str, error: OSError) -> UnavailableError:
    return UnavailableError(
        "receipts-unreadable",
        f"what was done before can't be told: {error.strerror or error}",
        f"Look at what lies in {folder} and who may read it. Receipts may be lost; history then answers.",
    )
