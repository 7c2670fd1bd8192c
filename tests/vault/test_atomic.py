"""Files are replaced whole, appended whole, exchanged in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.vault.atomic import append_line, ensure_folder, exchange, move_no_replace, replace_file, write_new


def test_replace_leaves_no_other_file_behind(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    replace_file(str(target), b"one")
    replace_file(str(target), b"two")
    assert target.read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_new_files_are_private_and_never_written_over(tmp_path: Path) -> None:
    target = tmp_path / "a"
    write_new(str(target), b"one")
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_new(str(target), b"two")
    assert target.read_bytes() == b"one"


def test_a_torn_last_line_is_ended_before_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "lines"
    append_line(str(target), b"one")
    with target.open("ab") as file:
        file.write(b"to")
    append_line(str(target), b"three")
    assert target.read_bytes() == b"one\nto\nthree\n"


def test_exchange_swaps_two_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"A")
    b.write_bytes(b"B")
    assert exchange(str(a), str(b)) is True
    assert (a.read_bytes(), b.read_bytes()) == (b"B", b"A")


def test_exchange_with_a_missing_file_changes_nothing(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_bytes(b"A")
    with pytest.raises(FileNotFoundError):
        exchange(str(a), str(tmp_path / "b"))
    assert a.read_bytes() == b"A"


def test_move_does_not_replace(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"A")
    b.write_bytes(b"B")
    with pytest.raises(FileExistsError):
        move_no_replace(str(a), str(b))
    assert (a.read_bytes(), b.read_bytes()) == (b"A", b"B")
    b.unlink()
    move_no_replace(str(a), str(b))
    assert not a.exists()
    assert b.read_bytes() == b"A"


def test_folders_are_private(tmp_path: Path) -> None:
    ensure_folder(str(tmp_path / "x" / "y"))
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "x" / "y").stat().st_mode & 0o777 == 0o700
