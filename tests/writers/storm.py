"""Many writers on one vault, some killed at any moment, judged by the history that they leave.

    python tests/writers/storm.py --processes 16 --operations 50 --seed 1 --kills

Each writer is a process that does mixed operations on records that all share, every one under an operation id of its
own. One that is killed starts again and asks for the same operation under the same id. Two more processes read all the
time. What is done is decided by the seed; when, by the machine. Prints counts; exit code 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from gitmem.errors import GitmemError, InputError
from gitmem.model.authority import Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options, list_steps
from gitmem.transaction.receipts import iter_receipts
from gitmem.vault.scan import scan_records  # noqa: F401 - loaded before the writers are forked
from gitmem.wiring import make_vault, open_memory

from history_check import Asked, Evidence, Shown, count_outcomes, find_problems, load_history

LEGITIMATE = frozenset(
    {
        "stale",
        "edited-meanwhile",
        "no-such-record",
        "unstable",
        "not-an-observation",
        "already-retired",
        "not-retired",
        "nothing-to-adopt",
    }
)
"""What an operation may be told because another one was quicker. Anything else is a failure."""
VERBS = {"observe": 25, "declare": 8, "edit": 30, "promote": 9, "retire": 9, "restore": 7, "adopt": 12}
MAX_KILLED_ATTEMPTS = 2
OPERATIONS_A_SHOT = 6
"""How many operations are done for each kill from outside."""
WAIT_S = 120.0
"""How long a writer waits for the vault: longer than any run, so that nobody is told that it is busy."""
BY_HAND = "by-hand"


@dataclass(frozen=True)
class Ground:
    """Where a run happens."""

    home: str
    repo: Path
    logs: Path
    seed: int
    kills: bool

    def open(self, probe: Callable[[str], None] = lambda _step: None) -> Memory:
        return open_memory(self.home, self.home, str(self.repo), Options(probe=probe, lock_wait_s=WAIT_S))


@dataclass
class Outcome:
    """What a run came to. ``problems`` are broken rules, failed operations, and what Git or gitmem finds wrong."""

    evidence: Evidence
    problems: list[str]
    kills: int = 0
    reads: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)


def run(folder: Path, processes: int, operations: int, seed: int, *, kills: bool, readers: int = 2) -> Outcome:
    """Let the writers write in a new vault below ``folder``; return what their history shows."""
    person = writer_actor(-1)
    wanted = NewVault(Scope.WORKSPACE, path=str(folder / "vault"))
    entry, made = make_vault(str(folder / "home"), wanted, person)
    ground = Ground(str(folder / "home"), Path(entry.path), folder / "logs", seed, kills)
    ground.logs.mkdir()
    known = {str(made.op_id)}
    with ground.open() as memory:
        for number in range(4):
            known.add(memory.observe(make_draft(f"Shared record {number}"), person).op_id)
    begin = time.monotonic()
    reading = [fork(lambda number=number: read_on(ground, number)) for number in range(readers)]  # type: ignore[misc]
    killed = let_write(ground, processes, operations)
    seconds = time.monotonic() - begin
    (ground.logs / "stop").touch()
    for pid in reading:
        os.waitpid(pid, 0)
    with ground.open() as memory:
        known.add(memory.observe(make_draft("The last one"), person).op_id)  # settles what a kill left at the very end
        # What was written by hand waits where the adopt that came after it was refused and nobody else came by.
        known.add(memory.adopt((), person).op_id)
    return judge(ground, processes, operations, frozenset(known), killed, seconds)


def let_write(ground: Ground, processes: int, operations: int) -> int:
    """Run the writers to their end, starting killed ones again; return how many kills there were."""
    source = random.Random(f"{ground.seed}/kills")
    running = {fork(lambda w=writer: write_on(ground, w, operations)): writer for writer in range(processes)}  # type: ignore[misc]
    killed = shot = 0
    next_kill_s = time.monotonic() + source.uniform(0.1, 0.4)
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in running:
            writer = running.pop(pid)
            if os.WIFSIGNALED(status):
                killed += 1
                running[fork(lambda w=writer: write_on(ground, w, operations))] = writer  # type: ignore[misc]
            continue
        if pid:
            raise RuntimeError("a reader died; what it said stands above")
        if ground.kills and time.monotonic() > next_kill_s:
            done = sum(WriterLog(file).count_done() for file in ground.logs.glob("writer-*.jsonl"))
            if shot <= done // OPERATIONS_A_SHOT:  # by what is done, not by the clock: a slow machine would never end
                os.kill(source.choice(sorted(running)), signal.SIGKILL)
                shot += 1
            next_kill_s = time.monotonic() + source.uniform(0.05, 0.3)
        time.sleep(0.005)
    return killed


def write_on(ground: Ground, writer: int, operations: int) -> None:
    """Do what is left to do of one writer's operations."""
    log = WriterLog(ground.logs / f"writer-{writer}.jsonl")
    driver = os.getppid()
    while os.getppid() == driver and (number := log.count_done()) < operations:
        op = log.find_begun(number)
        op_id = OpId(f"s{ground.seed}-w{writer}-n{number}")
        attempt = log.count_attempts(number) + 1
        with ground.open(Dying(ground, f"{op_id}/{attempt}", attempt)) as memory:
            op = op or plan_op(ground, memory, writer, number)
            log.write({"begin": number, "op": op, "op_id": op_id, "ns": time.monotonic_ns()})
            answer = attempt_op(memory, op, op_id, writer_actor(writer))
            log.write({"end": number, "ns": time.monotonic_ns(), **answer})


class Dying:
    """A probe that kills its process at one step, decided by the seed, in the first attempts of some operations."""

    def __init__(self, ground: Ground, name: str, attempt: int) -> None:
        source = random.Random(f"{ground.seed}/{name}/death")
        dies = ground.kills and attempt <= MAX_KILLED_ATTEMPTS and source.random() < (0.12 if attempt == 1 else 0.4)
        self.step = source.choice(list_steps()) if dies else ""

    def __call__(self, step: str) -> None:
        if step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class WriterLog:
    """What one writer was asked and told, a line each; a kill can tear the last one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def write(self, line: dict[str, Any]) -> None:
        with self.file.open("ab") as log:
            log.write(b"\n" + json.dumps(line).encode() + b"\n")

    def lines(self) -> list[dict[str, Any]]:
        if not self.file.exists():
            return []
        found = []
        for line in self.file.read_bytes().split(b"\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def count_done(self) -> int:
        return sum("end" in line for line in self.lines())

    def count_attempts(self, number: int) -> int:
        return sum(line.get("begin") == number for line in self.lines())

    def find_begun(self, number: int) -> dict[str, Any] | None:
        return next((line["op"] for line in self.lines() if line.get("begin") == number), None)


def plan_op(ground: Ground, memory: Memory, writer: int, number: int) -> dict[str, Any]:
    """Return what to do next, as data: a retry after a kill does the very same."""
    source = random.Random(f"{ground.seed}/{writer}/{number}")
    verb = source.choices(list(VERBS), list(VERBS.values()))[0]
    wanted = {"promote": (State.OBSERVATION,), "restore": (State.RETIRED,)}.get(
        verb, (State.OBSERVATION, State.PROMOTED)
    )
    if verb == "adopt":
        return plan_by_hand(ground, source, writer, number)
    hits = memory.list(Filters(states=wanted)).hits
    refs = sorted(hit.record.id for hit in hits if BY_HAND not in hit.record.path)
    if verb not in ("observe", "declare") and not refs:
        verb = "observe"
    op = {"verb": verb, "title": f"Record {number} of writer {writer}", "mark": f"mark/w{writer}-n{number}"}
    return op if verb in ("observe", "declare") else op | {"ref": source.choice(refs)}


def plan_by_hand(ground: Ground, source: random.Random, writer: int, number: int) -> dict[str, Any]:
    """Write into a note of the writer's own as a person would, and return what adopts it."""
    note = ground.repo / "promoted" / BY_HAND / f"writer {writer} note {source.randrange(3)}.md"
    note.parent.mkdir(exist_ok=True)
    text = note.read_text() if note.exists() else ""
    fresh = note.with_name(f".{note.name}.part")
    fresh.write_text(f"{text}Line {number} of writer {writer}.\n")
    fresh.replace(note)
    named = source.random() < 0.7
    return {"verb": "adopt", "paths": [str(note)] if named else []}


def attempt_op(memory: Memory, op: dict[str, Any], op_id: OpId, actor: Actor) -> dict[str, Any]:
    """Ask for the operation; return its answer as data."""
    try:
        receipt = ask(memory, op, op_id, actor)
    except GitmemError as error:
        return {"outcome": "refused", "code": error.code, "message": error.message, "hint": error.hint}
    except Exception:
        return {"outcome": "refused", "code": "crashed", "message": traceback.format_exc(), "hint": ""}
    records = {ref.id: ref.path for ref in receipt.records}
    return {"outcome": "ok" if receipt.changed else "unchanged", "commit": receipt.commit, "records": records}


def ask(memory: Memory, op: dict[str, Any], op_id: OpId, actor: Actor) -> Receipt:
    """Call the verb that ``op`` names."""
    verb = op["verb"]
    if verb == "observe":
        return memory.observe(make_draft(op["title"]), actor, op_id)
    if verb == "declare":
        return memory.declare(Draft(op["title"], kind=Kind.GOAL), actor, op_id)
    if verb == "edit":
        return memory.edit(op["ref"], RecordEdit(add_tags=(op["mark"],)), actor, op_id)
    if verb == "promote":
        return memory.promote(op["ref"], actor, op_id)
    if verb == "retire":
        return memory.retire(op["ref"], "outdated", actor, None, op_id)
    if verb == "restore":
        return memory.restore(op["ref"], actor, op_id)
    return memory.adopt(op["paths"], actor, op_id)


def read_on(ground: Ground, number: int) -> None:
    """Search, list and show until the writers are done; log what was shown as committed."""
    source = random.Random(f"{ground.seed}/reader/{number}")
    driver = os.getppid()
    everything = Filters(states=tuple(State))
    with ground.open() as memory, (ground.logs / f"reader-{number}.jsonl").open("a") as log:
        while os.getppid() == driver and not (ground.logs / "stop").exists():
            answer = memory.list(everything) if source.random() < 0.6 else memory.search("record writer", everything)
            if answer.hits and source.random() < 0.5:
                with contextlib.suppress(InputError):  # a look at the folders can miss a record that is on its way
                    shown = memory.show(source.choice(answer.hits).record.id)
                    answer = shown if shown.hits else answer
            committed = {
                hit.record.id: (hit.record.path, hit.record.fingerprint) for hit in answer.hits if not hit.uncommitted
            }
            told = {"revision": answer.revision, "status": answer.status, "records": committed}
            log.write(json.dumps(told) + "\n")
            log.flush()


def judge(
    ground: Ground, processes: int, operations: int, known: frozenset[str], killed: int, seconds: float
) -> Outcome:
    """Return what logs, history, receipts, catalog and Git say together."""
    told = [
        answer
        for writer in range(processes)
        for answer in load_log(WriterLog(ground.logs / f"writer-{writer}.jsonl"), f"s{ground.seed}-w{writer}-n")
    ]
    asked = tuple(one for one, _answer in told)
    problems = [
        f"{one.verb} {one.op_id} failed: {one.code}: {answer.get('message', '')}"
        for one, answer in told
        if one.outcome == "refused" and (one.code not in LEGITIMATE or not answer["hint"])
    ]
    if len(asked) != processes * operations or any(one.outcome == "pending" for one in asked):
        problems.append(f"{len(asked)} of {processes * operations} operations were asked for, or some never answered")
    with ground.open() as memory:
        listed = memory.list(Filters(states=tuple(State))).hits
        catalog = {hit.record.id: (str(hit.record.path), str(hit.record.fingerprint)) for hit in listed}
        receipts = tuple((str(one.op_id), str(one.commit)) for one in iter_receipts(memory.vault.layout))
        problems += [f"gitmem check: {row}" for row in memory.check().rows if row["severity"] == "error"]
    shown = tuple(load_shown(ground))
    evidence = Evidence(asked, load_history(ground.repo), shown, catalog, receipts, known)
    problems += find_problems(evidence) + ask_git(ground.repo)
    return Outcome(evidence, problems, killed, len(shown), seconds, count_outcomes(asked))


def load_log(log: WriterLog, prefix: str) -> list[tuple[Asked, dict[str, Any]]]:
    """Return each operation of one writer with its whole answer; the first attempt is when it began."""
    begun: dict[int, dict[str, Any]] = {}
    ended: dict[int, dict[str, Any]] = {}
    for line in log.lines():
        if "begin" in line:
            begun.setdefault(line["begin"], line)
        else:
            ended[line["end"]] = line
    found = []
    for number, line in begun.items():
        answer = ended.get(number, {})
        op = line["op"]
        found.append(
            (
                Asked(
                    f"{prefix}{number}",
                    op["verb"],
                    line["ns"],
                    answer.get("ns"),
                    answer.get("outcome", "pending"),
                    answer.get("code", ""),
                    answer.get("commit"),
                    answer.get("records", {}),
                    op["mark"] if op["verb"] == "edit" else "",
                ),
                answer,
            )
        )
    return found


def load_shown(ground: Ground) -> list[Shown]:
    """Return what the readers were shown."""
    lines = [line for file in sorted(ground.logs.glob("reader-*.jsonl")) for line in file.read_text().splitlines()]
    told = [json.loads(line) for line in lines]
    return [
        Shown(one["revision"], {record: (path, blob) for record, (path, blob) in one["records"].items()})
        for one in told
        if one["status"] in ("ok", "no-match")
    ]


def ask_git(repo: Path) -> list[str]:
    """Return what Git finds wrong with the repository, and what gitmem left lying about."""
    found = []
    for args in (("fsck", "--strict", "--no-dangling"), ("status", "--porcelain", "--untracked-files=all")):
        done = subprocess.run(["git", "-C", str(repo), *args], capture_output=True, text=True, check=False)
        if done.returncode or done.stdout:
            found.append(f"git {args[0]}: {done.stdout}{done.stderr}")
    left = [*repo.rglob(".gitmem-*"), *(repo / ".git").rglob("*.lock"), *(repo / ".git").glob("index.*")]
    return found + [f"left over: {path}" for path in left]


def make_draft(title: str) -> Draft:
    return Draft(title, body=f"What is known of {title}.", tags=("tool/pytest",), evidence=("run:1",))


def writer_actor(writer: int) -> Actor:
    return Actor(Surface.HUMAN, f"Writer {writer}", f"writer{writer}@example.com")


def fork(work: Callable[[], None]) -> int:
    """Run ``work`` in a child process; return its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def main() -> int:
    """Run once and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--operations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(Path(folder), wanted.processes, wanted.operations, wanted.seed, kills=wanted.kills)
    print(f"{wanted.processes} processes x {wanted.operations} operations, seed {wanted.seed}: {outcome.seconds:.1f} s")
    for what, count in [
        *sorted(outcome.counts.items()),
        ("commits", len(outcome.evidence.made)),
        ("receipts", len(outcome.evidence.receipts)),
        ("kills", outcome.kills),
        ("reads", outcome.reads),
        ("problems", len(outcome.problems)),
    ]:
        print(f"{count:>8}  {what}")
    for problem in outcome.problems[:40]:
        print(f"  {problem}")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
