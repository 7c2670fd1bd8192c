"""A file of a person's is replaced whole or not at all, and never where it changed meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import InputError, StateError
from gitmem.vault import outside_file
from gitmem.vault.outside_file import read_outside, replace_outside


def code_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_outside(str(path))
    return caught.value.code


def test_a_file_is_made_changed_and_taken_away(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    assert read_outside(str(file)) is None
    replace_outside(str(file), None, b"one")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"one", 0o644 & ~_umask())
    file.chmod(0o664)
    replace_outside(str(file), b"one", b"two")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"two", 0o664)
    replace_outside(str(file), b"two", None)
    assert list(tmp_path.iterdir()) == []


def test_odd_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"x")
    (tmp_path / "link.md").symlink_to(file)
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    os.link(file, tmp_path / "second.md")
    names = ("link.md", "gone.md", "pipe.md", "second.md", ".")
    assert [code_of(tmp_path / name) for name in names] == ["odd-file"] * 5
    assert code_of(tmp_path / "nowhere" / "x.md") == "no-such-folder"
    (tmp_path / "large.md").touch()
    os.truncate(tmp_path / "large.md", (4 << 20) + 1)
    assert code_of(tmp_path / "large.md") == "file-too-large"


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("after", [b"new", None])
def test_an_edit_that_comes_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bytes | None, *, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(outside_file, "exchange", lambda _one, _other: False)
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"theirs")
    with pytest.raises(StateError) as caught:
        replace_outside(str(file), b"old", after)
    assert caught.value.code == "changed-meanwhile"
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"AGENTS.md": b"theirs"}
    with pytest.raises(StateError):
        replace_outside(str(file), None, b"new")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"AGENTS.md": b"theirs"}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
