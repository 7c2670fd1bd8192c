"""Events on disk: appended, bounded, counted where they are not kept."""

from __future__ import annotations

import datetime
import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import UnavailableError
from gitmem.model.event import Event, EventKind, Fate, Odd
from gitmem.vault import spool
from gitmem.vault.layout import VaultLayout
from gitmem.vault.tally import read_tally

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
    assert {spool.append_event(layout, one) for one in (START, TOOL, other)} == {Fate.KEPT}
    assert spool.read_spool(layout, START.session) == spool.Spool(START.session, (START, TOOL), dropped=3)
    assert sorted(one.session for one in spool.iter_spools(layout)) == ["s/../1", "s2"]
    assert [file.stat().st_mode & 0o777 for file in Path(layout.events).iterdir()] == [0o600] * 2


def test_a_file_with_nothing_in_it_is_no_session(layout: VaultLayout) -> None:
    spool.append_event(layout, START)
    for session in ("s2", "s3"):
        Path(layout.events, f"{hashlib.sha256(session.encode()).hexdigest()[:32]}.jsonl").write_bytes(b"")
    assert spool.count_waiting(layout) == spool.Waiting(sessions=1, events=1)
    assert [one.session for one in spool.iter_spools(layout)] == [START.session]


def test_beyond_the_bound_events_are_counted_and_not_kept(layout: VaultLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_SESSION_BYTES", 300)
    kept = [spool.append_event(layout, START) for _ in range(10)]
    assert kept == [Fate.KEPT, Fate.KEPT, *[Fate.NO_ROOM] * 8]
    found = spool.read_spool(layout, START.session)
    assert (len(found.events), found.dropped, found.torn) == (2, 8, 0)


def test_what_was_told_a_moment_before_is_kept_once(layout: VaultLayout) -> None:
    later = {
        seconds: replace(START, time=f"2026-12-01T09:{seconds // 60:02}:{seconds % 60:02}Z") for seconds in (5, 99)
    }
    first = replace(START, time="2026-12-01T09:00:00Z")
    kept = [spool.append_event(layout, one, 10) for one in (first, TOOL, later[5], replace(later[5], host="gemini"))]
    assert kept == [Fate.KEPT, Fate.KEPT, Fate.AGAIN, Fate.KEPT]
    assert spool.append_event(layout, later[5]) is Fate.KEPT  # nobody asked
    assert spool.append_event(layout, later[99], 10) is Fate.KEPT
    assert len(spool.read_spool(layout, START.session).events) == 5


def test_a_torn_event_is_none_that_was_told(layout: VaultLayout) -> None:
    spool.append_event(layout, START)
    file = next(Path(layout.events).iterdir())
    file.write_bytes(b'{"time"' + file.read_bytes()[file.read_bytes().index(b",") :])
    assert spool.append_event(layout, START, 10) is Fate.KEPT


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


def test_a_torn_end_is_ended_before_the_next_event_and_goes_with_what_was_read(layout: VaultLayout) -> None:
    spool.append_event(layout, START)
    file = next(Path(layout.events).iterdir())
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:20])
    read = spool.read_spool(layout, START.session)
    assert (read.events, read.torn) == ((START,), 1)
    assert spool.append_event(layout, TOOL) is Fate.KEPT
    assert spool.count_waiting(layout) == spool.Waiting(sessions=1, events=3)
    read = spool.read_spool(layout, START.session)
    assert (read.events, read.torn) == ((START, TOOL), 1)


def test_no_link_is_followed_and_no_pipe_waited_for(layout: VaultLayout, tmp_path: Path) -> None:
    spool.append_event(layout, START)
    file = next(Path(layout.events).iterdir())
    file.unlink()
    target = tmp_path / "target"
    file.symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        spool.append_event(layout, START)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="not a regular file"):
        spool.append_event(layout, START)
    assert not target.exists()


def test_a_full_disk_leaves_no_half_of_an_event(layout: VaultLayout) -> None:
    spool.append_event(layout, START)
    file = next(Path(layout.events).iterdir())
    before = file.read_bytes()
    program = (
        "import resource, signal, sys; from spool_process import append, START;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 10}, resource.RLIM_INFINITY));"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); append(sys.argv[1], START)"
    )
    done = run_process(program, layout)
    assert done.returncode == 1
    assert b"OSError" in done.stderr
    assert file.read_bytes() == before
    assert spool.read_spool(layout, START.session).events == (START,)


def test_the_oldest_sessions_give_way_ended_ones_first(layout: VaultLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_SESSIONS", 3)
    for number, kinds in enumerate(["start", "start end", "start", "start end"]):
        for kind in kinds.split():
            chosen = EventKind.SESSION_START if kind == "start" else EventKind.SESSION_END
            spool.append_event(layout, Event(START.time, f"s{number}", chosen, host="codex"))
        touch(layout, f"s{number}", f"2026-12-01T09:0{number}:00Z")
    assert kept_sessions(layout) == ["s0", "s2", "s3"]
    spool.append_event(layout, replace(START, session="s4"))
    touch(layout, "s4", "2026-12-01T09:04:00Z")
    assert kept_sessions(layout) == ["s0", "s2", "s4"]
    spool.append_event(layout, replace(START, session="s5"))
    assert kept_sessions(layout) == ["s2", "s4", "s5"]
    counted = {what: number for what, number in read_tally(layout).items() if number}
    assert counted == {Odd.SESSION_DROPPED: 3, Odd.EVENT_DROPPED: 5}


def test_sessions_beyond_the_age_or_all_bytes_give_way(layout: VaultLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.append_event(layout, START)
    touch(layout, START.session, "2026-08-31T09:00:00Z")
    spool.append_event(layout, replace(START, session="s2"))
    assert kept_sessions(layout) == ["s2"]
    touch(layout, "s2", "2026-11-30T09:00:00Z")
    monkeypatch.setattr(spool, "MAX_ALL_BYTES", 10)
    spool.append_event(layout, replace(START, session="s3"))
    assert kept_sessions(layout) == ["s3"]


def test_processes_that_append_and_are_killed_tear_nothing(layout: VaultLayout) -> None:
    program = "import sys; from spool_process import append_for_ever; append_for_ever(*sys.argv[1:])"
    running = [start_process(program, layout, f"w{number}") for number in range(6)]
    deadline = time.monotonic() + 60
    while count_least(layout, 6) < 10 and time.monotonic() < deadline:
        if spool.claim_spool(layout, "other"):
            assert all(one.torn == 0 for one in spool.iter_claimed(layout))
            spool.drop_claimed(layout, "other")
    for process in running:
        process.kill()
        process.communicate()
    shared = spool.read_spool(layout, "shared")
    assert (shared.torn, shared.dropped) == (0, 0)
    assert spool.read_spool(layout, "other").torn == 0
    for number in range(6):
        mine = [event.duration_ms for event in shared.events if event.tool == f"w{number}"]
        assert mine == list(range(len(mine)))
        assert mine


def count_least(layout: VaultLayout, writers: int) -> int:
    counts = Counter(event.tool for event in spool.read_spool(layout, "shared").events)
    return min(counts.values()) if len(counts) == writers else 0


def touch(layout: VaultLayout, session: str, moment: str) -> None:
    seconds = datetime.datetime.fromisoformat(moment).timestamp()
    hashed = hashlib.sha256(session.encode()).hexdigest()[:32]
    os.utime(Path(layout.events, f"{hashed}.jsonl"), (seconds, seconds))


def kept_sessions(layout: VaultLayout) -> list[str]:
    return sorted(one.session for one in spool.iter_spools(layout))


def start_process(program: str, layout: VaultLayout, *args: str) -> subprocess.Popen[bytes]:
    env = {"PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", program, layout.runtime, *args]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_process(program: str, layout: VaultLayout) -> subprocess.CompletedProcess[bytes]:
    with start_process(program, layout) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess([], process.returncode, out, err)
