"""Bringing the search catalog in step with the work tree, at a cost that is bounded however large the vault is."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report
    from gitmem.vault.scan import Scan


def bring_in_step(vault: OpenVault, *, strict: bool) -> Report:
    """Look at the work tree, read what changed, and return how it went. Call it inside ``Database.attempt``.

    With ``strict``, in a vault of no more than ``Options.max_strict_notes`` notes, and where the catalog can't remember
    what was looked at, every note is looked at; else the folders' times count and that many notes (ADR 0022). Raises
    what ``scan_records`` and ``reconcile`` raise.
    """
    from gitmem.catalog.reconcile import reconcile
    from gitmem.policy.secrets import redact
    from gitmem.relevance.terms import extract_terms
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import StableReader

    database, most = vault.database, vault.options.max_strict_notes
    scan = _look(vault, database, most, strict=strict)
    with StableReader(vault.layout.repo, vault.clock) as read:
        return reconcile(database, scan, read, parse_record, extract_terms, redact, max_strict_notes=most)


def rebuild(vault: OpenVault, progress: Callable[[int, int], None]) -> Report:
    """Make the catalog afresh, in one go: until it is done, others read what was there. Inside ``Database.attempt``.

    ``progress(done, total)`` is told of each note. Raises as ``bring_in_step`` does.
    """
    from gitmem.catalog.reconcile import rebuild as make
    from gitmem.policy.secrets import redact
    from gitmem.relevance.terms import extract_terms
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import StableReader, scan_records

    scan = scan_records(vault.layout.repo, vault.clock)
    done = 0

    def count(files: int) -> None:
        nonlocal done
        done += files
        progress(done, scan.looked_at)

    with StableReader(vault.layout.repo, vault.clock) as read:
        intake = (read, parse_record, extract_terms, redact, vault.options.max_strict_notes, count)
        return make(vault.database, scan, *intake)


def _look(vault: OpenVault, database: Database, most: int, *, strict: bool) -> Scan:
    from gitmem.vault.scan import scan_records

    root, clock = vault.layout.repo, vault.clock
    if not strict and not database.in_memory:
        from gitmem.catalog.folders import load_known, save_place
        from gitmem.vault.folder_times import plan_slice, scan_by_times

        known = load_known(database, most)
        if known is not None:
            turn = plan_slice(known, most)
            # Before the look: where it can't be remembered whose turn it was, everybody's turn comes every time.
            if save_place(database, turn.end):
                return scan_by_times(root, clock, known, turn)
    return scan_records(root, clock)
