"""A whole ``gitmem hook`` process for each event of a session, beside Python that does nothing and ``git grep``.

    python tests/bench/hook.py [--records 1000 10000] [--rounds 15] [--keep FOLDER]

The processes take turns. Each figure has the time on the wall and the processor's (user and system), as the system
accounts for them: on a busy machine the second says more. Ratios are medians of the ratios turn by turn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from host_payloads import load_payloads

from gitmem import launch
from gitmem.vault.record_file import parse_record

from ground import Place, find_place, make_place

COMMAND = [sys.executable, "-E", "-P", "-S", launch.__file__]
NOTHING = [sys.executable, "-c", "pass"]
ROUND = b"@round@"
"""Stands in a payload for the number of the round: what is told twice within seconds is answered once."""
NO_MATCH = "bake a cake with walnuts and marzipan on top of the icing"


class Run(NamedTuple):
    """One process: milliseconds on the wall, and of the processor."""

    wall_ms: float
    processor_ms: float


class Case(NamedTuple):
    """One thing to run: its words, what it reads, and where."""

    words: list[str]
    given: bytes = b""
    folder: str = "/"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--keep", type=Path, help="keep the generated vaults there, and use those that are there")
    wanted = parser.parse_args()
    print(f"{'records':>8}  {'what':<44} {'wall ms':>9} {'cpu ms':>9}   / nothing: wall, cpu   / git grep: wall, cpu")
    for records in wanted.records:
        with tempfile.TemporaryDirectory() as folder:
            kept = wanted.keep
            place = find_place(kept / f"v{records}", records) if kept else make_place(Path(folder), records)
            print_hooks(place, records, wanted.rounds)


def print_hooks(place: Place, records: int, rounds: int) -> None:
    """Print the rows of one vault."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place.root.parent), "GITMEM_HOME": str(place.root.parent / "home")}
    with place.open() as memory:
        memory.recall(NO_MATCH)
    cases = make_cases(place)
    found = run_in_turns(cases, env, rounds)
    for name, runs in found.items():
        wall, processor = (statistics.median(one[part] for one in runs) for part in (0, 1))
        ratios = [format_ratio(runs, found[other]) for other in ("python -c pass", "git grep, one word")]
        print(f"{records:>8}  {name:<44} {wall:9.1f} {processor:9.1f}   {'   '.join(ratios)}", flush=True)


def make_cases(place: Place) -> dict[str, Case]:
    """Return what is run, by name. Checks that a prompt that should recall something does."""
    root = str(place.root)
    payloads = {one["hook_event_name"]: one for one in reversed(load_payloads("claude-code", root))}
    prompt = payloads["UserPromptSubmit"]
    fits, word = make_prompt(place)
    hook = [*COMMAND, "hook", "--host", "claude-code"]

    def hand_over(payload: Mapping[str, Any]) -> Case:
        session = f"{payload['session_id']}-{ROUND.decode()}"
        return Case(hook, json.dumps({**payload, "session_id": session}).encode(), root)

    return {
        "python -c pass": Case(NOTHING),
        "git grep, one word": Case(["git", "grep", "-li", "-e", word], folder=root),
        "hook: a prompt that some records fit": hand_over(prompt | {"prompt": fits, "session_id": "some-fit"}),
        "hook: a prompt that none fits": hand_over(prompt | {"prompt": NO_MATCH, "session_id": "none-fits"}),
        "hook: session start": hand_over(payloads["SessionStart"]),
        "hook: after a tool": hand_over(payloads["PostToolUse"]),
        "hook: session end": hand_over(payloads["SessionEnd"]),
        "gitmem --version": Case([*COMMAND, "--version"], folder=root),
    }


def make_prompt(place: Place) -> tuple[str, str]:
    """Return a prompt that asks for one of the records by four of its words, and the rarest of these."""
    notes = sorted(place.root.glob("observations/**/*.md"))
    with place.open() as memory:
        for note in random.Random(7).sample(notes, 40):
            record = parse_record(note.relative_to(place.root).as_posix(), note.read_bytes())  # type: ignore[arg-type]
            assert record is not None
            words = sorted(set(record.body.split()), key=lambda word: (word[2:], word))[-4:]
            prompt = f"How does the {' '.join(words)} work here?"
            if memory.recall(prompt).hits:
                return prompt, words[-1]
    raise AssertionError("no record was found to ask for")


def run_in_turns(cases: Mapping[str, Case], env: Mapping[str, str], rounds: int) -> dict[str, list[Run]]:
    """Return the runs of each case, in turns after one that does not count."""
    found: dict[str, list[Run]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            run = run_once(case._replace(given=case.given.replace(ROUND, b"%d" % number)), env)
            if number:
                found[name].append(run)
    return found


def run_once(case: Case, env: Mapping[str, str]) -> Run:
    """Run one process to its end."""
    with tempfile.TemporaryFile() as given:
        given.write(case.given)
        given.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            case.words, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=case.folder, env=env
        )
        assert process.stderr is not None
        said = process.stderr.read()
        _pid, status, used = os.wait4(process.pid, 0)
        wall_ms = (time.perf_counter() - start) * 1000
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
    assert not said, said
    return Run(wall_ms, (used.ru_utime + used.ru_stime) * 1000)


def format_ratio(runs: Sequence[Run], against: Sequence[Run]) -> str:
    """Return the medians of the ratios turn by turn, on the wall and of the processor."""
    both = [[ours[part] / theirs[part] for ours, theirs in zip(runs, against, strict=True)] for part in (0, 1)]
    return " ".join(f"{statistics.median(ratios):9.2f}" for ratios in both)


if __name__ == "__main__":
    main()
