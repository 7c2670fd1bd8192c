import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, StateError, UnavailableError
from gitmem.vault.scan import (
    MAX_NOTE_BYTES,
    SIGNATURE_FIELDS,
    Scan,
    StableReader,
    pack_signature,
    read_stable,
    scan_records,
)


class SteppedClock:
    """``age_ns`` after the last change of ``files``; waiting runs ``meanwhile`` and is written down."""

    def __init__(self, *files: Path, age_ns: int = 10**9, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.files = files
        self.age_ns = age_ns
        self.meanwhile = meanwhile
        self.waits: list[float] = []

    def time_ns(self) -> int:
        return max((file.stat().st_ctime_ns for file in self.files), default=0) + self.age_ns

    def sleep_s(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.meanwhile()


@pytest.fixture(autouse=True, params=["by descriptor", "by path"])
def _ways_to_open(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by path":  # as on Windows
        monkeypatch.setattr("gitmem.vault.folder._BY_FD", False)


def write(root: Path, path: str, text: str = "text") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def scan(root: Path) -> Scan:
    return scan_records(str(root), SteppedClock())


def names(result: Scan) -> dict[str, list[str]]:
    return {folder: list(found.decode()) for folder, found in sorted(result.folders.items())}


def codes(result: Scan) -> dict[str, str]:
    return {problem.path: problem.code for problem in result.problems}


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(GitmemError) as caught:
        read()
    return caught.value.code


class TestScan:
    def test_lists_notes_by_folder_in_order(self, tmp_path: Path) -> None:
        for path in ("promoted/b.md", "promoted/a.md", "observations/2026-11/x.md", "promoted/deep/er/é.md"):
            write(tmp_path, path)
        assert names(scan(tmp_path)) == {
            "observations/2026-11": ["x.md"],
            "promoted": ["a.md", "b.md"],
            "promoted/deep/er": ["é.md"],
        }

    def test_leaves_out_what_is_no_note(self, tmp_path: Path) -> None:
        for path in ("INDEX.md", "catalog/a.md", "promoted/.hidden.md", "promoted/.trash/a.md", "promoted/a.png"):
            write(tmp_path, path)
        assert (names(scan(tmp_path)), codes(scan(tmp_path))) == ({}, {})

    def test_a_folder_may_be_named_like_a_note(self, tmp_path: Path) -> None:
        write(tmp_path, "promoted/a.md/b.md")
        write(tmp_path, "promoted/v1.2/c.md")
        assert names(scan(tmp_path)) == {"promoted/a.md": ["b.md"], "promoted/v1.2": ["c.md"]}

    def test_signature_is_change_time_size_and_inode(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md", "four")
        found = scan(tmp_path).folders["promoted"].decode()["a.md"]
        entry = file.stat()
        numbers = memoryview(found).cast("q").tolist()
        assert numbers == [entry.st_ctime_ns, 4, entry.st_ino]
        assert len(numbers) == SIGNATURE_FIELDS

    @pytest.mark.parametrize("high", [0, 1 << 63, 1 << 65], ids=["plain", "sign bit", "more than 64 bits"])
    def test_a_signature_is_the_same_for_one_file_and_for_a_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, high: int
    ) -> None:
        file = write(tmp_path, "promoted/a.md")
        look = os.lstat

        def look_at_large_inode(path: str, *, dir_fd: int | None = None) -> os.stat_result:
            entry = look(path, dir_fd=dir_fd)
            times = {"st_ctime_ns": entry.st_ctime_ns, "st_mtime_ns": entry.st_mtime_ns}
            return os.stat_result((entry[0], entry[1] | high, *entry[2:10]), times)

        monkeypatch.setattr(os, "lstat", look_at_large_inode)
        assert scan(tmp_path).folders["promoted"].signatures == pack_signature(os.lstat(str(file)))

    def test_an_unchanged_vault_scans_equal(self, tmp_path: Path) -> None:
        write(tmp_path, "promoted/a.md")
        assert scan(tmp_path).folders == scan(tmp_path).folders

    @pytest.mark.parametrize("change", ["rewrite", "replace", "rename", "remove", "add", "restore-mtime"])
    def test_any_change_scans_different_in_its_folder_alone(self, tmp_path: Path, change: str) -> None:
        file = write(tmp_path, "promoted/a.md")
        write(tmp_path, "baseline/b.md")
        before = scan(tmp_path).folders
        if change == "rewrite":
            file.write_text("text and more")
        elif change == "replace":
            os.replace(write(tmp_path, "new", "same"), file)
        elif change == "rename":
            file.rename(file.with_name("c.md"))
        elif change == "remove":
            file.unlink()
        elif change == "add":
            write(tmp_path, "promoted/c.md")
        else:
            times = file.stat()
            file.write_text("TEXT")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        after = scan(tmp_path).folders
        assert before.get("promoted") != after.get("promoted")
        assert before["baseline"] == after["baseline"]

    def test_links_and_special_files_are_problems(self, tmp_path: Path) -> None:
        write(tmp_path, "outside/secret.md")
        write(tmp_path, "promoted/a.md")
        os.symlink(tmp_path / "outside/secret.md", tmp_path / "promoted/link.md")
        os.symlink(tmp_path / "outside", tmp_path / "promoted/folder")
        os.symlink(tmp_path / "outside", tmp_path / "baseline")
        os.mkfifo(tmp_path / "promoted/pipe.md")
        result = scan(tmp_path)
        assert names(result) == {"promoted": ["a.md"]}
        assert codes(result) == {
            "baseline": "symlink",
            "promoted/folder": "symlink",
            "promoted/link.md": "symlink",
            "promoted/pipe.md": "special-file",
        }

    def test_conflict_copies_and_broken_names_are_problems(self, tmp_path: Path) -> None:
        for name in (
            "a.md",
            "resolve-conflicts.md",
            "a.sync-conflict-20261130-101010-ABCDEF.md",
            "a (Ann's conflicted copy 2026-11-30).md",
            "a (Conflicted copy phone 202611301200).md",
            "conflict-files-obsidian-git.md",
            os.fsdecode(b"caf\xe9.md"),
        ):
            write(tmp_path, f"promoted/{name}")
        result = scan(tmp_path)
        assert names(result) == {"promoted": ["a.md", "resolve-conflicts.md"]}
        assert codes(result) == {
            "promoted/a (Ann's conflicted copy 2026-11-30).md": "sync-conflict",
            "promoted/a (Conflicted copy phone 202611301200).md": "sync-conflict",
            "promoted/a.sync-conflict-20261130-101010-ABCDEF.md": "sync-conflict",
            "promoted/caf\\udce9.md": "bad-path",
            "promoted/conflict-files-obsidian-git.md": "sync-conflict",
        }

    def test_a_folder_too_deep_is_a_problem(self, tmp_path: Path) -> None:
        write(tmp_path, f"promoted/{'d/' * 30}a.md")
        write(tmp_path, f"promoted/{'d/' * 31}b.md")
        result = scan(tmp_path)
        assert [name for found in names(result).values() for name in found] == ["a.md"]
        assert list(codes(result).values()) == ["too-deep"]

    def test_a_missing_vault_is_unavailable(self, tmp_path: Path) -> None:
        with pytest.raises(UnavailableError) as caught:
            scan(tmp_path / "gone")
        assert caught.value.code == "vault-missing"
        write(tmp_path, "file")
        with pytest.raises(UnavailableError):
            scan(tmp_path / "file")
        assert not (tmp_path / "gone").exists()


class TestStableReader:
    def test_reads_a_settled_file_without_waiting(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md", "one\r\ntwo")
        clock = SteppedClock(file)
        assert read_stable(str(tmp_path), "promoted/a.md", clock) == b"one\r\ntwo"
        assert clock.waits == []

    def test_reads_a_fresh_file_until_two_reads_agree(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md", "")
        versions = ["hal", "half", "whole"]
        clock = SteppedClock(file, age_ns=0, meanwhile=lambda: versions and file.write_text(versions.pop(0)))
        assert read_stable(str(tmp_path), "promoted/a.md", clock) == b"whole"
        assert len(clock.waits) == 4

    def test_gives_up_on_a_file_that_keeps_changing_within_its_bound(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md", "")
        other = write(tmp_path, "promoted/b.md", "")
        clock = SteppedClock(file, age_ns=0, meanwhile=lambda: file.write_text(file.read_text() + "x"))
        with StableReader(str(tmp_path), clock, max_wait_s=0.5) as read:
            with pytest.raises(StateError) as caught:
                read("promoted/a.md")
            assert (caught.value.code, caught.value.fields) == ("unstable", {"path": "promoted/a.md"})
            assert sum(clock.waits) == pytest.approx(0.5)
            assert read("promoted/b.md") == other.read_bytes()
            assert sum(clock.waits) == pytest.approx(0.5)

    def test_reads_across_folders(self, tmp_path: Path) -> None:
        paths = ["baseline/a.md", "promoted/x/b.md", "baseline/c.md", "d.md"]
        files = [write(tmp_path, path, path) for path in paths]
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        with StableReader(str(tmp_path), SteppedClock(*files)) as read:
            assert [read(path).decode() for path in paths] == paths
        after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        assert after == before

    def test_refuses_what_is_no_file_without_blocking(self, tmp_path: Path) -> None:
        write(tmp_path, "outside/a.md")
        (tmp_path / "promoted/folder.md").mkdir(parents=True)
        os.symlink(tmp_path / "outside/a.md", tmp_path / "promoted/link.md")
        os.symlink(tmp_path / "outside", tmp_path / "promoted/way")
        os.mkfifo(tmp_path / "promoted/pipe.md")
        for path in ("promoted/folder.md", "promoted/link.md", "promoted/way/a.md", "promoted/pipe.md"):
            assert refusal(partial(read_stable, str(tmp_path), path, SteppedClock())) == "not-a-file"

    def test_refuses_a_large_file_by_its_size(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md")
        os.truncate(file, 1 << 40)
        with pytest.raises(InputError) as caught:
            read_stable(str(tmp_path), "promoted/a.md", SteppedClock(file))
        assert (caught.value.code, caught.value.fields) == ("too-large", {"path": "promoted/a.md"})
        os.truncate(file, MAX_NOTE_BYTES)
        assert len(read_stable(str(tmp_path), "promoted/a.md", SteppedClock(file))) == MAX_NOTE_BYTES

    def test_a_file_that_went_away_is_unstable(self, tmp_path: Path) -> None:
        assert refusal(lambda: read_stable(str(tmp_path), "promoted/a.md", SteppedClock())) == "unstable"
        write(tmp_path, "promoted/b.md")
        assert refusal(lambda: read_stable(str(tmp_path), "promoted/a.md", SteppedClock())) == "unstable"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission_is_unreadable(self, tmp_path: Path) -> None:
        file = write(tmp_path, "promoted/a.md")
        file.chmod(0)
        assert refusal(lambda: read_stable(str(tmp_path), "promoted/a.md", SteppedClock(file))) == "unreadable"
