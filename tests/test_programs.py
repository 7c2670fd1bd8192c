"""Programs are started without a shell, with little around them, and ended in time with all that they started."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from gitmem.errors import UnavailableError
from gitmem.programs import find_program, run_program


def test_a_program_gets_its_input_and_little_else_around_it() -> None:
    script = "import os, sys; print(sorted(os.environ), os.getcwd(), sys.stdin.read()); sys.exit(3)"
    ran = run_program([sys.executable, "-I", "-c", script], b"hello", timeout_s=20, env={"ONE": "1"})
    assert (ran.code, ran.err) == (3, b"")
    assert ran.out.decode().strip() in (
        "['LC_ALL', 'ONE', 'PATH'] / hello",
        "['LC_ALL', 'LC_CTYPE', 'ONE', 'PATH'] / hello",
    )


def test_a_slow_program_and_its_children_are_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    started = time.monotonic()
    with pytest.raises(UnavailableError) as raised:
        run_program(["/bin/sh", "-c", f"sleep 60 & echo $! > {pid_file}; sleep 60"], timeout_s=0.5)
    assert (raised.value.code, raised.value.message) == ("program-slow", "sh did not end within 0.5 s")
    assert time.monotonic() - started < 10
    child = Path("/proc") / pid_file.read_text().strip()
    deadline = time.monotonic() + 5
    while (
        child.exists() and "Z" not in (child / "stat").read_text().split(") ")[-1][:1] and time.monotonic() < deadline
    ):
        os.sched_yield()
    assert not child.exists() or ") Z" in (child / "stat").read_text()


def test_what_a_program_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    ran = run_program(["/bin/sh", "-c", "sleep 60 & echo done"], timeout_s=20)
    assert (ran.code, ran.out) == (0, b"done\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_talks_without_end_is_ended_at_its_bound(stream: str) -> None:
    script = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(UnavailableError) as raised:
        run_program([sys.executable, "-I", "-c", script], timeout_s=60, max_output_bytes=1 << 20)
    assert raised.value.code == "program-too-loud"
    assert time.monotonic() - started < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_what_a_program_starts_and_talks_counts_as_its_own() -> None:
    started = time.monotonic()
    with pytest.raises(UnavailableError) as raised:
        run_program(["/bin/sh", "-c", "yes & sleep 30"], timeout_s=60, max_output_bytes=1000)
    assert raised.value.code == "program-too-loud"
    assert time.monotonic() - started < 30


def test_all_that_was_said_before_the_end_is_heard() -> None:
    script = "import sys; sys.stdout.write('o' * 300_000); sys.stderr.write('e' * 300_000); sys.exit(7)"
    ran = run_program([sys.executable, "-I", "-c", script], timeout_s=30, max_output_bytes=300_000)
    assert (ran.code, ran.out, ran.err) == (7, b"o" * 300_000, b"e" * 300_000)


def test_a_program_that_closes_its_outputs_and_goes_on_is_waited_for() -> None:
    ran = run_program(["/bin/sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 4"], timeout_s=30)
    assert (ran.code, ran.out, ran.err) == (4, b"", b"")
    with pytest.raises(UnavailableError, match="did not end within"):
        run_program(["/bin/sh", "-c", "exec >&- 2>&-; sleep 60"], timeout_s=0.3)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["/no/such/program"], "program-missing"),
        (["a\0b"], "program-missing"),
        ([sys.executable, "-c", "print('x' * 100)"], "program-too-loud"),
    ],
)
def test_what_goes_wrong_is_said(command: list[str], code: str) -> None:
    with pytest.raises(UnavailableError) as raised:
        run_program(command, timeout_s=20, max_output_bytes=50)
    assert raised.value.code == code
    assert raised.value.hint


def test_programs_are_looked_for_in_the_systems_folders_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sh").write_text("#!/bin/sh\n")
    (tmp_path / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("sh") in ("/usr/bin/sh", "/bin/sh", "/usr/local/bin/sh")
    assert find_program("no-such-program") is None
