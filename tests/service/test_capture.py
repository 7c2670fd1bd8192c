"""What keeps an event from being kept, beside a host's own odd payloads."""

from __future__ import annotations

import pytest

from gitmem.errors import UnavailableError
from gitmem.model.event import EventKind, Odd, Seen
from gitmem.service import capture
from gitmem.service.memory import Memory
from gitmem.vault.spool import iter_spools
from gitmem.vault.tally import read_tally


def test_when_the_scanner_fails_nothing_is_kept_and_that_is_counted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_text: str) -> None:
        raise UnavailableError("scanner-failed", "the scanner failed", "Try again.")

    monkeypatch.setattr(capture, "find_secrets", fail)
    with pytest.raises(UnavailableError, match="the scanner failed"):
        memory.capture(Seen(EventKind.STOP, "s1", "codex"))
    assert list(iter_spools(memory.vault.layout)) == []
    assert read_tally(memory.vault.layout)[Odd.FAILED] == 1


def test_no_name_of_a_file_is_kept_where_there_is_no_project(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nowhere = tmp_path_factory.mktemp("nowhere")
    event = memory.capture(Seen(EventKind.TOOL, "s1", "codex", str(nowhere), tool="Edit", paths=("a.py", "/b.py")))
    assert event is not None
    assert (event.paths, event.outside) == ((), 2)
