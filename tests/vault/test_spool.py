"""Events on disk: appended, bounded, counted where they are not kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import UnavailableError
from gitmem.model.event import Event, EventKind
from gitmem.vault import spool
from gitmem.vault.layout import VaultLayout

START = Event("2026-12-01T10:00:00Z", "s/../1", EventKind.SESSION_START, host="codex", detail="startup")
TOOL = Event(
    time="2026-12-01T10:00:01Z",
    session="s/../1",
    kind=EventKind.TOOL,
    host="codex",
    tool="Bash",
    command="git commit",
    paths=("src/a b.py",),
    outside=2,
    exit_code=0,
    failed=False,
    duration_ms=0,
    input_bytes=12,
    output_bytes=0,
    digest="0" * 32,
    commit="1" * 40,
    dropped=3,
)


@pytest.fixture
def layout(tmp_path: Path) -> VaultLayout:
    return VaultLayout(str(tmp_path / "repo"), str(tmp_path / "runtime"))


def test_events_read_back_in_order_and_apart_by_session(layout: VaultLayout) -> None:
    other = replace(START, session="s2")
    assert all(spool.append_event(layout, one) for one in (START, TOOL, other))
    assert spool.read_spool(layout, START.session) == spool.Spool(START.session, (START, TOOL), dropped=3)
    assert sorted(one.session for one in spool.iter_spools(layout)) == ["s/../1", "s2"]
    spool.drop_spool(layout, START.session)
    spool.drop_spool(layout, START.session)
    assert spool.read_spool(layout, START.session).events == ()
    assert [file.stat().st_mode & 0o777 for file in Path(layout.events).iterdir()] == [0o600]


def test_beyond_the_bound_events_are_counted_and_not_kept(layout: VaultLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_SESSION_BYTES", 300)
    kept = [spool.append_event(layout, START) for _ in range(10)]
    assert kept == [True, True, *[False] * 8]
    found = spool.read_spool(layout, START.session)
    assert (len(found.events), found.dropped, found.torn) == (2, 8, 0)


def test_torn_lines_are_counted_and_an_unreadable_folder_is_no_empty_one(layout: VaultLayout) -> None:
    spool.append_event(layout, START)
    file = next(Path(layout.events).iterdir())
    file.write_bytes(file.read_bytes() + b'{"time": "2026-\n' + file.read_bytes() + b'{"kind"')
    found = spool.read_spool(layout, START.session)
    assert (found.events, found.torn) == ((START, START), 2)
    file.unlink()
    Path(layout.events).rmdir()
    Path(layout.events).write_text("no folder")
    with pytest.raises(UnavailableError):
        list(spool.iter_spools(layout))
