"""Edits are made all or none, and never over what somebody else wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.errors import StateError, UnavailableError
from gitmem.hosts.install.apply import apply_edits, remove_empty
from gitmem.hosts.install.plan import FileEdit


def make(path: Path, text: str = "new\n", mode: int = 0o600) -> FileEdit:
    return FileEdit(str(path), str(path), None, text.encode(), mode)


def test_folders_are_made_and_told_parents_first(tmp_path: Path) -> None:
    made = apply_edits([make(tmp_path / "a/b/c.json"), make(tmp_path / "d/e.md", mode=0o644)])
    assert made == tuple(str(tmp_path / name) for name in ("a", "a/b", "d"))
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b", "a/b/c.json", "d", "d/e.md")}
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/c.json": 0o600, "d": 0o755, "d/e.md": 0o644}
    remove_empty(made[::-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]


def test_a_mode_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"old\n")
    file.chmod(0o664)
    apply_edits([FileEdit(str(file), str(file), b"old\n", b"new\n", 0o664)])
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new\n", 0o664)


def test_what_fails_half_way_is_taken_back(tmp_path: Path) -> None:
    old, gone, new = tmp_path / "old", tmp_path / "gone", tmp_path / "folder/new"
    for file in (old, gone):
        file.write_bytes(b"1\n")
    edits = [
        FileEdit(str(old), str(old), b"1\n", b"2\n", 0o600),
        FileEdit(str(gone), str(gone), b"1\n", None, 0o600),
        make(new),
        make(tmp_path / "old/below"),  # a file is no folder
    ]
    with pytest.raises(UnavailableError) as refused:
        apply_edits(edits)
    assert refused.value.code == "disk"
    assert (old.read_bytes(), gone.read_bytes()) == (b"1\n", b"1\n")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("nth", [0, 1])
def test_what_somebody_writes_meanwhile_stays(tmp_path: Path, nth: int) -> None:
    files = [tmp_path / name for name in "ab"]
    for file in files:
        file.write_bytes(b"1\n")
    edits = [FileEdit(str(file), str(file), b"1\n", b"2\n", 0o600) for file in files]

    def write(path: str) -> None:
        if path == str(files[nth]):
            files[nth].write_bytes(b"theirs\n")

    with pytest.raises(StateError) as refused:
        apply_edits(edits, write)
    assert refused.value.code == "changed-meanwhile"
    assert [file.read_bytes() for file in files] == [b"theirs\n" if i == nth else b"1\n" for i in (0, 1)]


def test_a_link_that_was_turned_meanwhile_is_not_followed(tmp_path: Path) -> None:
    file, elsewhere = tmp_path / "a", tmp_path / "b"
    for one in (file, elsewhere):
        one.write_bytes(b"1\n")

    def turn(_path: str) -> None:
        file.unlink()
        file.symlink_to(elsewhere)

    with pytest.raises(StateError):
        apply_edits([FileEdit(str(file), str(file), b"1\n", b"2\n", 0o600)], turn)
    assert elsewhere.read_bytes() == b"1\n"
