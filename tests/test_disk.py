"""Files are written whole, replaced whole, appended whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.disk import append_line, ensure_folder, replace_file, write_new


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


def test_folders_are_private(tmp_path: Path) -> None:
    ensure_folder(str(tmp_path / "x" / "y"))
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "x" / "y").stat().st_mode & 0o777 == 0o700
