"""Many writers on one vault (design section 12): their rate beside one writer's, and the longest wait for the lock.

    python tests/bench/writers.py [--records 1000] [--rounds 3]

One writer and eight take turns in one run, each of them a process of its own that writes durable observations; read the
ratio. The longest wait is that of any operation in any round, from asking for the vault to having it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gitmem.model.record import Draft
from gitmem.service.memory import Memory
from gitmem.service.vault import OpenVault, Options
from gitmem.transaction.receipts import iter_receipts

from ground import PERSON, Place, make_place

PROCESSES = 8
OPERATIONS = 50
WAIT_S = 120.0


def print_rows(place: Place, records: int, rounds: int = 3) -> None:
    """Measure on ``place``, a vault of ``records`` records, and print the rows. Raises where anything was lost."""
    one, eight, waits = [], [], []
    for number in range(rounds):
        rate, _waits = write_at_once(place, 1, OPERATIONS, f"{number} alone")
        one.append(rate)
        rate, found = write_at_once(place, PROCESSES, OPERATIONS, f"{number} of eight")
        eight.append(rate)
        waits += found
    ours, alone = statistics.median(eight), statistics.median(one)
    waits.sort()
    name = f"{PROCESSES} writers x {OPERATIONS} observes / one writer, a second"
    print(f"{records:>8}  {name:<44} {ours:10.2f} {alone:>10.2f}  {f'{ours / alone:.2f} x':<20} >= 0.65 x", flush=True)
    p95, longest = waits[int(len(waits) * 0.95)] * 1000, waits[-1] * 1000
    name = "longest wait of a writer (95th percentile)"
    print(f"{records:>8}  {name:<44} {longest:10.2f} {p95:>10.2f}  {'':<20} <= 1,000 ms", flush=True)


def write_at_once(place: Place, processes: int, operations: int, name: str) -> tuple[float, list[float]]:
    """Let ``processes`` write ``operations`` each; return operations a second, and the seconds that each waited.

    Raises ``AssertionError`` unless every operation has its commit, of one record and views, and its receipt.
    """
    before = int(place.git("rev-list", "--count", "HEAD"))
    started, start = os.pipe()
    reports, report = os.pipe()
    children = [
        _fork(lambda number=number: _write(place, f"{name} {number}", operations, (started, start), report))  # type: ignore[misc]
        for number in range(processes)
    ]
    os.close(started)
    os.close(report)
    begin_s = time.perf_counter()
    os.close(start)
    with open(reports, "rb") as file:
        found = [json.loads(line) for line in file.read().splitlines()]
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a writer failed"
    rate = processes * operations / (max(end for end, _waits in found) - begin_s)
    _check(place, before, processes * operations)
    return rate, [wait for _end, waits in found for wait in waits]


def _write(place: Place, name: str, operations: int, gate: tuple[int, int], report: int) -> None:
    asked_s = 0.0
    waits: list[float] = []

    def look(step: str) -> None:
        nonlocal asked_s
        if step == "lock":
            asked_s = time.perf_counter()
        elif step == "marker":
            waits.append(time.perf_counter() - asked_s)

    os.close(gate[1])
    with Memory(OpenVault(place.entry, options=Options(probe=look, lock_wait_s=WAIT_S))) as memory:
        memory.vault.head()
        os.read(gate[0], 1)  # all start at one moment
        for number in range(operations):
            memory.observe(_draft(f"{name} {number}"), PERSON)
    os.write(report, json.dumps([time.perf_counter(), waits]).encode() + b"\n")


def _check(place: Place, before: int, operations: int) -> None:
    count = int(place.git("rev-list", "--count", "HEAD")) - before
    assert count == operations, f"{count} commits of {operations} operations"
    receipts = [one.commit for one in iter_receipts(OpenVault(place.entry).layout)][-operations:]
    commits = place.git("rev-list", "--reverse", f"-{operations}", "HEAD").split()
    assert receipts == commits, "receipts are not the commits"
    log = place.git("log", f"-{operations}", "--format=%x00", "--name-only")
    for block in log.split("\0")[1:]:
        notes = [path for path in block.split("\n") if path.endswith(".md") and path != "INDEX.md"]
        assert len(notes) == 1, f"a mixed commit: {notes}"


def _draft(title: str) -> Draft:
    return Draft(title, body="The cache holds availability for five minutes.", evidence=("run:bench",))


def _fork(work: object) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()  # type: ignore[operator]
            code = 0
        finally:
            os._exit(code)
    return pid


def main() -> None:
    """Measure one generated vault and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_rows(make_place(Path(folder), wanted.records), wanted.records, wanted.rounds)


if __name__ == "__main__":
    main()
