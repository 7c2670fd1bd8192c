"""Which sessions were told that the memory can't be read: told once, and rather twice than never."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.clock import SystemClock
from gitmem.model.answer import Status
from gitmem.service import notices
from gitmem.service.notices import forget_told, mark_told

CLOCK = SystemClock()


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


def mark(home: str, session: str, status: Status = Status.UNAVAILABLE) -> bool:
    return mark_told(home, session, status, CLOCK)


def test_a_session_is_told_once_of_each_status_until_it_forgets(home: str) -> None:
    assert [mark(home, "s1"), mark(home, "s1"), mark(home, "s2"), mark(home, "s1", Status.DEGRADED)] == [
        *(True, False, True, True),
    ]
    forget_told(home, "s1")
    assert [mark(home, "s1"), mark(home, "s1", Status.DEGRADED), mark(home, "s2")] == [True, True, False]


def test_of_many_at_the_same_moment_one_is_the_first(home: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(lambda _number: mark(home, "s1"), range(32))) == [False] * 31 + [True]


def test_no_name_of_a_session_is_on_disk_and_none_leads_anywhere(home: str, tmp_path: Path) -> None:
    for session in ("../../escaped", "qzxsecretxzq", "\ud800", ""):
        assert mark(home, session)
    folder = tmp_path / "told"
    assert [path.name for path in tmp_path.iterdir()] == ["told"]
    assert {(len(path.name), path.read_bytes(), path.stat().st_mode & 0o777) for path in folder.iterdir()} == {
        (32, b"", 0o600)
    }
    assert folder.stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_remembered_it_is_told_again(home: str, tmp_path: Path) -> None:
    (tmp_path / "told").write_text("in the way")
    assert [mark(home, "s1"), mark(home, "s1")] == [True, True]
    forget_told(home, "s1")
    (tmp_path / "told").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "told").symlink_to(elsewhere)
    assert [mark(home, "s1"), mark(home, "s1")] == [True, True]
    assert list(elsewhere.iterdir()) == []


def test_the_oldest_go(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "MAX_TOLD", 3)
    for number in range(5):
        mark(home, f"s{number}")
        for file in (tmp_path / "told").iterdir():  # each a second older with each new one
            info = file.stat()
            os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns - 10**9))
    assert len(list((tmp_path / "told").iterdir())) == 3
    assert not mark(home, "s4")
    assert mark(home, "s0")
    for file in (tmp_path / "told").iterdir():
        os.utime(file, (0, 0))
    (tmp_path / "told" / "theirs").write_text("")
    os.utime(tmp_path / "told" / "theirs", (0, 0))
    mark(home, "new")
    assert len(list((tmp_path / "told").iterdir())) == 2
