"""Recovery puts files where they belong, and loses to every program that writes one at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.files import bring_forward, take_back, temp_name
from gitmem.transaction.journal import JournalEdit
from gitmem.vault import atomic

PATH = VaultPath("promoted/note.md")
OLD, NEW, THEIRS = b"old\n", b"new\n", b"theirs\n"


def make_edit(before: bytes | None, after: bytes | None) -> JournalEdit:
    def name(data: bytes | None) -> Fingerprint | None:
        return None if data is None else fingerprint(data)

    return JournalEdit(PATH, name(before), name(before), name(after), temp_name(PATH, OpId("op-1"), 0))


def place(root: Path, data: bytes | None) -> Path:
    target = root / PATH
    target.parent.mkdir()
    if data is not None:
        target.write_bytes(data)
    return target


def read(target: Path) -> bytes | None:
    return target.read_bytes() if target.exists() else None


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (None, NEW), (OLD, None)])
def test_a_file_is_brought_back_and_forward(tmp_path: Path, before: bytes | None, after: bytes | None) -> None:
    edit, target = make_edit(before, after), place(tmp_path, after)
    assert take_back(str(tmp_path), edit, before) is None
    assert read(target) == before
    assert bring_forward(str(tmp_path), edit, after) is None
    assert read(target) == after


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (None, NEW), (OLD, None)])
@pytest.mark.parametrize("way", ["exchange", "move_no_replace"])
def test_a_save_at_that_very_moment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None, after: bytes | None, way: str
) -> None:
    target = place(tmp_path, after)
    real: Callable[[str, str, int | None], object] = getattr(atomic, way)
    saves = []

    def save_first(one: str, other: str, dir_fd: int | None) -> object:
        if not saves and target.name in (one, other):
            target.write_bytes(THEIRS)
            saves.append(way)
        return real(one, other, dir_fd)

    monkeypatch.setattr(atomic, way, save_first)
    told = take_back(str(tmp_path), make_edit(before, after), before)
    assert read(target) == (THEIRS if saves else before)
    assert (told is not None) == bool(saves)
    assert bool(saves) == (way == ("exchange" if before and after else "move_no_replace"))
