"""A failpoint kills the process at the n-th passing of its step, and at no other."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gitmem.errors import InputError
from gitmem.hosts.cli.failpoint import make_probe

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

_WALK = """
import sys
from gitmem.hosts.cli.failpoint import make_probe
probe = make_probe(sys.argv[1], ("lock", "write", "commit"))
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
    ],
)
def test_the_process_dies_at_the_step(failpoint: str, passed: list[str], killed: bool) -> None:
    done = subprocess.run([sys.executable, "-c", _WALK, failpoint], capture_output=True, text=True, check=False)
    assert done.stdout.split() == passed
    assert done.returncode == (-signal.SIGKILL if killed else 0)


@pytest.mark.parametrize("failpoint", ["nowhere", "write:", "write:0", "write:x", "write:-1", ":2", "lock,write"])
def test_what_names_no_step_is_refused(failpoint: str) -> None:
    with pytest.raises(InputError) as refused:
        make_probe(failpoint, ("lock", "write", "commit"))
    assert refused.value.code == "bad-environment"
    assert "lock, write, commit" in refused.value.hint


def test_the_command_knows_the_steps_of_transactions(gitmem: Gitmem) -> None:
    said = gitmem.at(failpoint="nowhere")("status", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "bad-environment")
    for step in ("commit", "settle-drop"):
        assert gitmem.at(failpoint=step)("status").code == 0
