"""What was not kept, counted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.model.event import Odd
from gitmem.vault import tally
from gitmem.vault.layout import VaultLayout


def test_each_reason_is_counted_by_itself_whoever_counts_at_the_same_time(tmp_path: Path) -> None:
    layout = VaultLayout(str(tmp_path / "repo"), str(tmp_path / "runtime"))
    assert set(tally.read_tally(layout).values()) == {0}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda what: tally.add_to_tally(layout, what), [*Odd] * 20))
    tally.add_to_tally(layout, Odd.EVENT_DROPPED, 5)
    counted = tally.read_tally(layout)
    assert counted == dict.fromkeys(Odd, 20) | {Odd.EVENT_DROPPED: 25}
    assert Path(layout.events_tally).stat().st_mode & 0o777 == 0o600


def test_the_file_has_a_bound_and_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = VaultLayout(str(tmp_path / "repo"), str(tmp_path / "runtime"))
    monkeypatch.setattr(tally, "MAX_TALLY_BYTES", 10)
    for _ in range(3):
        tally.add_to_tally(layout, Odd.UNKNOWN, 4)
    assert tally.read_tally(layout)[Odd.UNKNOWN] == 10
    file = Path(layout.events_tally)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        tally.add_to_tally(layout, Odd.UNKNOWN)
    assert not (tmp_path / "elsewhere").exists()
