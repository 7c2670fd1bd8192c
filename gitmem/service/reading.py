"""Asking the search catalog: brought in step with the working tree first, in one go with the question.

What every reading verb has in common is here: abandoned operations are settled, the catalog is reconciled, problems of
files become diagnostics, and a memory that can't be read gets a status that says so (INV-NEVER-SILENT).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gitmem.errors import InputError, IntegrityError, StateError, UnavailableError
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.vault import OpenVault

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report

T = TypeVar("T")
WITHHELD = ("scanner-failed",)


def ask(vault: OpenVault, question: Callable[[Database, Report], T]) -> T:
    """Return what ``question`` returns on a catalog that is in step with the working tree.

    Raises ``UnavailableError``: ``vault-missing``, ``scanner-failed``.
    """
    from gitmem.catalog.reconcile import reconcile
    from gitmem.policy.secrets import redact
    from gitmem.relevance.terms import extract_terms
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import StableReader, scan_records

    database = vault.database

    def work() -> T:
        scan = scan_records(vault.layout.repo, vault.clock)
        with StableReader(vault.layout.repo, vault.clock) as read:
            report = reconcile(database, scan, read, parse_record, extract_terms, redact)
        return question(database, report)

    with database.lock:
        return database.attempt(work)


def answer(vault: OpenVault, question: Callable[[Database, Report, CommitId], Answer]) -> Answer:
    """Return ``question``'s answer with the revision and what was settled or is degraded.

    The question is handed the one commit that the whole answer speaks of. The status is ``degraded`` when the catalog
    could only be had in memory. Raises as ``ask`` does.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    found = ask(vault, lambda database, report: question(database, report, head))
    diagnostics = [*settled, *found.diagnostics]
    status = found.status
    if vault.database.degraded:
        diagnostics.append(Problem("catalog-degraded", vault.database.reason))
        status = Status.DEGRADED
    return Answer(status, head, found.hits, found.rows, tuple(diagnostics), found.extra)


def report(read: Callable[[], Answer]) -> Answer:
    """Return ``read``'s answer, or one that says why the memory can't be read and holds nothing of it.

    ``withheld`` when the secret scanner failed (closed), ``unavailable`` when the vault or its repository is missing or
    unfit. Raises ``InputError`` for a question that is not well formed.
    """
    try:
        return read()
    except (UnavailableError, StateError, IntegrityError) as error:
        status = Status.WITHHELD if error.code in WITHHELD else Status.UNAVAILABLE
        return Answer(status, None, diagnostics=(Problem(error.code, error.message),), extra={"hint": error.hint})
    except OSError as error:
        problem = Problem("system-error", f"the system refused: {error}")
        return Answer(
            Status.UNAVAILABLE,
            None,
            diagnostics=(problem,),
            extra={"hint": "See to it and ask again; `gitmem doctor` may help."},
        )


def read_records(vault: OpenVault, paths: Iterable[str]) -> dict[str, tuple[Record, bytes]]:
    """Return the records at ``paths``, reread and masked; what changed or went since the scan is left out."""
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import StableReader

    found = {}
    with StableReader(vault.layout.repo, vault.clock) as read:
        for path in paths:
            with suppress(InputError, StateError):
                data = read(path)
                record = parse_record(parse_vault_path(path), data)
                if record is not None and not record.private:
                    found[path] = mask(record, data)
    return found


def mask(record: Record, data: bytes) -> tuple[Record, bytes]:
    """Return the record and its bytes without the secrets that an edit outside gitmem brought in.

    The fingerprint stays that of the file. A record that is nothing without them keeps only its id and place. Raises
    ``UnavailableError`` (``scanner-failed``): nothing may be shown then.
    """
    from gitmem.policy.secrets import redact
    from gitmem.vault.record_file import parse_record

    text = data.decode("utf-8", "replace")
    clean = redact(text)
    if clean == text:
        return record, data
    try:
        masked = parse_record(record.path, clean.encode())
    except InputError:
        masked = None
    if masked is None or masked.id != record.id:
        masked = Record(record.id, record.path, record.state, "[withheld]", "", record.fingerprint)
    return replace(masked, fingerprint=record.fingerprint), clean.encode()
