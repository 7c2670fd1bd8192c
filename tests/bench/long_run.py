"""Run many observes in one vault, nobody ever calling `git gc`, and print what gathers and how long anybody waits.

    python tests/bench/long_run.py [--operations 10000] [--records 0] [--rows 20]

A vault starts with ``--records`` generated records. Every operation is timed; the automatic maintenance is part of the
operation after which it runs. At the end `git fsck --strict`, `git commit-graph verify` and `gitmem check` judge the
vault, and `git log -- PATH` is timed with and without the commit graph. Absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gitmem.model.record import Draft

from ground import PERSON, Place, make_place


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--rows", type=int, default=20)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder), wanted.records)
        run(place, wanted.operations, wanted.rows)


def run(place: Place, operations: int, rows: int) -> None:
    """Do the operations, print a row now and then, and then what the judges say."""
    print("   ops  loose packs inodes      KiB  KiB/op median ms longest ms")
    times: list[float] = []
    base = store_bytes(place)
    step = max(1, operations // rows)
    notices: list[str] = []
    with place.open() as memory:
        for number in range(operations):
            start = time.perf_counter()
            receipt = memory.observe(make_draft(number), PERSON)
            times.append((time.perf_counter() - start) * 1000)
            notices += receipt.notices
            if (number + 1) % step == 0:
                last = times[-step:]
                loose, packs, inodes = count_files(place)
                grown = store_bytes(place)
                print(
                    f"{number + 1:>6} {loose:>6} {packs:>5} {inodes:>6} {grown >> 10:>8}"
                    f" {(grown - base) / 1024 / (number + 1):>7.1f} {statistics.median(last):>9.1f} {max(last):>10.1f}",
                    flush=True,
                )
    print(
        f"\nmedian of the first {step} {statistics.median(times[:step]):.1f} ms, of the last {step} "
        f"{statistics.median(times[-step:]):.1f} ms; longest operation {max(times):.0f} ms; "
        f"above 1 s: {sum(one > 1000 for one in times)}"
    )
    print("notices:", *(sorted(set(notices)) or ["none"]), sep="\n  ")
    judge(place)


def judge(place: Place) -> None:
    """Print what Git and gitmem find wrong, and how fast history is."""
    print("git fsck --strict:", place.git("fsck", "--strict") or "clean")
    print("git commit-graph verify:", place.git("commit-graph", "verify") or "clean")
    with place.open() as memory:
        print("gitmem check:", len(memory.check().rows), "findings")
    commits = place.git("rev-list", "--count", "HEAD").strip()
    paths = sorted(
        path for path in place.git("ls-tree", "-r", "--name-only", "HEAD").split() if "observations/" in path
    )
    with_graph, without = [], []
    for path in paths[:: max(1, len(paths) // 9)][:9]:
        found = []
        for setting, times in (("true", with_graph), ("false", without)):
            start = time.perf_counter()
            found.append(place.git("-c", f"core.commitGraph={setting}", "log", "--format=%H", "--", path))
            times.append((time.perf_counter() - start) * 1000)
        assert found[0] == found[1]
    ours, theirs = statistics.median(with_graph), statistics.median(without)
    print(f"git log -- PATH over {commits} commits: {ours:.1f} ms with the graph, {theirs:.1f} ms without")


def count_files(place: Place) -> tuple[int, int, int]:
    """Return how many loose objects, packs, and files and folders of any kind the repository has."""
    objects = place.root / ".git" / "objects"
    loose = sum(len(os.listdir(folder)) for folder in objects.iterdir() if len(folder.name) == 2)
    packs = len(list((objects / "pack").glob("*.pack")))
    return loose, packs, sum(1 for _ in (place.root / ".git").rglob("*"))


def store_bytes(place: Place) -> int:
    """Return the bytes of the object store."""
    return sum(file.stat().st_size for file in (place.root / ".git" / "objects").rglob("*") if file.is_file())


def make_draft(number: int) -> Draft:
    """Return an observation of about 1 KB, another for each number."""
    return Draft(
        f"Observation {number} about the cache of the booking service",
        body=f"Case {number}. " + "The cache holds availability for five minutes. " * 12,
        tags=("tool/redis", "domain/booking"),
        evidence=(f"run:case {number}",),
    )


if __name__ == "__main__":
    main()
