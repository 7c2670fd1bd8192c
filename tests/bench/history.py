"""The history of one record among very many commits, against Git's own."""

from __future__ import annotations

import random
import statistics
import subprocess
import time
from pathlib import Path

from gitmem.git.message import Message, format_message

from ground import Place, make_note, make_place, run_git


def measure_history(folder: Path, commits: int, rounds: int) -> tuple[float, float]:
    """Return the medians of ``Memory.log`` of a record and of ``git log --follow``, in turns.

    The record was observed at a tenth of the history, edited, promoted and edited again. The memory stays open.
    """
    place, path = make_long_place(folder, commits)
    ours, theirs = [], []
    with place.open() as memory:
        memory.log(path)
        for _ in range(rounds):
            start = time.perf_counter()
            rows = memory.log(path, limit=None).rows
            ours.append((time.perf_counter() - start) * 1000)
            start = time.perf_counter()
            told = place.git("log", "--follow", "--format=%H", "--", path).split()
            theirs.append((time.perf_counter() - start) * 1000)
            assert [row["commit"] for row in rows] == told
    return statistics.median(ours), statistics.median(theirs)


def make_long_place(folder: Path, commits: int) -> tuple[Place, str]:
    """Make a vault of ``commits`` commits, one observation each but for three; return it and the path of one record."""
    place = make_place(folder, 0)
    branch = place.git("symbolic-ref", "HEAD").strip()
    tip = place.git("rev-parse", "HEAD").strip()
    stream = _Stream(branch, tip)
    source = random.Random(commits)
    first = commits // 10
    path, data = "", b""
    for number in range(commits):
        if number in (first * 5, first * 9):
            stream.commit("edit", [(path, None, data := data + b"More.\n")])
        elif number == first * 7:
            old, path = path, "promoted/" + path.rpartition("/")[2]
            stream.commit("promote", [(old, path, data)])
        else:
            made, note = make_note(source, number)
            stream.commit("observe", [(made, None, note)])
            if number == first + 1:
                path, data = made, note
    subprocess.run(["git", "fast-import", "--quiet"], cwd=place.root, input=b"".join(stream.parts), check=True)
    run_git(place.root, "checkout", "-q", "-f", branch.removeprefix("refs/heads/"))
    place.git("gc", "-q")
    place.git("commit-graph", "write", "--reachable", "--changed-paths")  # the bytes that `gitmem maintain` writes, too
    return place, path


class _Stream:
    """What ``git fast-import`` reads: commits as gitmem makes them, each with a shard of the catalog."""

    def __init__(self, branch: str, tip: str) -> None:
        self.parts: list[bytes] = []
        self._branch, self._tip, self._count = branch, tip, 0

    def commit(self, op: str, files: list[tuple[str, str | None, bytes]]) -> None:
        self._count += 1
        trailers = [("Gitmem-Op", op), ("Gitmem-Op-Id", f"op-{self._count}"), ("Gitmem-Surface", "model")]
        trailers += [("Gitmem-Record", _id_of(data)) for _path, _to, data in files]
        message = format_message(Message(f"{op}: Number {self._count}", "", tuple(trailers))).encode()
        self._add(f"commit {self._branch}")
        self._add(f"committer Bench Person <bench@example.com> {1_760_000_000 + self._count * 60} +0000")
        self.parts.append(b"data %d\n%s\n" % (len(message), message))
        if self._count == 1:
            self._add(f"from {self._tip}")
        for path, to, data in files:
            if to is not None:
                self._add(f"D {path}")
            self._write(to or path, data)
        self._write(f"catalog/{self._count % 32:02x}.json", b"%d\n" % self._count)
        self._write("INDEX.md", b"%d\n" % self._count)
        self._add("")

    def _write(self, path: str, data: bytes) -> None:
        self._add(f"M 644 inline {path}")
        self.parts.append(b"data %d\n%s\n" % (len(data), data))

    def _add(self, line: str) -> None:
        self.parts.append(line.encode() + b"\n")


def _id_of(data: bytes) -> str:
    return data.split(b"gitmem_id: ", 1)[1][:14].decode().strip("\"\n'")[:12]
