"""How a read of an unchanged vault grows: beside ``git status``, note by note, and with eight threads at once."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from gitmem.catalog.reconcile import Report
from gitmem.service.reading import ask
from gitmem.service.vault import OpenVault

from ground import Place, run_git

THREADS = 8
READS = 5
SETTLED_S = 3.2
"""Folders count as settled after three seconds; before that they are gone through again."""
Row = Callable[[int, str, float, "float | None", str, str], None]


def print_scale(place: Place, records: int, rounds: int, row: Row) -> None:
    """Print the rows of one vault."""
    with place.open() as memory:
        look(memory.vault)
        time.sleep(SETTLED_S)
        report = look(memory.vault)
        ours, strict, git = [], [], []
        for _ in range(rounds):
            ours.append(time_ms(lambda: look(memory.vault)))
            git.append(time_ms(lambda: run_git(place.root, "status", "--porcelain")))
            strict.append(time_ms(lambda: look(memory.vault, strict=True)))
    ours_ms, strict_ms, git_ms = (statistics.median(times) for times in (ours, strict, git))
    goal = "<= 1.1 x" if records >= 100_000 else ""
    name = f"unchanged reconcile ({report.tier}) / git status"
    row(records, name, ours_ms, git_ms, f"{ours_ms / git_ms:.2f} x", goal)
    row(records, "the same, strict / git status", strict_ms, git_ms, f"{strict_ms / git_ms:.2f} x", "")
    together, alone = (statistics.median(threads_ms(place, number) for _ in range(3)) for number in (THREADS, 1))
    row(
        records,
        f"{THREADS} threads x {READS} reads / one thread x {READS}",
        together,
        alone,
        f"{together / alone:.2f} x",
        "",
    )


def look(vault: OpenVault, *, strict: bool = False) -> Report:
    """Reconcile, and return the report."""
    return ask(vault, lambda _database, report: report, strict=strict)


def threads_ms(place: Place, number: int) -> float:
    """Return how long so many threads, each with the vault open for itself, take for their reads."""
    with ExitStack() as stack:
        vaults = [stack.enter_context(place.open()).vault for _ in range(number)]
        for vault in vaults:
            look(vault)
        threads = [threading.Thread(target=lambda vault=vault: [look(vault) for _ in range(READS)]) for vault in vaults]
        return time_ms(lambda: [thread.start() for thread in threads] + [thread.join() for thread in threads])


def time_ms(work: Callable[[], object]) -> float:
    """Return how long ``work`` takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000
