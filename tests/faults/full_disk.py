"""Run write commands on a file system that is really full, by bytes and by inodes; print what became of each.

``python tests/faults/full_disk.py [--step N]`` takes every N-th amount of free room (1: all). It mounts a small tmpfs
in a mount namespace of its own, which needs root or user namespaces; where neither can be had it says so and ends with
exit code 77. Ends with 1 if any cell fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from faults.scene import WRITES, Scene, build, find_lies, judge_operation, read_all, restore, run  # noqa: E402

NOT_POSSIBLE = 77
INODES = 41
PAGES = 60
_INSIDE = "--inside"
_PAGE = 4096


class Cell(NamedTuple):
    """One amount of free room for one command: what it said, how ``list`` went meanwhile, what it came to."""

    kind: str
    verb: str
    free: int
    said: str
    read: str
    outcome: str


def main() -> int:
    """Enter a mount namespace and run the sweep there."""
    if _INSIDE in sys.argv:
        return _sweep(_parse())
    tried = []
    for flags in (["-m"], ["-Urm"]):
        try:
            known = subprocess.run(["unshare", *flags, "true"], check=False, capture_output=True, text=True)
        except OSError as error:
            tried.append(str(error))
            break
        if known.returncode == 0:
            return subprocess.run(
                ["unshare", *flags, sys.executable, __file__, _INSIDE, *sys.argv[1:]], check=False
            ).returncode
        tried.append(known.stderr.strip())
    print(f"no file system can be mounted here: {'; '.join(tried)}")
    return NOT_POSSIBLE


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help="take every N-th amount of free room")
    parser.add_argument("--offset", type=int, default=0, help="begin at this amount")
    parser.add_argument("--only", action="append", help="only these commands")
    return parser.parse_args()


def _sweep(wanted: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        mount = Path(folder) / "disk"
        mount.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=2000", "tmpfs", str(mount)],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print(f"no file system can be mounted here: {done.stderr.strip()}")
            return NOT_POSSIBLE
        try:
            scene = build(mount / "all")
            template = Path(folder) / "template"
            shutil.copytree(scene.root, template, symlinks=True)
            return _report(list(_iter_cells(wanted, scene, template)))
        finally:
            subprocess.run(["umount", "--lazy", str(mount)], check=True)


def _iter_cells(wanted: argparse.Namespace, scene: Scene, template: Path) -> Iterator[Cell]:
    number = 0
    for kind, most in (("inodes", INODES), ("pages", PAGES)):
        for verb in WRITES:
            number += 1
            for free in range((wanted.offset + number) % wanted.step, most, wanted.step):
                if not wanted.only or verb in wanted.only:
                    yield Cell(kind, verb, free, *_try(scene, template, kind, verb, free))


def _try(scene: Scene, template: Path, kind: str, verb: str, free: int) -> tuple[str, str, str]:
    restore(template, scene.root)
    before, person = scene.files(), scene.person()
    filler = scene.root.parent / "filler"
    filler.mkdir()
    told = read = "-"
    try:
        (_fill_inodes if kind == "inodes" else _fill_pages)(filler, free)
        said = run(scene, WRITES[verb])
        told = str(said).splitlines()[0]
        reads = run(scene, read_all)
        again = run(scene, WRITES[verb])
        shutil.rmtree(filler)
        assert said.kind in ("done", "refused"), f"{verb}: {said}"
        assert reads.kind == "done", f"reading on the full disk: {reads}"
        read = reads.value["list"]["status"]
        assert not find_lies(reads.value), f"reading on the full disk: {find_lies(reads.value)}"
        assert all(answer["status"] != "unavailable" for answer in reads.value.values()), f"reading: {reads.value}"
        assert again.kind in ("done", "refused"), f"the same again on the full disk: {again}"
        acknowledged = said if said.kind == "done" else again
        if said.kind != "done" and again.kind == "done":
            told += ", done when asked again"
        return told, read, judge_operation(scene, before, person, acknowledged, verb)
    except AssertionError as error:
        return told, read, f"FAILED: {error}"
    finally:
        shutil.rmtree(filler, ignore_errors=True)


def _report(cells: list[Cell]) -> int:
    rows = Counter((cell.kind, cell.verb, cell.said, cell.read, cell.outcome.split(":")[0]) for cell in cells)
    print("| full of | command | said | `list` meanwhile | with room again | cells |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row, count in sorted(rows.items()):
        print(f"| {' | '.join(row)} | {count} |")
    failed = [cell for cell in cells if cell.outcome.startswith("FAILED")]
    for cell in failed:
        print(f"\n{cell.verb} with {cell.free} free {cell.kind}: {cell.said}\n{cell.outcome}")
    print(f"\n{len(cells)} cells, {len(failed)} failed")
    return 1 if failed else 0


def _fill_inodes(filler: Path, free: int) -> None:
    room = os.statvfs(filler)
    for number in range(room.f_ffree - free):
        (filler / str(number)).touch()
    assert os.statvfs(filler).f_ffree == free


def _fill_pages(filler: Path, free: int) -> None:
    room = os.statvfs(filler)
    with open(filler / "bytes", "wb") as file:
        file.write(bytes((room.f_bfree * room.f_frsize // _PAGE - free) * _PAGE))
    assert os.statvfs(filler).f_bfree * room.f_frsize // _PAGE == free


if __name__ == "__main__":
    sys.exit(main())
