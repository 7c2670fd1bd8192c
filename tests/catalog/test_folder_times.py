"""A large vault is read by its folders' times: what is found at once, and what at the latest after some reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from catalog_ground import Ground, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.catalog.query import Filters, list_private_paths, list_rows
from gitmem.catalog.vocabulary import count_tags
from gitmem.model.record import State
from gitmem.vault.folder_times import Known, KnownFolder, plan_slice
from gitmem.vault.scan import FolderScan

EVERY = Filters(states=tuple(State))
MOST = 4
"""How many notes these vaults may have before they count as large, and how many are looked at in each read: 1 + 3."""
FOLDERS = ("promoted", "observations/2026-11", "promoted/deep/er")


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with Ground(tmp_path, str(tmp_path / "catalog.sqlite")) as made:
        made.max_notes, made.age_ns = MOST, 10**10
        for number in range(12):
            made.note(
                f"{FOLDERS[number % 3]}/{number:02}.md", number, f"word{number} common\n", tags=f"[t{number % 2}]"
            )
        made.refresh()
        made.refresh()
        made.reads.clear()
        yield made


def write_in_place(ground: Ground, path: str, text: str) -> None:
    with (ground.root / path).open("r+b") as file:
        file.truncate()
        file.write(text.encode())


def count_reads(ground: Ground, word: str) -> int:
    """Return how many reads it takes until ``word`` is found."""
    return next(number for number in range(1, 30) if ground.find(word))


def test_an_unchanged_vault_is_read_by_its_folders(ground: Ground) -> None:
    report = ground.refresh()
    assert (report.tier, report.notes, report.changed) == ("folders", 12, 0)
    assert 3 <= report.looked_at <= MOST
    assert ground.reads == []


def test_a_small_vault_and_a_first_look_are_strict(ground: Ground) -> None:
    ground.max_notes = 12
    report = ground.refresh()
    assert (report.tier, report.looked_at) == ("strict", 12)
    with Ground(ground.root.parent, ":memory:") as fresh:
        fresh.max_notes = MOST
        assert fresh.refresh().looked_at == 12


@pytest.mark.parametrize("number", range(12))
def test_an_edit_in_place_is_found_when_its_turn_comes(ground: Ground, number: int) -> None:
    path = f"{FOLDERS[number % 3]}/{number:02}.md"
    text = (ground.root / path).read_text()
    before = os.stat(ground.root / os.path.dirname(path)).st_ctime_ns
    write_in_place(ground, path, f"{text}heron\n")
    assert os.stat(ground.root / os.path.dirname(path)).st_ctime_ns == before
    assert count_reads(ground, "heron") <= 4  # 12 notes, 3 a read
    assert ground.reads == [path]
    write_in_place(ground, path, f"{text}bittern\n")
    assert count_reads(ground, "bittern") == 1  # it changed lately


@pytest.mark.parametrize("change", ["add", "remove", "move", "replace", "set-back", "new-folder", "move-folder"])
def test_all_other_changes_are_found_at_once(ground: Ground, change: str) -> None:
    file = ground.root / "promoted/00.md"
    other = ground.root / "new.md"
    other.write_text(file.read_text() + "heron\n")
    if change in ("replace", "set-back"):
        times = (ground.root / "promoted").stat()
        os.replace(other, file)
        if change == "set-back":
            os.utime(ground.root / "promoted", ns=(times.st_atime_ns, times.st_mtime_ns))
    elif change == "add":
        ground.note("promoted/new.md", 50, "heron\n")
    elif change == "remove":
        file.unlink()
    elif change == "move":
        file.rename(ground.root / "observations/2026-11/00.md")
    elif change == "new-folder":
        ground.note("promoted/deep/new/new.md", 50, "heron\n")
    else:
        (ground.root / "promoted/deep").rename(ground.root / "promoted/deeper")
    report = ground.refresh()
    assert report.changed >= 1
    assert tell(ground, report.problems) == tell_strict(ground)


def test_a_folder_that_changed_just_now_is_not_relied_on(ground: Ground) -> None:
    ground.note("promoted/new.md", 50, "heron\n")
    ground.age_ns = 2 * 10**9
    assert ground.refresh().looked_at >= 5
    assert ground.refresh().looked_at >= 5
    ground.age_ns = 10**10
    assert ground.refresh().looked_at >= 5
    assert ground.refresh().looked_at <= MOST


def test_a_clock_that_went_back_makes_no_folder_trusted(ground: Ground) -> None:
    ground.note("promoted/new.md", 50, "heron\n")
    ground.age_ns = -(10**12)
    assert ground.find("heron") == ["promoted/new.md"]
    write_in_place(ground, "promoted/00.md", "---\ngitmem_id: '000000000000'\n---\nbittern\n")
    assert ground.find("bittern") == ["promoted/00.md"]


def test_problems_of_folders_that_were_not_looked_at_are_told(ground: Ground) -> None:
    (ground.root / "promoted/deep/link.md").symlink_to("00.md")
    ground.write("promoted/bad.md", "---\na: [\n---\n")
    for _ in range(6):
        report = ground.refresh()
        assert problems(report) == [("promoted/bad.md", "yaml-syntax"), ("promoted/deep/link.md", "symlink")]
    assert report.looked_at <= MOST


def test_a_note_that_became_a_link_in_its_place_is_a_problem(ground: Ground) -> None:
    (ground.root / "promoted/00.md").unlink()
    (ground.root / "promoted/00.md").symlink_to("03.md")
    assert problems(ground.refresh()) == [("promoted/00.md", "symlink")]
    assert ground.find("word0") == []


def test_a_file_in_motion_is_read_again_by_the_next_read(ground: Ground) -> None:
    file = ground.root / "promoted/09.md"
    os.replace(ground.write("new.md", file.read_text() + "heron\n"), file)

    def vanish(path: str) -> None:
        file.unlink()

    ground.before_read = vanish
    assert ground.refresh().unstable == ("promoted/09.md",)
    ground.before_read = lambda path: None
    ground.note("promoted/09.md", 9, "heron\n")
    assert ground.find("heron") == ["promoted/09.md"]


def test_a_vault_that_shrinks_and_grows_again_is_read_right(ground: Ground) -> None:
    ground.max_notes = 20
    write_in_place(ground, "promoted/00.md", "---\ngitmem_id: '000000000000'\n---\nbittern\n")
    assert ground.find("bittern") == ["promoted/00.md"]
    ground.max_notes = MOST
    write_in_place(ground, "promoted/00.md", "---\ngitmem_id: '000000000000'\n---\nheron\n")
    assert count_reads(ground, "heron") <= 5


Edit = tuple[str, int, int]


@settings(derandomize=True, max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["note", "replace", "remove", "move", "folder", "link"]),
            st.integers(0, 2),
            st.integers(0, 4),
        ),
        max_size=10,
    )
)
def test_by_times_is_the_same_as_strict(tmp_path_factory: pytest.TempPathFactory, edits: list[Edit]) -> None:
    folder = tmp_path_factory.mktemp("ground")
    with Ground(folder, str(folder / "catalog.sqlite")) as ground:
        ground.max_notes, ground.age_ns = 2, 10**10
        for number in range(5):
            ground.note(f"{FOLDERS[number % 3]}/{number}.md", number, "common\n")
        ground.refresh()
        for kind, place, number in edits:
            _make_edit(ground, kind, FOLDERS[place], number)
            assert tell(ground, ground.refresh().problems) == tell_strict(ground)


def _make_edit(ground: Ground, kind: str, folder: str, number: int) -> None:
    file = ground.root / folder / f"{number}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    spare = ground.root / "spare"
    (ground.root / "baseline").mkdir(exist_ok=True)
    edits: dict[str, Callable[[], object]] = {
        "note": lambda: (
            file.is_symlink() or file.exists() or ground.note(f"{folder}/{number}.md", number, "new common\n")
        ),
        "replace": lambda: os.replace(ground.write("new.md", f"---\ngitmem_id: '{number:012}'\n---\nother\n"), file),
        "remove": lambda: file.unlink(missing_ok=True),
        "move": lambda: file.exists() and os.replace(file, ground.root / f"baseline/moved{number}.md"),
        "folder": lambda: (
            spare.rename(ground.root / f"baseline/back{len(os.listdir(ground.root / 'baseline'))}")
            if spare.exists()
            else file.parent.rename(spare)
        ),
        "link": lambda: file.exists() or file.is_symlink() or file.symlink_to("0.md"),
    }
    edits[kind]()


def tell(ground: Ground, found: object) -> list[object]:
    database = ground.database
    return [list_rows(database, EVERY), count_tags(database, EVERY), list_private_paths(database), found]


def tell_strict(ground: Ground) -> list[object]:
    with Ground(ground.root.parent, ":memory:") as strict:
        return tell(strict, strict.refresh().problems)


@pytest.mark.parametrize(
    ("start", "most", "ranges", "end"),
    [
        (("", 0), 4, {"a": [(0, 3)]}, ("b", 0)),
        (("b", 1), 4, {"b": [(1, 4)]}, ("b", 4)),
        (("b", 4), 8, {"a": [(0, 3)], "b": [(4, 5)], "d": [(0, 2)]}, ("b", 0)),
        (("c", 7), 4, {"a": [(0, 1)], "d": [(0, 2)]}, ("a", 1)),
        (("d", 9), 4, {"a": [(0, 3)]}, ("b", 0)),
        (("zzz", 0), 400, {"a": [(0, 3)], "b": [(0, 5)], "d": [(0, 2)]}, ("a", 0)),
        (("b", 1), 400, {"a": [(0, 3)], "b": [(1, 5), (0, 1)], "d": [(0, 2)]}, ("b", 1)),
    ],
)
def test_the_turn_goes_round(start: tuple[str, int], most: int, ranges: object, end: tuple[str, int]) -> None:
    folders = {"a": 3, "b": 5, "c": 0, "d": 2}
    known = Known(
        {path: KnownFolder(b"", notes, 0) for path, notes in folders.items()}, start, lambda _: FolderScan("", b"")
    )
    turn = plan_slice(known, most)
    assert (dict(sorted(turn.ranges.items())), turn.end) == (ranges, end)
