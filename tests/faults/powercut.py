"""Cut the power under a writing vault again and again: a file system on a loop device, its image copied mid-write.

``python tests/faults/powercut.py [--cuts N] [--seed N] [--fs ext4|xfs]`` has a process write to a vault on the loop
device and log each acknowledged operation elsewhere. At a random moment the process is stopped and the image is copied
as it is: what a disk would hold if the power went then. The copy is mounted (its file system replays its journal) and
judged: HEAD reads, every acknowledged operation is in history once, and after the next command `git fsck --strict` is
clean and work goes on.

A **control run** does the same with flushing made void, and must lose something: if it doesn't, the instrument shows
nothing. Exit codes: 0 all well, 1 the real run lost or damaged something, 2 the control run did not, 77 no loop device
is to be had here (root is needed).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from faults.scene import PERSON  # noqa: E402

from gitmem.errors import GitmemError  # noqa: E402
from gitmem.model.ids import parse_op_id  # noqa: E402
from gitmem.model.record import Draft  # noqa: E402
from gitmem.model.settings import Scope  # noqa: E402
from gitmem.service.edit import RecordEdit  # noqa: E402
from gitmem.service.init import NewVault  # noqa: E402
from gitmem.service.memory import Memory  # noqa: E402
from gitmem.service.query import Filters  # noqa: E402
from gitmem.wiring import make_vault, open_memory  # noqa: E402

from conftest import git  # noqa: E402

NOT_POSSIBLE = 77
_IMAGE_MIB = {"ext4": 96, "xfs": 320}
_MAX_WAIT_S = 2.5


class Cut(NamedTuple):
    """One power cut: how many operations were acknowledged, whether one was under way, and what was wrong after it."""

    acknowledged: int
    in_flight: bool
    recovered: str
    problems: tuple[str, ...]


def main() -> int:
    """Run the real run and the control run, and print a table of both."""
    wanted = _parse()
    if wanted.write:
        return _write(Path(wanted.write), Path(wanted.log), void=wanted.void, seed=wanted.seed)
    if problem := _find_obstacle(wanted.fs):
        print(f"no power cut can be made here: {problem}")
        return NOT_POSSIBLE
    real = list(_iter_cuts(wanted.fs, wanted.cuts, wanted.seed, void=False))
    control = list(_iter_cuts(wanted.fs, wanted.control_cuts or wanted.cuts, wanted.seed, void=True))
    _report(wanted.fs, real, control)
    if any(cut.problems for cut in real):
        return 1
    if not any(cut.problems for cut in control):
        print("the control run lost nothing: this run proves nothing")
        return 2
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--control-cuts", type=int, default=0, help="as many as the real run if left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fs", choices=sorted(_IMAGE_MIB), default="ext4")
    for hidden in ("--write", "--log"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--void", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _find_obstacle(kind: str) -> str:
    if os.geteuid() != 0:
        return "root is needed to mount a loop device"
    if shutil.which(f"mkfs.{kind}") is None:
        return f"there is no mkfs.{kind}"
    found = subprocess.run(["losetup", "--find"], check=False, capture_output=True, text=True)
    return found.stderr.strip() if found.returncode else ""


def _iter_cuts(kind: str, count: int, seed: int, *, void: bool) -> Iterator[Cut]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        image = _make_vault(place, kind)
        for number in range(count):
            _copy_sparse(image, place / "running")
            yield _cut(place, kind, number, chance.uniform(0.02, _MAX_WAIT_S), void=void)


def _make_vault(place: Path, kind: str) -> Path:
    image = place / "new"
    with open(image, "wb") as file:
        file.truncate(_IMAGE_MIB[kind] << 20)
    subprocess.run([f"mkfs.{kind}", "-q", str(image)], check=True)
    with _mounted(image, place / "disk", kind) as disk:
        make_vault(str(disk / "home"), NewVault(Scope.WORKSPACE, path=str(disk / "vault")), PERSON)
        with _open(disk) as memory:
            for number in range(5):
                memory.observe(_draft(f"Earlier {number}"), PERSON, parse_op_id(f"earlier-{number}"))
    return image


def _cut(place: Path, kind: str, number: int, wait_s: float, *, void: bool) -> Cut:
    log = place / "log"
    log.unlink(missing_ok=True)
    with _mounted(place / "running", place / "disk", kind) as disk:
        command = [sys.executable, __file__, "--write", str(disk), "--log", str(log), "--seed", str(number)]
        writer = subprocess.Popen([*command, *(["--void"] if void else [])])
        try:
            _await_start(writer, log)
            time.sleep(wait_s)
            writer.send_signal(signal.SIGSTOP)
            _await_stop(writer.pid)
            _copy_sparse(place / "running", place / "cut")
        finally:
            writer.kill()
            writer.wait()
    started, done = _read_log(log)
    problems, recovered = _judge(place, kind, done)
    return Cut(len(done), bool(started - done.keys()), recovered, tuple(problems))


def _await_start(writer: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size):
        if writer.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the writer did not start")
        time.sleep(0.005)


def _await_stop(pid: int) -> None:
    """Wait until every thread stands: one in the middle of a flush stops only once that has returned."""
    deadline = time.monotonic() + 0.5  # a thread that waits for the disk is as good as stopped
    while time.monotonic() < deadline:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return


def _copy_sparse(source: Path, target: Path) -> None:
    # What the file system has sent to the device lies in the image's pages; what it has not is lost, as in a power cut.
    subprocess.run(["cp", "--sparse=always", str(source), str(target)], check=True)


def _read_log(log: Path) -> tuple[set[str], dict[str, str]]:
    started: set[str] = set()
    done: dict[str, str] = {}
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        started.add(entry["op"])
        if entry.get("commit"):
            done[entry["op"]] = entry["commit"]
    return started, done


def _judge(place: Path, kind: str, done: dict[str, str]) -> tuple[list[str], str]:
    problems: list[str] = []
    try:
        with _mounted(place / "cut", place / "after", kind, "nouuid" if kind == "xfs" else "defaults") as disk:
            # The registry names the vault's first place; the copy is to be found there.
            subprocess.run(["mount", "--bind", str(disk), str(place / "disk")], check=True)
            try:
                return problems, _look(place / "disk", done, problems)
            finally:
                subprocess.run(["umount", str(place / "disk")], check=True)
    except subprocess.CalledProcessError as error:
        return [f"the file system does not mount: {error}"], "-"


def _look(disk: Path, done: dict[str, str], problems: list[str]) -> str:
    vault = disk / "vault"
    recovered = "-"
    if not git(vault, "rev-parse", "--verify", "HEAD^{tree}", check=False):
        problems.append("HEAD can't be read")
    try:
        with _open(disk) as memory:
            answer = memory.list(Filters())
            recovered = ", ".join(sorted(problem.code for problem in answer.diagnostics)) or "nothing to do"
            if answer.status != "ok":
                problems.append(f"list: {answer.status} {answer.diagnostics}")
            memory.observe(_draft("After the cut"), PERSON, parse_op_id("after-the-cut"))
            if rows := memory.check().rows:
                problems.append(f"check: {rows[0]}")
    except (GitmemError, OSError) as error:
        problems.append(f"the next command: {error}")
    try:
        history = git(vault, "log", "--format=%H %(trailers:key=Gitmem-Op-Id,valueonly,separator=)").splitlines()
        for op, commit in done.items():
            if history.count(f"{commit} {op}") != 1:
                problems.append(f"the acknowledged {op} is lost")
        for number in range(5):
            if sum(line.endswith(f" earlier-{number}") for line in history) != 1:
                problems.append(f"the earlier operation {number} is lost")
        if said := git(vault, "fsck", "--strict", "--no-dangling"):
            problems.append(f"fsck: {said.splitlines()[0]}")
        if said := git(vault, "status", "--porcelain", "--untracked-files=all"):
            problems.append(f"status: {said.splitlines()[0]}")
    except AssertionError as error:
        problems.append(f"git: {str(error).splitlines()[0]}")
    return recovered


def _report(kind: str, real: list[Cut], control: list[Cut]) -> None:
    print("| run | cuts | with an operation under way | acknowledged | cuts with a loss or damage |")
    print("| --- | --- | --- | --- | --- |")
    for name, cuts in ((kind, real), (f"{kind}, control without flushing", control)):
        print(
            f"| {name} | {len(cuts)} | {sum(cut.in_flight for cut in cuts)} | {sum(cut.acknowledged for cut in cuts)} "
            f"| {sum(bool(cut.problems) for cut in cuts)} |"
        )
    recovered = Counter(cut.recovered for cut in real)
    print("\nwhat the next command found: " + ", ".join(f"{what} {count}" for what, count in recovered.most_common()))
    for name, cuts in (("real", real), ("control", control)):
        found = Counter(
            problem.split(":")[0] if name == "control" else problem for cut in cuts for problem in cut.problems
        )
        for problem, count in found.most_common(6):
            print(f"{name}: {problem} ({count})")


@contextmanager
def _mounted(image: Path, at: Path, kind: str, options: str = "defaults") -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", f"loop,{options}", "-t", kind, str(image), str(at)], check=True, capture_output=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def _open(disk: Path) -> Memory:
    return open_memory(str(disk / "home"), str(disk / "home"), str(disk / "vault"))


def _draft(title: str) -> Draft:
    return Draft(title=title, body=f"What {title} says.", tags=("tool/pytest",), evidence=("run:make test",))


def _write(disk: Path, log: Path, *, void: bool, seed: int) -> int:
    """Write until killed; each operation is logged before it starts and once it is acknowledged."""
    if void:
        _make_flushing_void()
    chance = random.Random(seed)
    known: list[str] = []
    with open(log, "a", buffering=1) as file, _open(disk) as memory:
        for number in range(1_000_000):
            op = parse_op_id(f"cut-{number}")
            file.write(json.dumps({"op": op}) + "\n")
            choice = chance.random()
            if choice < 0.5 or not known:
                receipt = memory.observe(_draft(f"Finding {number}"), PERSON, op)
                known.append(receipt.records[0].id)
            elif choice < 0.8:
                receipt = memory.edit(chance.choice(known), RecordEdit(body=f"Edited by {op}."), PERSON, op)
            elif choice < 0.9:
                receipt = memory.retire(known.pop(chance.randrange(len(known))), "outdated", PERSON, op_id=op)
            else:
                receipt = memory.promote(known.pop(chance.randrange(len(known))), PERSON, op)
            file.write(json.dumps({"op": op, "commit": receipt.commit}) + "\n")
    return 0


def _make_flushing_void() -> None:
    """Have every flush of this process return at once: what gitmem does for durability is then without effect."""
    import pygit2

    from gitmem.git import library

    library.prepare_libgit2()
    pygit2.settings.enable_fsync_gitdir(False)
    os.fsync = os.fdatasync = lambda _fd: None  # type: ignore[assignment]


if __name__ == "__main__":
    sys.exit(main())
