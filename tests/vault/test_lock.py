"""One writer a vault, and nobody waits longer than was asked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from filelock import FileLock

from gitmem.clock import SystemClock
from gitmem.errors import UnavailableError
from gitmem.vault.lock import FOLDER, hold_lock

LONG_S = 60.0


class JumpingClock(SystemClock):
    """Each look at it is ``LONG_S`` later: as if the first wait had taken all the time."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic_s(self) -> float:
        self.looks += 1
        return self.looks * LONG_S


def test_the_second_of_two_is_told_who_holds_the_vault(tmp_path: Path) -> None:
    with hold_lock(str(tmp_path), "observe abc"):
        with pytest.raises(UnavailableError) as caught, hold_lock(str(tmp_path), "other", timeout_s=0):
            pass
        assert caught.value.code == "vault-busy"
        assert caught.value.message.endswith("(observe abc)")
    with hold_lock(str(tmp_path), "other", timeout_s=0):
        pass


def test_both_waits_together_last_no_longer_than_asked(tmp_path: Path) -> None:
    with hold_lock(str(tmp_path), "observe abc"):
        begin_s = time.monotonic()
        with pytest.raises(UnavailableError), hold_lock(str(tmp_path), "other", LONG_S, JumpingClock()):
            pass
        assert time.monotonic() - begin_s < LONG_S / 2
    with (
        FileLock(tmp_path / FOLDER / "turnstile"),
        pytest.raises(UnavailableError),
        hold_lock(str(tmp_path), "other", timeout_s=0),
    ):
        pass
