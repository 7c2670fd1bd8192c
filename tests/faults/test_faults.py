"""A fixed sample of the fault matrix, and proof that the matrix would see a fault. ``make faults`` runs all of it.

INV-OLD-OR-NEW, INV-ONE-COMMIT, INV-PEOPLE-FIRST, INV-PROVED (docs/invariants.md).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import GitmemError
from gitmem.git.trees import write_blobs
from gitmem.model.authority import Action
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, fingerprint
from gitmem.service.memory import Memory

from fault_cases import CASES, OP, Case, Ground, make_common
from fault_cell import Bench
from tracer import run_traced, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def _load_matrix() -> Any:
    spec = importlib.util.spec_from_file_location("fault_matrix", Path(__file__).with_name("run.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


matrix = _load_matrix()


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the clock and the ids that a bench sets put back."""
    from gitmem.clock import SystemClock
    from gitmem.model import ids

    monkeypatch.setattr(ids, "random_bytes", ids.random_bytes)
    monkeypatch.setattr(SystemClock, "now", SystemClock.now)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gitmem-faults-", dir=matrix.fast_folder()) as folder:
        yield Path(folder)


@pytest.mark.parametrize("case", CASES)
def test_inv_old_or_new_in_a_sample_of_the_matrix(case: str, root: Path) -> None:
    bench = Bench(CASES[case], root)
    jobs = [job for job in matrix.plan(None, None, matrix.SAMPLE_STEP) if job.case == case]
    results = [one for job in jobs for one in matrix.run_job_on(bench, job)]
    assert [one for one in results if one["problems"]] == []
    assert len(results) > len(jobs)
    assert {one["outcome"] for one in results} >= {"killed, old"}


def _edit_in_place(memory: Memory, ground: Ground) -> Receipt:
    note = next(ground.repo.glob("observations/*/the-first-*.md"))
    note.write_bytes(note.read_bytes() + b"more\n")
    return CASES["observe"].work(memory, ground)  # type: ignore[return-value]


def _say_done_always(memory: Memory, ground: Ground) -> Receipt:
    try:
        return CASES["observe"].work(memory, ground)  # type: ignore[return-value]
    except GitmemError:
        return Receipt(Action.OBSERVE, OP, CommitId("0" * 40), changed=True, records=())


def _leave_a_lock(memory: Memory, ground: Ground) -> Receipt:
    receipt = CASES["observe"].work(memory, ground)
    lock = ground.repo / ".git/refs/heads/main.lock"
    lock.write_bytes(b"")
    lock.unlink()
    return receipt  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("work", "kind", "last", "seen"),
    [
        (_edit_in_place, "KILL", 3, "FILE observations/"),
        (_say_done_always, "EIO+", 1, "FALSE ACK"),
        (_leave_a_lock, "KILL", -1, "left over"),
    ],
)
def test_the_matrix_sees_what_is_wrong(root: Path, work: Any, kind: str, last: int, seen: str) -> None:
    bench = Bench(Case("wrong", work), root)
    number = last if last > 0 else 1 + max(n for n, call in enumerate(bench.calls) if call.endswith("main.lock"))
    verdict = bench.judge((kind, number))
    assert any(seen in problem for problem in verdict.problems), verdict


def test_an_object_that_lies_there_already_is_flushed_before_it_counts(tmp_path: Path) -> None:
    """A crash may have come between its being put there and its being flushed."""
    ground = Ground(tmp_path / "ground")
    ground.root.mkdir()
    make_common(ground, alone=True)

    def write_twice() -> None:
        with ground.open() as memory:
            write_blobs(memory.vault.repo, {"a.md": b"the same bytes\n"})

    objects = f"/vault/.git/objects/{fingerprint(b'the same bytes' + bytes([10]))[:2]}"
    assert f"rename {objects}" in " ".join(run_traced(write_twice, str(ground.root)).calls)
    again = run_traced(write_twice, str(ground.root)).calls
    assert [call.startswith(f"fsync {objects}") for call in again] == [True, True]


def _observe_by_command(ground: Ground) -> list[str]:
    return [
        *(sys.executable, "-m", "gitmem", "--vault", str(ground.repo), "observe", "By command"),
        *("--evidence", "run:make", "--op-id", OP),
    ]


def _become(ground: Ground, heard: Path) -> None:
    """Turn this child into the real command."""
    out = os.open(heard, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    root = str(Path(__file__).parents[2])
    os.execve(
        sys.executable,
        _observe_by_command(ground),
        {"GITMEM_HOME": ground.home, "PATH": os.environ["PATH"], "PYTHONPATH": root, "HOME": ground.home},
    )


@pytest.mark.parametrize(("kind", "code"), [("INT", 130), ("TERM", -15)])
def test_a_command_that_is_interrupted_says_nothing_odd_and_leaves_old_or_new(
    tmp_path: Path, kind: str, code: int
) -> None:
    ground = Ground(tmp_path / "ground")
    ground.root.mkdir()
    make_common(ground)
    heard = tmp_path / "heard"
    status = ground.git("status", "--porcelain")
    commits = ground.git("rev-list", "--count", "HEAD")
    number = 1
    codes = []
    while True:
        run = run_traced(lambda: _become(ground, heard), str(ground.root), (kind, number))
        if not run.is_hit:
            break
        codes.append(run.code)
        assert "Traceback" not in heard.read_text(), run.calls[-1]
        with ground.open() as memory:
            assert memory.status().status == "ok"
        assert ground.git("fsck", "--strict", "--no-dangling") == ""
        assert ground.git("status", "--porcelain") == status
        number += 6
    assert set(codes) == {code}
    assert len(codes) > 5
    assert run.code == 0
    assert int(ground.git("rev-list", "--count", "HEAD")) == int(commits) + 1
