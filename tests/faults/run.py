"""Break every write command at every mutating system call, and print what came of it as a table.

    python tests/faults/run.py [--sample] [--case NAME]... [--fault KIND]... [--jobs N] [--report FILE.json]

Ends with 1 when any cell is bad: neither the old nor the new state, an acknowledged operation lost, a false
acknowledgement, something of a person's changed, something left over, the next command failing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from fault_cases import CASES  # noqa: E402
from fault_cell import SETTLE, Bench, Verdict, without_empty_folders  # noqa: E402
from tracer import FAULTS, why_not  # noqa: E402

RECOVERY = {
    f"KILL, then {fault} in {name}": (command, fault)
    for name, command in (("status", SETTLE), ("retry", "retry"))
    for fault in ("KILL", "EIO", "EIO+")
}
KINDS = (*FAULTS, *RECOVERY)
FIRST_STEP = 3
AGAIN_STEP = 7
AGAIN_RUNS = 3
"""Faults in recovery: the operation is killed at each third call only, and a sample breaks each seventh of recovery,
but hardly more than so many of one."""
SAMPLE_STEP = 53
"""Of the matrix without ``--sample``, each this many-th run is in the sample; which ones does not change."""


@dataclass(frozen=True)
class Job:
    """One case and one kind of fault: the runs ``offset``, ``offset + step`` … of it."""

    case: str
    kind: str
    step: int = 1
    offset: int = 0


_benches: dict[str, Bench] = {}


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", action="store_true", help="a fixed sample of the runs, for every commit")
    parser.add_argument("--case", action="append", choices=CASES, help="only this operation; may be repeated")
    parser.add_argument("--fault", action="append", choices=KINDS, help="only this fault; may be repeated")
    parser.add_argument("--step", type=int, default=1, help="run each N-th only")
    parser.add_argument("--at", type=int, help="only the fault at this call, counted from 1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop-after-s", type=float, help="begin no more jobs after so many seconds, and say so")
    parser.add_argument("--report", help="write every run to this file, as JSON")
    wanted = parser.parse_args()
    reason = why_not()
    if reason:
        print(f"nothing was run: {reason}", file=sys.stderr)
        return 2
    step = SAMPLE_STEP if wanted.sample else wanted.step
    if wanted.at:
        results = [one for case in wanted.case for kind in wanted.fault for one in run_at(case, kind, wanted.at)]
    else:
        results = list(run_jobs(plan(wanted.case, wanted.fault, step), wanted.jobs, wanted.stop_after_s))
    if wanted.report:
        Path(wanted.report).write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(format_table(results))
    return 1 if any(one["problems"] for one in results) or not results else 0


def plan(cases: list[str] | None = None, kinds: list[str] | None = None, step: int = 1) -> list[Job]:
    """Return the jobs of a matrix; with ``step``, each takes its part of the runs, beginning at its own offset."""
    chosen = kinds or KINDS
    plain, recovery = ([kind for kind in chosen if (kind in RECOVERY) is later] for later in (False, True))
    pairs = [(case, kind) for part in (plain, recovery) for case in cases or CASES for kind in part]
    return [Job(case, kind, step, number * 7 % step) for number, (case, kind) in enumerate(pairs)]


def run_jobs(jobs: list[Job], processes: int, stop_after_s: float | None = None) -> Iterator[dict[str, Any]]:
    """Yield every run of ``jobs``; bad ones are told as they come, and so is that time ran out."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gitmem-faults-", dir=fast_folder()) as folder:
        context = multiprocessing.get_context("fork")
        with context.Pool(processes, _begin, (folder,)) as pool:
            for number, results in enumerate(pool.imap_unordered(run_job, jobs), 1):
                yield from results
                for one in results:
                    if one["problems"]:
                        print(f"BAD {json.dumps(one)}", file=sys.stderr, flush=True)
                passed_s = time.monotonic() - started
                print(f"{number}/{len(jobs)} jobs, {passed_s:.0f} s", file=sys.stderr, flush=True)
                if stop_after_s is not None and passed_s > stop_after_s and number < len(jobs):
                    print(f"stopped after {number} of {len(jobs)} jobs", flush=True)
                    return


def run_at(case: str, kind: str, number: int) -> list[dict[str, Any]]:
    """Run one cell and show all about it."""
    with tempfile.TemporaryDirectory(prefix="gitmem-faults-", dir=fast_folder()) as folder:
        bench = Bench(CASES[case], Path(folder))
        bench.reset()
        run = bench.traced((kind, number))
        print(json.dumps(run.said, indent=1), *run.calls, sep="\n")
        return [_tell(Job(case, kind), number, bench.conclude(run))]


def run_job(job: Job) -> list[dict[str, Any]]:
    """Return every run of one job."""
    return run_job_on(_bench(job.case), job)


def run_job_on(bench: Bench, job: Job) -> list[dict[str, Any]]:
    """Return every run of one job on the bench of its case."""
    if job.kind in RECOVERY:
        return list(_run_recovery(bench, job))
    numbers = range(1 + job.offset, len(bench.calls) + 1, job.step)
    return [_tell(job, number, bench.judge((job.kind, number))) for number in numbers]


def _run_recovery(bench: Bench, job: Job) -> Iterator[dict[str, Any]]:
    """Kill the operation at some calls; meet each call of the command that comes next with a fault; then judge."""
    command, fault = RECOVERY[job.kind]
    for first in range(1 + job.offset, len(bench.calls) + 1, FIRST_STEP * job.step):
        bench.reset()
        bench.traced(("KILL", first))
        calls = len(bench.traced_next(command).calls)
        again_step = 1 if job.step == 1 else max(AGAIN_STEP, calls // AGAIN_RUNS)
        for again in range(1 + first % again_step, calls + 1, again_step):
            bench.reset()
            bench.traced(("KILL", first))
            run = bench.traced_next(command, (fault, again))
            if run.is_hit:
                verdict = bench.conclude(run)
                call = f"{bench.calls[first - 1]}, then {again} {run.calls[again - 1]}"
                problems = without_empty_folders(verdict.problems, run.calls[again - 1])
                yield _tell(job, first, Verdict(verdict.outcome, problems, call))


def _tell(job: Job, number: int, verdict: Verdict) -> dict[str, Any]:
    return {
        "case": job.case,
        "fault": job.kind,
        "number": number,
        "call": verdict.call,
        "outcome": verdict.outcome,
        "problems": list(verdict.problems),
    }


def format_table(results: list[dict[str, Any]]) -> str:
    """Return the table: a line for each case and fault, the outcomes as columns."""
    outcomes = sorted({one["outcome"] for one in results})
    lines = [" | ".join(["case", "fault", "runs", *outcomes, "BAD"])]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in results:
        groups.setdefault((one["case"], one["fault"]), []).append(one)
    for (case, kind), runs in [*sorted(groups.items()), (("all", "all"), results)]:
        counts = Counter(one["outcome"] for one in runs)
        bad = sum(bool(one["problems"]) for one in runs)
        cells = [case, kind, len(runs), *(counts[outcome] or "" for outcome in outcomes), bad or ""]
        lines.append(" | ".join(map(str, cells)))
    return "\n".join(lines)


def _begin(folder: str) -> None:
    global _root  # noqa: PLW0603 - one bench of each case a process
    _root = Path(folder, str(os.getpid()))


_root = Path()


def _bench(name: str) -> Bench:
    if name not in _benches:
        for other in list(_benches):
            shutil.rmtree(_root / other, ignore_errors=True)
            del _benches[other]
        _benches[name] = Bench(CASES[name], _root / name)
    return _benches[name]


def fast_folder() -> str | None:
    """Return a folder in memory, where flushing costs nothing; ``None`` where there is none."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


if __name__ == "__main__":
    sys.exit(main())
