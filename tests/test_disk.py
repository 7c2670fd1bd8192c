"""Files are written whole, replaced whole, appended whole."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.disk import append_line, ensure_folder, is_being_written, replace_file, write_new


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell")
def test_who_may_write_into_a_file_is_known(tmp_path: Path) -> None:
    target = tmp_path / "note.md"
    target.write_bytes(b"text")
    name = str(target)
    assert is_being_written(name) is False
    with target.open("rb"):
        assert is_being_written(name) is False
    with target.open("ab"):
        assert is_being_written(name) is True
    with target.open("r+b") as file, mmap.mmap(file.fileno(), 4) as mapped:
        file.close()
        assert is_being_written(name) is True  # by what it wrote into its memory
        mapped[:1] = b"T"
    assert is_being_written(name) is False
    with target.open("ab") as file, subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file) as other:
        file.close()  # another process has it open now
        assert is_being_written(name) is True
        other.communicate(b"!")
    assert is_being_written(name) is False
    assert target.read_bytes() == b"Text!"
    with pytest.raises(FileNotFoundError):
        is_being_written(str(tmp_path / "none"))
