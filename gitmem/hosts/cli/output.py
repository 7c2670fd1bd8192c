"""The JSON documents of the command line (design section 9, ``schema/``), made from what the service returned. Pure."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Hit
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.maintenance import Maintenance
from gitmem.model.record import Problem, Record
from gitmem.text import find_hidden

if TYPE_CHECKING:
    from gitmem.service.promote_global import Handed

Document = dict[str, Any]
_NO_TEXT = re.compile("[\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


RECORD_FIELDS = (
    *("id", "path", "title", "summary", "state", "kind", "authority", "tags", "key", "matched", "snippet", "strength"),
    *("spans", "vault", "scope", "uncommitted", "created", "updated", "verified", "valid_from", "valid_until"),
    *("review_after", "marks", "obsidian_url", "problems", "body"),
)
"""What can be asked for of each record; ``body`` is its whole text, which no result has by itself."""


def write_document(receipt: Receipt) -> Document:
    """Return the document of a write, ``write.schema.json``; records in the order of the receipt."""
    return {
        "ok": True,
        "op": receipt.op.value,
        "op_id": receipt.op_id,
        "commit": receipt.commit,
        "changed": receipt.changed,
        "records": [_to_plain(ref, "") for ref in receipt.records],
        "notices": list(receipt.notices),
    }


def handed_document(handed: Handed) -> Document:
    """Return the document of a promotion to the global vault: that of a write here, and what it did there."""
    there = write_document(handed.there)
    told = {name: there[name] for name in ("commit", "changed", "records", "notices")}
    return write_document(handed.here) | {"global": {"vault": handed.name} | told}


def maintain_document(receipt: Receipt, done: Maintenance) -> Document:
    """Return the document of ``maintain``: that of a write, and what was done to the storage as ``maintenance``."""
    return write_document(receipt) | {"maintenance": _to_plain(dataclasses.asdict(done), "")}


def read_document(answer: Answer, repo: str, fields: Sequence[str] = ()) -> Document:
    """Return the document of a read, ``read.schema.json``: hits as records, else rows as they are, in order.

    ``repo`` is the vault's absolute folder, for links that open a record in Obsidian. What the answer carries as a
    whole stands beside ``results``. Where ``fields`` are given, records have these alone, see ``RECORD_FIELDS``.
    """
    document = {
        "status": answer.status.value,
        "revision": answer.revision,
        "results": [
            *(pick_fields(hit, repo, fields) if fields else record_row(hit, repo) for hit in answer.hits),
            *(_result(row, repo) for row in answer.rows),
        ],
        "diagnostics": [_to_plain(problem, repo) for problem in answer.diagnostics],
    }
    return {name: _to_plain(value, repo) for name, value in answer.extra.items()} | document


def error_document(error: GitmemError) -> Document:
    """Return the document of a failure, ``error.schema.json``; the error's named fields stand beside its code."""
    said = {"code": error.code, "message": error.message, "hint": error.hint}
    others = {name: _to_plain(value, "") for name, value in error.fields.items() if name not in said}
    return {"ok": False, "error": said | others}


def record_row(hit: Hit, repo: str) -> Document:
    """Return one record as the results of reads show it. Its body is not in it."""
    record = hit.record
    found: Document = {}
    if hit.strength is not None:
        found = {"strength": hit.strength.value, "spans": _to_plain(hit.spans, repo)}
    if hit.vault is not None:
        repo, found = hit.vault.repo, {**found, "vault": hit.vault.name, "scope": hit.vault.scope}
    return {
        "id": record.id,
        "path": record.path,
        "title": record.title,
        "summary": record.summary,
        "state": record.state.value,
        "kind": record.kind.value if record.kind else None,
        "authority": record.authority.value if record.authority else None,
        "tags": list(record.tags),
        "matched": list(hit.matched),
        "snippet": hit.snippet,
        "uncommitted": hit.uncommitted,
        "created": record.created,
        "updated": record.updated,
        "verified": record.verified,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "review_after": record.review_after,
        "marks": [mark.code for mark in hit.marks],
        "key": record.key,
        "obsidian_url": obsidian_url(repo, record.path),
        "problems": [_to_plain(problem, repo) for problem in record.problems],
        **found,
    }


def pick_fields(hit: Hit, repo: str, fields: Sequence[str]) -> Document:
    """Return those of ``RECORD_FIELDS`` of one record that are named, in the order of ``fields``; ``None`` for none."""
    row = record_row(hit, repo)
    return {name: hit.record.body if name == "body" else row.get(name) for name in fields}


def obsidian_url(repo: str, path: str) -> str:
    """Return the link that opens the file ``path`` of the vault at ``repo`` in Obsidian."""
    return "obsidian://open?path=" + quote(os.fsencode(os.path.join(repo, path)), safe="")


def format_json(document: Document, encoding: str | None) -> str:
    """Return ``document`` as JSON for people and programs.

    Escaped is what ``encoding`` can't say and what would not be seen: bidirectional, invisible, control characters.
    Bytes of a path that are no text are shown as U+FFFD, for which every reader of JSON has a place.
    """
    speaks_unicode = (encoding or "").lower().replace("-", "") == "utf8"
    text = _escape_hidden(_NO_TEXT.sub("\ufffd", json.dumps(document, indent=2, ensure_ascii=False, default=str)))
    return text if speaks_unicode else _NOT_ASCII.sub(lambda run: json.dumps(run[0])[1:-1], text)


def _escape_hidden(text: str) -> str:
    # Only strings hold them: between its strings JSON knows nothing but ASCII, blanks and line feeds.
    pieces, copied = [], 0
    for at in find_hidden(text):
        char = text[at]
        pieces += [text[copied:at], f"\\u{ord(char):04x}" if char < "\x80" else json.dumps(char)[1:-1]]
        copied = at + 1
    return "".join([*pieces, text[copied:]])


def _result(row: Document, repo: str) -> Document:
    """Return a row; what the ``hit`` in it tells stands beside the rest, so that records read alike everywhere."""
    others = {name: _to_plain(value, repo) for name, value in row.items() if name != "hit"}
    return others | (record_row(row["hit"], repo) if "hit" in row else {})


def _to_plain(value: Any, repo: str) -> Any:
    if isinstance(value, Record):
        value = Hit(value)
    if isinstance(value, Hit):
        return record_row(value, repo)
    if isinstance(value, (Problem, RecordRef)):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {str(name): _to_plain(one, repo) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_plain(one, repo) for one in value]
    return value
