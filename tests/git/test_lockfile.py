import os
from pathlib import Path

import pytest

from gitmem.git.lockfile import find_age_s, is_own, read_lock, remove_leftovers, remove_own, take_lock


def test_a_lock_is_held_by_one_and_released_by_that_one_only(tmp_path: Path) -> None:
    path = str(tmp_path / "index.lock")
    first = take_lock(path, "observe\n op 1", str(tmp_path))
    assert first is not None
    assert (read_lock(path) or b"").startswith(b"gitmem observe op 1 ")
    assert take_lock(path, "other", str(tmp_path)) is None
    first.release()
    first.release()
    second = take_lock(path, "observe\n op 1", str(tmp_path))
    assert second is not None
    first.release()
    assert read_lock(path) == second.content
    assert os.listdir(tmp_path) == ["index.lock"]


def test_only_gitmems_own_lock_is_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "index.lock")
    assert (is_own(path), remove_own(path), find_age_s(path, 0)) == (False, False, None)
    for foreign in (b"", b"DIRC", b"gitmem"):
        (tmp_path / "index.lock").write_bytes(foreign)
        assert (is_own(path), remove_own(path)) == (False, False)
    os.utime(path, (100, 100))
    assert [find_age_s(path, second * 10**9) for second in (0, 100, 190)] == [0, 0, 90]
    os.unlink(path)
    take_lock(path, "x", str(tmp_path))
    assert (remove_own(path), remove_own(path)) == (True, False)


def test_what_a_kill_leaves_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "gitmem-lock-abc").write_bytes(b"")
    (tmp_path / "HEAD").write_bytes(b"")
    remove_leftovers(str(tmp_path))
    assert os.listdir(tmp_path) == ["HEAD"]


def test_without_hard_links_the_lock_is_still_exclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: str, _target: str) -> None:
        raise PermissionError("no links on this file system")

    monkeypatch.setattr("os.link", refuse)
    path = str(tmp_path / "index.lock")
    lock = take_lock(path, "x", str(tmp_path))
    assert lock is not None
    assert take_lock(path, "y", str(tmp_path)) is None
    assert read_lock(path) == lock.content
    lock.release()
    assert os.listdir(tmp_path) == []


def test_a_link_in_the_locks_place_is_never_read_or_removed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"gitmem x\n")
    os.symlink(tmp_path / "target", tmp_path / "index.lock")
    path = str(tmp_path / "index.lock")
    assert (read_lock(path), is_own(path)) == (None, False)
    assert take_lock(path, "x", str(tmp_path)) is None


def test_an_interrupt_just_after_the_lock_is_there_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def interrupted(*args: str) -> None:
        link(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupted)
    with pytest.raises(KeyboardInterrupt):
        take_lock(str(tmp_path / "main.lock"), "x", str(tmp_path))
    assert os.listdir(tmp_path) == []
