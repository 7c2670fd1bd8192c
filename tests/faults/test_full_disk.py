"""Write commands on a file system that is really full; ``full_disk.py`` makes one and judges.

INV-OLD-OR-NEW, INV-PEOPLE-FIRST: nothing is acknowledged that is not there, and with room again the next command works.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from faults.full_disk import NOT_POSSIBLE

SCRIPT = Path(__file__).with_name("full_disk.py")


def sweep(*args: str) -> str:
    done = subprocess.run([sys.executable, str(SCRIPT), *args], check=False, capture_output=True, text=True)
    if done.returncode == NOT_POSSIBLE:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


def test_inv_old_or_new_on_a_full_disk() -> None:
    assert sweep("--step", "14") == "42 cells, 0 failed"


@pytest.mark.slow
def test_inv_old_or_new_on_a_disk_with_any_little_room() -> None:
    assert sweep() == "606 cells, 0 failed"
