"""A few power cuts, and the control run that must lose something; ``powercut.py`` makes them and judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from faults.powercut import NOT_POSSIBLE

SCRIPT = Path(__file__).with_name("powercut.py")


@pytest.mark.slow
def test_inv_old_or_new_after_a_power_cut() -> None:
    command = [sys.executable, str(SCRIPT), "--cuts", "6", "--control-cuts", "24"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == NOT_POSSIBLE:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
