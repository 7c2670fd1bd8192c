import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from catalog_ground import IDS, Ground, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.catalog.query import (
    Filters,
    find_row,
    list_private_paths,
    list_rows,
)
from gitmem.catalog.vocabulary import count_tags
from gitmem.errors import UnavailableError
from gitmem.model.record import State

EVERY = Filters(states=tuple(State))


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with Ground(tmp_path, str(tmp_path / "catalog.sqlite")) as made:
        yield made


def stored_bytes(ground: Ground) -> bytes:
    return b"".join(file.read_bytes() for file in ground.root.parent.glob("catalog.sqlite*"))


class TestSteps:
    def test_reads_each_file_once_and_then_only_what_changed(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "alpha\n")
        ground.note("observations/2026-11/b.md", 2, "beta\n")
        ground.write("promoted/plain.md", "A person's note, gamma.\n")
        assert ground.refresh().changed == 3
        assert ground.reads == ["observations/2026-11/b.md", "promoted/a.md", "promoted/plain.md"]
        ground.reads.clear()
        assert ground.refresh().changed == 0
        assert ground.reads == []
        ground.note("promoted/a.md", 1, "alpha and delta\n")
        assert ground.refresh().changed == 1
        assert ground.reads == ["promoted/a.md"]
        assert ground.find("delta") == ["promoted/a.md"]
        assert ground.find("gamma") == []

    def test_forgets_what_went(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "alpha\n", title="Heron", key="heron", tags="[bird]")
        ground.refresh()
        ground.remove("promoted/a.md")
        assert ground.refresh().changed == 1
        assert ground.find("alpha heron bird") == []
        assert (list_rows(ground.database, EVERY), count_tags(ground.database, EVERY)) == ([], [])

    def test_follows_a_record_to_another_folder(self, ground: Ground) -> None:
        file = ground.note("promoted/a.md", 1, "alpha\n")
        ground.refresh()
        (ground.root / "retired/2026-11").mkdir(parents=True)
        file.rename(ground.root / "retired/2026-11/a.md")
        assert ground.refresh().changed == 2
        assert ground.find("alpha") == []
        row = find_row(ground.database, IDS[1])
        assert row is not None
        assert (row.path, row.state) == ("retired/2026-11/a.md", State.RETIRED)

    def test_a_file_changed_just_before_the_scan_is_looked_at_again(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "alpha\n")
        ground.age_ns = 50_000_000
        assert ground.refresh().changed == 1
        ground.reads.clear()
        ground.age_ns = 10**9
        assert ground.refresh().changed == 0
        assert set(ground.reads) == {"promoted/a.md"}
        ground.reads.clear()
        ground.refresh()
        assert ground.reads == []

    def test_one_failure_keeps_everything_as_it_was(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "alpha\n")
        ground.refresh()
        ground.note("promoted/a.md", 1, "beta\n")
        ground.parse = lambda path, data: 1 / 0  # type: ignore[assignment, return-value]
        with pytest.raises(ZeroDivisionError):
            ground.refresh()
        assert [row.path for row in list_rows(ground.database)] == ["promoted/a.md"]


class TestProblems:
    def test_a_note_that_cannot_be_parsed_is_seen(self, ground: Ground) -> None:
        ground.write("promoted/bad.md", "---\ngitmem_id: [\n---\n")
        ground.note("promoted/id.md", 1).write_text("---\ngitmem_id: nope\n---\n")
        ground.write("promoted/con.md", f"---\ngitmem_id: '{IDS[2]}'\n---\n")
        report = ground.refresh()
        assert problems(report) == [
            ("promoted/bad.md", "yaml-syntax"),
            ("promoted/con.md", "bad-path"),
            ("promoted/id.md", "bad-record-id"),
        ]
        assert ground.refresh().problems == report.problems
        ground.remove("promoted/bad.md")
        ground.note("promoted/id.md", 1)
        assert problems(ground.refresh()) == [("promoted/con.md", "bad-path")]

    def test_a_property_that_does_not_fit_is_a_problem_of_a_record(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, kind="recipe")
        assert problems(ground.refresh()) == [("promoted/a.md", "property-does-not-fit")]
        assert find_row(ground.database, IDS[1]) is not None

    def test_problems_of_the_scan_are_reported_too(self, ground: Ground) -> None:
        ground.note("promoted/b.md", 1, kind="recipe")
        (ground.root / "promoted/a.md").symlink_to("b.md")
        assert problems(ground.refresh()) == [
            ("promoted/a.md", "symlink"),
            ("promoted/b.md", "property-does-not-fit"),
        ]

    def test_a_file_too_large_is_a_problem(self, ground: Ground) -> None:
        os.truncate(ground.note("promoted/a.md", 1), 2 << 20)
        assert problems(ground.refresh()) == [("promoted/a.md", "too-large")]

    def test_a_file_that_keeps_changing_is_left_out_and_read_again(self, ground: Ground) -> None:
        file = ground.note("promoted/a.md", 1, "alpha\n")
        ground.note("promoted/b.md", 2, "alpha\n")
        ground.refresh()
        file.write_text(file.read_text() + "beta\n")

        def vanish(path: str) -> None:
            (ground.root / path).unlink()

        ground.before_read = vanish
        report = ground.refresh()
        assert (report.unstable, problems(report)) == (("promoted/a.md",), [("promoted/a.md", "unstable")])
        assert [row.path for row in list_rows(ground.database)] == ["promoted/b.md"]
        ground.before_read = lambda path: None
        ground.note("promoted/a.md", 1, "alpha beta\n")
        report = ground.refresh()
        assert (report.unstable, problems(report)) == ((), [])
        assert ground.find("beta") == ["promoted/a.md"]

    def test_of_two_files_with_one_id_the_first_answers_and_both_are_problems(self, ground: Ground) -> None:
        ground.note("promoted/b.md", 1, "alpha\n")
        ground.refresh()
        ground.note("promoted/a.md", 1, "alpha\n")
        ground.note("promoted/c.md", 1, "alpha gamma\n")
        report = ground.refresh()
        assert problems(report) == [(f"promoted/{name}.md", "duplicate-id") for name in "abc"]
        assert report.problems[0].message == (
            "these files have the same gitmem_id: promoted/a.md, promoted/b.md, promoted/c.md"
        )
        assert ground.find("alpha") == ["promoted/a.md"]
        ground.remove("promoted/a.md")
        assert problems(ground.refresh()) == [("promoted/b.md", "duplicate-id"), ("promoted/c.md", "duplicate-id")]
        assert ground.find("alpha") == ["promoted/b.md"]
        ground.note("promoted/b.md", 2, "alpha\n")
        assert problems(ground.refresh()) == []
        assert sorted(ground.find("alpha")) == ["promoted/b.md", "promoted/c.md"]


class TestPrivate:
    SECRETS = (b"heron", b"Heron", b"nest", IDS[1].encode(), b"zzunique")

    def test_nothing_of_a_private_record_is_stored_but_that_it_is_one(self, ground: Ground) -> None:
        ground.note("promoted/p.md", 1, "zzunique\n", title="Heron", tags="[nest]", key="heron", private="true")
        ground.refresh()
        assert ground.find("zzunique heron nest") == []
        assert find_row(ground.database, IDS[1]) is None
        assert list_private_paths(ground.database) == ["promoted/p.md"]
        assert [word for word in self.SECRETS if word in stored_bytes(ground)] == []

    def test_nothing_lingers_of_a_record_that_becomes_private(self, ground: Ground) -> None:
        for number in range(2, 20):
            ground.note(f"promoted/{number}.md", number, "others\n")
        ground.note("promoted/p.md", 1, "zzunique\n", title="Heron", tags="[nest]", key="heron")
        ground.refresh()
        assert [word for word in self.SECRETS if word not in stored_bytes(ground)] == []
        ground.note("promoted/p.md", 1, "zzunique\n", title="Heron", private="true")
        ground.refresh()
        assert [word for word in self.SECRETS if word in stored_bytes(ground)] == []
        ground.note("promoted/p.md", 1, "zzunique\n")
        assert ground.find("zzunique") == ["promoted/p.md"]
        assert list_private_paths(ground.database) == []


class TestSecrets:
    def test_what_the_scanner_takes_out_is_not_stored(self, ground: Ground) -> None:
        ground.note(
            "promoted/a.md", 1, "The password is hunter2.\n", title="Use hunter2", tags="[hunter2]", summary="hunter2"
        )
        ground.refresh()
        row = find_row(ground.database, IDS[1])
        assert row is not None
        assert (row.title, row.tags, row.summary) == ("Use [secret]", ("[secret]",), "[secret]")
        assert ground.find("hunter2") == []
        assert ground.find("password") == ["promoted/a.md"]
        assert b"hunter2" not in stored_bytes(ground)

    def test_a_failing_scanner_withholds_and_stores_nothing(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "alpha\n")
        ground.refresh()
        ground.note("promoted/b.md", 2, "zzunique\n")

        def fail(text: str) -> str:
            raise RuntimeError("out of order")

        ground.clean = fail
        with pytest.raises(UnavailableError) as caught:
            ground.refresh()
        assert caught.value.code == "scanner-failed"
        assert [row.path for row in list_rows(ground.database)] == ["promoted/a.md"]
        assert b"zzunique" not in stored_bytes(ground)


Edit = tuple[str, int, int]


def test_a_first_catalog_is_one_piece_however_many_folders_there_are(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.catalog.writer._BATCH", 1)
    for number in range(3):
        ground.note(f"observations/2026-{number + 1:02}/a.md", number, f"word{number} common\n")
    ground.note("promoted/private.md", 3, private="true")
    ground.write("promoted/bad.md", "---\na: [\n---\n")
    ground.refresh()
    with ground.database.reading() as connection:
        (pieces,) = connection.execute("SELECT count(DISTINCT segid) FROM terms_idx").fetchone()
    assert pieces == 1


@settings(derandomize=True, max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["note", "private", "bad", "plain", "remove"]), st.integers(0, 3), st.integers(0, 2)),
        max_size=12,
    )
)
def test_step_by_step_is_the_same_as_from_scratch(tmp_path_factory: pytest.TempPathFactory, edits: list[Edit]) -> None:
    folder = tmp_path_factory.mktemp("ground")
    with Ground(folder, str(folder / "catalog.sqlite")) as ground, Ground(folder, ":memory:") as fresh:
        for kind, place, number in edits:
            _make_edit(ground, kind, f"promoted/{place}.md", number)
            ground.refresh()
        fresh.refresh()
        assert _tell(ground) == _tell(fresh)


def _make_edit(ground: Ground, kind: str, path: str, number: int) -> None:
    writes: dict[str, Callable[[], object]] = {
        "note": lambda: ground.note(path, number, f"word{number} common\n", tags=f"[t{number}]"),
        "private": lambda: ground.note(path, number, "word common\n", private="true"),
        "bad": lambda: ground.write(path, "---\na: [\n---\n"),
        "plain": lambda: ground.write(path, "word common\n"),
        "remove": lambda: (ground.root / path).unlink(missing_ok=True),
    }
    writes[kind]()


def _tell(ground: Ground) -> list[object]:
    database = ground.database
    problems = ground.refresh().problems
    found = [sorted(ground.find(word)) for word in ("word0", "word1", "common")]
    lists = [list_rows(database), count_tags(database, EVERY), list_private_paths(database)]
    return [*found, *lists, problems]
