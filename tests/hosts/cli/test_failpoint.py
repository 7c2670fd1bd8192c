"""A failpoint kills the process at the n-th passing of its step, and at no other."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_WALK = """
import sys
from gitmem.hosts.cli.failpoint import make_probe
probe = make_probe(sys.argv[1])
for step in ("lock", "write", "write", "commit"):
    probe(step)
    print(step, flush=True)
"""


@pytest.mark.parametrize(
    ("failpoint", "passed", "killed"),
    [
        ("", ["lock", "write", "write", "commit"], False),
        ("write", ["lock"], True),
        ("write:2", ["lock", "write"], True),
        ("write:3", ["lock", "write", "write", "commit"], False),
        ("nowhere", ["lock", "write", "write", "commit"], False),
    ],
)
def test_the_process_dies_at_the_step(failpoint: str, passed: list[str], killed: bool) -> None:
    done = subprocess.run([sys.executable, "-c", _WALK, failpoint], capture_output=True, text=True, check=False)
    assert done.stdout.split() == passed
    assert done.returncode == (-signal.SIGKILL if killed else 0)
