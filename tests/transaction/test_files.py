"""Recovery puts files where they belong, and loses to every program that writes one at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import StateError
from gitmem.model.ids import Fingerprint, OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.displaced import keep_displaced
from gitmem.transaction.files import bring_forward, put_in_place, take_back, temp_name, temps_of
from gitmem.transaction.journal import JournalEdit
from gitmem.vault import atomic
from gitmem.vault.layout import VaultLayout

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
@pytest.mark.parametrize("way", ["exchange", "move_no_replace", "move_aside"])
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
    assert bool(saves) == (way == ("exchange" if before and after else "move_aside" if after else "move_no_replace"))


def around(monkeypatch: pytest.MonkeyPatch, way: str, *acts: Callable[[], object]) -> None:
    """Have a person act just before each call of the renames that ``files`` makes, in turn."""
    real: Callable[[str, str, int | None], object] = getattr(atomic, way)
    waiting = list(acts)

    def act_first(one: str, other: str, dir_fd: int | None) -> object:
        if waiting:
            waiting.pop(0)()
        return real(one, other, dir_fd)

    monkeypatch.setattr(atomic, way, act_first)


def kept_beside(root: Path, edit: JournalEdit) -> set[bytes]:
    return {(root / name).read_bytes() for name in temps_of(edit) if (root / name).is_file()}


def nothing() -> None:
    pass


def test_an_edit_that_another_program_could_not_see_is_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person edits just before the exchange; another program reads what gitmem put there, and saves over the edit."""
    edit, target = make_edit(OLD, NEW), place(tmp_path, OLD)

    def save_over() -> None:
        assert target.read_bytes() == NEW

    around(monkeypatch, "exchange", lambda: target.write_bytes(THEIRS), save_over)
    with pytest.raises(StateError, match="edited by another program"):
        put_in_place(str(tmp_path), edit, NEW)
    assert target.read_bytes() == THEIRS
    target.write_bytes(NEW + b"theirs, later\n")
    assert THEIRS in kept_beside(tmp_path, edit)


def test_a_write_while_the_edit_is_given_back_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit, target = make_edit(OLD, NEW), place(tmp_path, OLD)
    with target.open("ab", buffering=0) as editor:
        around(monkeypatch, "exchange", lambda: editor.write(b"one\n"), lambda: editor.write(b"two\n"))
        with pytest.raises(StateError):
            put_in_place(str(tmp_path), edit, NEW)
    assert target.read_bytes() == OLD + b"one\ntwo\n"
    assert {OLD + b"one\n", OLD + b"one\ntwo\n"} <= kept_beside(tmp_path, edit)


@pytest.mark.parametrize("gone", [True, False], ids=["removed", "replaced"])
def test_what_stands_there_when_the_edit_is_given_back_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    edit, target = make_edit(OLD, NEW), place(tmp_path, OLD)

    def act_again() -> None:
        target.unlink()
        if not gone:
            target.write_bytes(b"a third\n")

    around(monkeypatch, "exchange", lambda: target.write_bytes(THEIRS), act_again)
    with pytest.raises(StateError):
        put_in_place(str(tmp_path), edit, NEW)
    assert read(target) == (None if gone else THEIRS)
    assert kept_beside(tmp_path, edit) >= ({THEIRS} if gone else {b"a third\n"})


@pytest.mark.parametrize("again", [True, False], ids=["made anew", "left"])
def test_an_edit_while_a_note_is_taken_away_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    edit, target = make_edit(OLD, None), place(tmp_path, OLD)
    around(monkeypatch, "move_aside", lambda: target.write_bytes(THEIRS))
    around(monkeypatch, "move_no_replace", (lambda: target.write_bytes(b"anew\n")) if again else nothing)
    with pytest.raises(StateError):
        put_in_place(str(tmp_path), edit, None)
    assert read(target) == (b"anew\n" if again else THEIRS)
    assert THEIRS in kept_beside(tmp_path, edit)


@pytest.mark.parametrize("moment", [0, 1], ids=["before the old one goes", "before the new one comes"])
def test_without_an_exchange_a_rename_into_place_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    edit, target = make_edit(OLD, NEW), place(tmp_path, OLD)

    def rename() -> None:
        (tmp_path / "saved").write_bytes(THEIRS)
        (tmp_path / "saved").replace(target)

    monkeypatch.setattr(atomic, "exchange", lambda _a, _b, _fd: False)
    around(monkeypatch, ("move_aside", "move_no_replace")[moment], rename)
    with pytest.raises(StateError):
        put_in_place(str(tmp_path), edit, NEW)
    assert target.read_bytes() == THEIRS


@pytest.mark.parametrize("kind", ["link", "folder"])
@pytest.mark.parametrize(("before", "after", "way"), [(OLD, NEW, "exchange"), (OLD, None, "move_aside")])
def test_a_link_or_folder_that_comes_at_that_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, before: bytes, after: bytes | None, way: str
) -> None:
    edit, target = make_edit(before, after), place(tmp_path, before)

    def put_there() -> None:
        target.unlink()
        if kind == "link":
            target.symlink_to(tmp_path / "elsewhere")
        else:
            target.mkdir()

    around(monkeypatch, way, put_there)
    with pytest.raises(StateError) as refused:
        put_in_place(str(tmp_path), edit, after)
    assert refused.value.code == "edited-meanwhile"
    assert target.is_symlink() if kind == "link" else target.is_dir()
    assert take_back(str(tmp_path), edit, before) == f"{PATH} was edited meanwhile and is left as it is"
    assert target.is_symlink() if kind == "link" else target.is_dir()


def test_what_is_kept_replaces_nothing_and_has_room_for_its_name(tmp_path: Path) -> None:
    layout = VaultLayout(repo=str(tmp_path / "repo"), runtime=str(tmp_path / "runtime"))
    for data in (OLD, NEW, OLD, THEIRS):
        keep_displaced(layout, OpId("op-1"), "a/b.md", data)
    folder = tmp_path / "runtime" / "displaced" / "op-1"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "a%2Fb.md": OLD,
        "2.a%2Fb.md": NEW,
        "3.a%2Fb.md": THEIRS,
    }
    keep_displaced(layout, OpId("op-2"), "/".join(["é" * 100] * 9) + "/end.md", OLD)
    long = [path.name for path in (tmp_path / "runtime" / "displaced" / "op-2").iterdir()]
    assert [name.endswith("é%2Fend.md") for name in long] == [True]
