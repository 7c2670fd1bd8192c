"""Print the figures of the design's section 12 that exist so far: ratios of medians, measured side by side in one run.

    python tests/bench/run.py [--records 1000 10000 100000] [--rounds 15] [--only write]

Nothing here is timed in the test suite; absolute times depend on the machine, so read the ratios.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pygit2
from scale import print_scale

from gitmem.git.history import read_commit
from gitmem.git.repo import open_repo
from gitmem.git.trees import diff_trees
from gitmem.model.record import Draft
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.reading import ask

from ground import PERSON, Place, copy_place, find_place, make_note, make_place, run_git
from history import measure_history
from writers import print_rows

MAX_SHARED = 10_000
"""The largest vault in which eight writers are timed: there are 1,350 operations in it."""
_WALK = """
const fs = require("fs"), path = require("path"); let n = 0;
const walk = (d) => { for (const e of fs.readdirSync(d, {withFileTypes: true})) {
  const p = path.join(d, e.name); if (e.isDirectory()) walk(p); else { fs.lstatSync(p, {bigint: true}); n++; } } };
const times = []; for (let i = 0; i < ROUNDS; i++) { const t = process.hrtime.bigint();
  for (const d of ["baseline", "observations", "promoted", "retired"]) walk(path.join(process.argv[1], d));
  times.push(Number(process.hrtime.bigint() - t) / 1e6); }
console.log(JSON.stringify(times));
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=("read", "scale", "write", "history"), help="leave out the other rows")
    parser.add_argument(
        "--keep", type=Path, help="keep the generated vaults in this folder, and use those that are there"
    )
    wanted = parser.parse_args()
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"Python {platform.python_version()}, {git}, {platform.system()}, medians of {wanted.rounds}\n")
    print(f"{'records':>8}  {'what':<44} {'gitmem':>10} {'against':>10}  ratio        goal")
    for records in wanted.records:
        if wanted.only in (None, "history"):
            with tempfile.TemporaryDirectory() as folder:
                print_history(Path(folder), records, wanted.rounds)
        if wanted.only == "history":
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = (
                find_place(wanted.keep / f"v{records}", records) if wanted.keep else make_place(Path(folder), records)
            )
            if wanted.only == "scale":
                print_scale(place, records, wanted.rounds, row)
                continue
            if wanted.only != "write":
                measure_reading(place, records, wanted.rounds)
            if wanted.only != "read":
                measure_writing(place, Path(folder), records, wanted.rounds)


def print_history(folder: Path, commits: int, rounds: int) -> None:
    """Print the row of one record's history among so many commits."""
    ours, theirs = measure_history(folder, commits, rounds)
    name = "history of one record / git log --follow"
    row(commits, name, ours, theirs, f"{theirs / ours:.1f} x faster", ">= 10 x faster")


def measure_reading(place: Place, records: int, rounds: int) -> None:
    """Print the rows of one vault that is read."""
    first_s = first_catalog(place)
    row(records, "first search catalog", first_s * 1000, None, f"{records / first_s:,.0f} records/s", ">= 10,000/s")
    ours, node = unchanged_reconcile(place, rounds)
    ratio = f"{ours / node:.2f} x" if node else "no node here"
    row(records, "unchanged reconcile / Node readdir+lstat", ours, node, ratio, "<= 0.85 x")
    print_scale(place, records, rounds, row)
    edited = one_edit(place, rounds)
    row(records, "one file edited outside / unchanged", edited, ours, f"{edited / ours:.2f} x", "<= 1.15 x")
    p50, p95 = warm_search(place, rounds)
    row(records, "warm search beside the reconcile, p50", p50, None, "", "<= 6 ms")
    row(records, "warm search beside the reconcile, p95", p95, None, "", "<= 15 ms")
    for what, fits in (("some fit", True), ("none fits", False)):
        p50, p95 = warm_recall(place, rounds, fits=fits)
        row(records, f"recall of a prompt that {what}, p50", p50, None, "beside", "")
        row(records, f"recall of a prompt that {what}, p95", p95, None, "the reconcile", "")


def measure_writing(place: Place, folder: Path, records: int, rounds: int) -> None:
    """Print the rows of one vault that is written to."""
    for fsync in (False, True):
        ours, theirs = observe_against_git(place, folder, rounds, fsync=fsync)
        name = f"durable observe / 4 git commands{', fsync too' if fsync else ''}"
        row(records, name, ours, theirs, f"{theirs / ours:.2f} x faster", ">= 2.5 x faster")
    ours, theirs = inspection(place, rounds)
    row(
        records,
        "whole difference / libgit2's tree diff",
        ours,
        theirs,
        f"{theirs / ours:.1f} x faster",
        ">= 5 x faster",
    )
    before, after = growth(place, 100)
    row(records, "growth per observe, KiB (loose, packed)", before, after, "", "<= 60, <= 6")
    if records <= MAX_SHARED:
        print_rows(place, records)


def row(records: int, what: str, ours: float, against: float | None, ratio: str, goal: str) -> None:
    """Print one row; times in milliseconds."""
    other = "" if against is None else f"{against:10.2f}"
    print(f"{records:>8}  {what:<44} {ours:10.2f} {other:>10}  {ratio:<20} {goal}", flush=True)


def median_ms(work: Callable[[int], object], rounds: int) -> float:
    """Return the median time of ``work(round)`` in milliseconds."""
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def first_catalog(place: Place) -> float:
    """Return the seconds that the first reconcile takes."""
    for file in Path(place.entry.runtime).glob("catalog.sqlite*"):
        file.unlink()
    with place.open() as memory:
        start = time.perf_counter()
        ask(memory.vault, lambda _database, report: report)
        return time.perf_counter() - start


def unchanged_reconcile(place: Place, rounds: int) -> tuple[float, float | None]:
    """Return the medians of an unchanged reconcile and of Node's walk, in rounds that take turns."""
    node = shutil.which("node")
    with place.open() as memory:
        ask(memory.vault, lambda _database, report: report)
        ours, theirs = [], []
        for _ in range(3):
            ours.append(median_ms(lambda _n: ask(memory.vault, lambda _database, report: report), rounds))
            if node:
                program = _WALK.replace("ROUNDS", str(rounds))
                done = subprocess.run(
                    [node, "-e", program, str(place.root)], capture_output=True, text=True, check=True
                )
                theirs.append(statistics.median(json.loads(done.stdout)))
    return statistics.median(ours), statistics.median(theirs) if theirs else None


def one_edit(place: Place, rounds: int) -> float:
    """Return the median of a reconcile after one file was edited outside."""
    notes = sorted(place.root.glob("observations/**/*.md"))
    times = []
    with place.open() as memory:
        ask(memory.vault, lambda _database, report: report)
        for number in range(rounds):
            note = notes[number * 7 % len(notes)]
            text = note.read_bytes()
            note.write_bytes(text + b"An edit.\n")
            time.sleep(0.15)  # older than the 100 ms in which a file may still be in motion
            start = time.perf_counter()
            ask(memory.vault, lambda _database, report: report)
            times.append((time.perf_counter() - start) * 1000)
            note.write_bytes(text)
    return statistics.median(times)


def warm_search(place: Place, rounds: int) -> tuple[float, float]:
    """Return the median and the 95th percentile of searches of two to five words, less a reconcile just before."""
    with place.open() as memory:
        return _beside_reconcile(memory, rounds, lambda words: memory.search(" ".join(words), Filters()))


def warm_recall(place: Place, rounds: int, *, fits: bool) -> tuple[float, float]:
    """Return the same of recalls of prompts that some records fit, or none does."""
    asks = "how do {} work?" if fits else "bake a cake with walnuts, not with {}, and marzipan on top of the icing"

    def ask_one(words: list[str]) -> None:
        answer = memory.recall(asks.format(" ".join(words) if fits else words[0]))
        assert fits or not answer.hits, asks

    with place.open() as memory:
        return _beside_reconcile(memory, rounds, ask_one)


def _beside_reconcile(memory: Memory, rounds: int, ask_one: Callable[[list[str]], object]) -> tuple[float, float]:
    source = random.Random(7)
    times = []
    memory.search("cache", Filters())
    for number in range(max(rounds, 40)):
        _path, data = make_note(source, number)
        words = source.sample(data.decode().split("---\n")[2].split(), 2 + number % 4)
        start = time.perf_counter()
        ask(memory.vault, lambda _database, report: report)
        middle = time.perf_counter()
        ask_one(words)
        times.append((time.perf_counter() - middle - (middle - start)) * 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)]


def observe_against_git(place: Place, folder: Path, rounds: int, *, fsync: bool) -> tuple[float, float]:
    """Return the medians of one observe and of status, add, diff --cached and commit of the same files, in turns."""
    copy = copy_place(place, folder / f"copy-{fsync}")
    setting = ("-c", "core.fsync=all") if fsync else ()
    ours, theirs = [], []
    with place.open() as memory:
        memory.observe(_draft(-1), PERSON)
        for number in range(rounds):
            start = time.perf_counter()
            receipt = memory.observe(_draft(number), PERSON)
            ours.append((time.perf_counter() - start) * 1000)
            files = place.git("show", "--name-only", "--format=", str(receipt.commit)).split()
            for name in files:
                target = copy / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((place.root / name).read_bytes())
            start = time.perf_counter()
            run_git(copy, "status", "--porcelain")
            run_git(copy, *setting, "add", "--", *files)
            run_git(copy, "diff", "--cached", "--stat")
            run_git(copy, *setting, "commit", "-q", "-m", "observe", "--", *files)
            theirs.append((time.perf_counter() - start) * 1000)
    return statistics.median(ours), statistics.median(theirs)


def inspection(place: Place, rounds: int) -> tuple[float, float]:
    """Return the medians of the whole difference of the last commit, taken by gitmem and by libgit2, in turns.

    Both open the repository anew each time, so that neither remembers a folder.
    """
    ours, theirs = [], []
    for _ in range(rounds):
        repo = open_repo(str(place.root))
        tip = repo.head().commit
        assert tip is not None
        commit = read_commit(repo, tip)
        parent = read_commit(repo, commit.parents[0])
        start = time.perf_counter()
        found = diff_trees(repo, parent.tree, commit.tree)
        ours.append((time.perf_counter() - start) * 1000)
        repo.close()
        other = pygit2.Repository(str(place.root))
        old, new = other[parent.tree], other[commit.tree]
        start = time.perf_counter()
        deltas = old.diff_to_tree(new, context_lines=0).deltas
        theirs.append((time.perf_counter() - start) * 1000)
        assert {delta.new_file.path for delta in deltas} == set(found)
        other.free()
    return statistics.median(ours), statistics.median(theirs)


def growth(place: Place, operations: int) -> tuple[float, float]:
    """Return how many KiB the repository grows for each observe, loose and after `gitmem maintain`."""
    place.git("gc", "-q")
    base = _size(place)
    with place.open(maintain_at_loose=0) as memory:
        for number in range(operations):
            memory.observe(_draft(10_000 + number), PERSON)
        loose = _size(place)
        memory.maintain(PERSON)
    return (loose - base) / operations / 1024, (_size(place) - base) / operations / 1024


def _draft(number: int) -> Draft:
    return Draft(
        f"Observation {number} about the cache of the booking service",
        body="The cache holds availability for five minutes. " * 12,
        tags=("tool/redis", "domain/booking"),
        evidence=(f"run:case {number}",),
    )


def _size(place: Place) -> int:
    return sum(file.stat().st_size for file in (place.root / ".git" / "objects").rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
