"""Programs are started without a shell, with little around them, and ended in time with all that they started."""

from __future__ import annotations

import os
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
