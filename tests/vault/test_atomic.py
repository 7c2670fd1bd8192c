"""Files are exchanged in one step, and moved without replacing anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.vault.atomic import exchange, move_no_replace


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
