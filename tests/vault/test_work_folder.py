"""Files are written, exchanged and moved by name within an open folder; no link leads anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.errors import StateError
from gitmem.model.vault_path import VaultPath
from gitmem.vault.paths import open_folder, read_file
from gitmem.vault.work_folder import WorkFolder


@pytest.fixture(autouse=True, params=["by descriptor", "by path"])
def _ways_to_open(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by path":  # as on Windows
        monkeypatch.setattr("gitmem.vault.folder._BY_FD", False)


def names(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_everything_that_can_be_done_with_a_file(tmp_path: Path) -> None:
    with WorkFolder(str(tmp_path), "a/b", make=True) as folder:
        folder.write_new("one", b"1", 0o644)
        folder.write_new("two", b"2", 0o644)
        with pytest.raises(FileExistsError):
            folder.write_new("one", b"3", 0o644)
        assert folder.exchange("one", "two")
        assert (folder.has("one"), folder.has("also")) == (True, False)
        folder.set_mode("one", 0o600)
        assert [mode and mode & 0o777 for mode in map(folder.find_mode, ("one", "also"))] == [0o600, None]
        folder.write_new("also", b"2", 0o644)
        folder.move("also", "moved")
        with pytest.raises(FileExistsError):
            folder.move_aside("moved", "two")
        folder.move_aside("moved", "aside")
        folder.move_aside("aside", "moved")
        with pytest.raises(FileExistsError):
            folder.move_no_replace("moved", "two")
        folder.move_no_replace("moved", "third")
        folder.replace("two", b"new", 0o644, ".temp")
        folder.write_new(".temp", b"left by a kill", 0o644)
        folder.replace("two", b"newer", 0o644, ".temp")
        folder.discard("nothing")
        folder.flush()
        assert folder.names() == ["one", "third", "two"]
        folder.unlink("one")
        folder.move_out("third", str(tmp_path / "out"))
    assert names(tmp_path / "a/b") == {"two": b"newer"}
    assert (tmp_path / "out").read_bytes() == b"2"
    (tmp_path / "a/b/two").unlink()
    with WorkFolder(str(tmp_path), "a") as folder:
        folder.remove_folder("b")
    assert list((tmp_path / "a").iterdir()) == []


@pytest.mark.parametrize("make", [False, True])
@pytest.mark.parametrize("link", ["a", "a/b"])
def test_a_link_on_the_way_is_told_and_not_followed(tmp_path: Path, link: str, *, make: bool) -> None:
    (tmp_path / "outside/b").mkdir(parents=True)
    (tmp_path / "outside/b/c.md").write_text("outside")
    root = tmp_path / "vault"
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(tmp_path / "outside" / ("b" if "/" in link else ""))
    with pytest.raises(StateError) as caught:
        open_folder(str(root), VaultPath("a/b/c.md"), make=make)
    assert (caught.value.code, caught.value.message.split()[0]) == ("symlink-in-path", link)
    with pytest.raises(StateError):
        read_file(str(root), VaultPath("a/b/c.md"))
    assert sorted(path.name for path in (tmp_path / "outside/b").iterdir()) == ["c.md"]


def test_what_is_not_there_is_absent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in ("nothing.md", "a/nothing.md", "file/nothing.md"):
        assert read_file(str(tmp_path), VaultPath(path)) is None
