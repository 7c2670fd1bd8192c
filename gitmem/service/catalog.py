"""How the search catalog is, and making it afresh."""

from __future__ import annotations

import os
from collections.abc import Callable

from gitmem.model.answer import Answer, Status
from gitmem.model.record import Problem
from gitmem.service.in_step import rebuild
from gitmem.service.reading import describe_report
from gitmem.service.vault import OpenVault
from gitmem.typed import Any

DEGRADED = "catalog-degraded"


def catalog_status(vault: OpenVault) -> Answer:
    """Return how the search catalog is in ``extra["catalog"]``, as ``describe_catalog`` does; makes none."""
    settled = vault.settle_abandoned()
    catalog = describe_catalog(vault)
    status = Status.DEGRADED if catalog["degraded"] else Status.OK
    return Answer(status, vault.head(), diagnostics=(*settled, *list_problems(catalog)), extra={"catalog": catalog})


def rebuild_catalog(vault: OpenVault, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Answer:
    """Make the search catalog afresh from the work tree; others read what was there until that is done.

    ``progress(done, total)`` is told of each note. ``extra`` has ``catalog`` and ``reconcile``. The status is
    ``degraded`` where the file can't be used, or another process writes to it for longer than is waited: what was made
    is not kept then. Raises ``UnavailableError``: ``vault-missing``, ``scanner-failed``.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    database = vault.database
    database.return_to_file(vault.clock.monotonic_s())
    report = database.attempt(lambda: rebuild(vault, progress))
    catalog = describe_catalog(vault)
    status = Status.DEGRADED if catalog["degraded"] else Status.OK
    diagnostics = (*settled, *list_problems(catalog), *report.problems)
    return Answer(
        status, head, diagnostics=diagnostics, extra={"catalog": catalog, "reconcile": describe_report(report)}
    )


def describe_catalog(vault: OpenVault) -> dict[str, Any]:
    """Return how the catalog is: ``storage`` (``file``, ``memory``, or ``none`` where there is none yet), ``file``,
    ``bytes``, ``notes`` and ``records`` in it, ``degraded``, ``reason`` and ``damage`` as ``Database`` says them.

    Makes no catalog, but replaces a damaged one. ``bytes`` counts the log, too. A note that is no record, or a private
    one, is not among ``records``.
    """
    file = vault.layout.catalog_file
    shown = {"storage": "none", "file": file, "bytes": _measure(file), "notes": 0, "records": 0}
    shown |= {"degraded": False, "reason": "", "damage": ""}
    is_open = "catalog" in vault.__dict__
    if not is_open and (vault.options.memory_catalog or not os.path.lexists(file)):
        return shown
    from gitmem.catalog.query import count_stored

    database = vault.database
    notes, records = database.attempt(lambda: count_stored(database))
    storage = "memory" if database.in_memory else "file"
    shown |= {"storage": storage, "bytes": _measure(file), "notes": notes, "records": records}
    return shown | {"degraded": database.degraded, "reason": database.reason, "damage": database.damage}


def list_problems(catalog: dict[str, Any]) -> tuple[Problem, ...]:
    """Return what a person should know of the catalog that ``describe_catalog`` describes."""
    found = []
    if catalog["degraded"]:
        found.append(Problem(DEGRADED, catalog["reason"]))
    if catalog["damage"]:
        found.append(
            Problem("catalog-replaced", f"the search catalog was damaged and made afresh: {catalog['damage']}")
        )
    return tuple(found)


def _measure(file: str) -> int:
    total = 0
    for name in (file, f"{file}-wal"):
        try:
            total += os.lstat(name).st_size
        except OSError:
            continue
    return total
