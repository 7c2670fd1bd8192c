"""Receipts: one line for each operation that made a commit, appended and flushed. Design step 9.

Receipts are for asking again (the same op id gives the same answer), for telling gitmem's own commits from those that
people made, and for people. Git's history stays the truth: where receipts were lost, it is asked.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator
from typing import Any

from gitmem.clock import format_utc
from gitmem.disk import append_line, ensure_folder, open_regular
from gitmem.git.history import Commit
from gitmem.git.message import OP_ID, parse_message
from gitmem.model.authority import Action
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import CommitId, OpId, RecordId
from gitmem.model.record import State
from gitmem.model.vault_path import VaultPath
from gitmem.vault.layout import VaultLayout

_TAIL_BYTES = 64 << 10


def append_receipt(layout: VaultLayout, receipt: Receipt) -> None:
    """Append ``receipt`` to its month's file; durable."""
    ensure_folder(layout.receipts)
    line = json.dumps(receipt_to_json(receipt), ensure_ascii=False).encode()
    append_line(os.path.join(layout.receipts, f"{receipt.time[:7]}.jsonl"), line)


def find_receipt(layout: VaultLayout, op_id: OpId) -> Receipt | None:
    """Return the receipt of ``op_id``, newest months first, or ``None``."""
    needle = f'"op_id": "{op_id}"'.encode()
    for name in sorted(_names(layout), reverse=True):
        with open_regular(os.path.join(layout.receipts, name)) as file:
            data = file.read()
        if needle in data:
            for line in data.splitlines():
                if needle in line and (receipt := _parse(line)) is not None and receipt.op_id == op_id:
                    return receipt
    return None


def find_last_receipt(layout: VaultLayout) -> Receipt | None:
    """Return the newest receipt, ``None`` when there is none or its line is torn. Reads the end of one file."""
    names = sorted(_names(layout))
    if not names:
        return None
    with open_regular(os.path.join(layout.receipts, names[-1])) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        _head, newline, line = file.read().rstrip(b"\n").rpartition(b"\n")
        if not newline and len(line) < size - 1:  # an operation of very many records
            file.seek(0)
            line = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    return _parse(line)


def iter_receipts(layout: VaultLayout) -> Iterator[Receipt]:
    """Yield the receipts in the order in which they were written; lines that a crash tore are passed over."""
    for name in sorted(_names(layout)):
        with open_regular(os.path.join(layout.receipts, name)) as file:
            for line in file:
                if (receipt := _parse(line)) is not None:
                    yield receipt


def find_first_receipt(layout: VaultLayout) -> Receipt | None:
    """Return the oldest receipt, ``None`` when there is none or its line is torn. Reads one line."""
    for name in sorted(_names(layout)):
        with open_regular(os.path.join(layout.receipts, name)) as file:
            return _parse(file.readline())
    return None


def receipt_of_commit(commit: Commit) -> Receipt | None:
    """Return the receipt of an operation as far as its commit tells: where its records lay is in the tree.

    ``None`` for a commit whose trailers gitmem did not write.
    """
    named = dict(parse_message(commit.message).trailers)
    try:
        op = Action(named.get("Gitmem-Op", ""))
    except ValueError:
        return None
    return Receipt(
        op=op,
        op_id=OpId(named.get(OP_ID, "")),
        commit=commit.id,
        changed=True,
        records=(),
        time=format_utc(datetime.datetime.fromtimestamp(commit.time, datetime.UTC)),
        actor=named.get("Gitmem-Actor", ""),
        surface=named.get("Gitmem-Surface", ""),
        notices=("the receipt was lost; this is what the commit says",),
    )


def receipt_to_json(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt as ``schema/receipt.schema.json`` describes it."""
    return {
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
    )


def _parse_ref(value: dict[str, Any]) -> RecordRef:
    state = value["state"]
    return RecordRef(RecordId(value["id"]), VaultPath(value["path"]), None if state is None else State(state))


def _parse(line: bytes) -> Receipt | None:
    try:
        return receipt_from_json(json.loads(line))
    except (KeyError, TypeError, ValueError):
        return None


def _names(layout: VaultLayout) -> list[str]:
    try:
        return [name for name in os.listdir(layout.receipts) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []
