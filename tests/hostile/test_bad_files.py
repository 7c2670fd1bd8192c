"""Links, pipes, sockets, devices, holes and odd modes in place of what gitmem reads and writes, through its command
line: each has one outcome, nothing outside the vault changes, and what is refused leaves the vault as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile import ground
from hostile.ground import (
    READS,
    WRITES,
    Place,
    Row,
    assert_told,
    bounded,
    look,
    row_of,
    say_write,
    without_leavings,
    without_waiting,
)

from gitmem.model.ids import fingerprint

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"


JOURNAL = ".git/gitmem/journal/x.json"
LOGS = ("gitmem/lock", "gitmem/queue/0", "logs/HEAD", "logs/refs/heads/main")


def note(place: Place) -> Path:
    return next((place.repo / "observations").rglob("*.md"))


def month(place: Place) -> Path:
    return note(place).parent


def receipts(place: Place) -> Path:
    return next((place.runtime / "receipts").glob("*.jsonl"))


def blob(place: Place) -> Path:
    """The loose object of the tree of the last commit."""
    ref = (place.git / "refs/heads/main").read_text().strip()
    return place.git / "objects" / ref[:2] / ref[2:]


def hard_linked(place: Place) -> None:
    os.link(note(place), place.outside / "kept.md")


def hard_linked_logs(place: Place) -> None:
    for number, file in enumerate((*(place.git / name for name in LOGS), receipts(place))):
        os.link(file, place.outside / f"log-{number}")


def journal_of(path: str, temp: str = "") -> Callable[[Place], object]:
    """Leave a crash journal that wants a file removed which the operation is said to have written."""

    def make(place: Place) -> None:
        ground.put(place.outside / "x.md", "outside\n")
        content = place.repo.joinpath(path).read_bytes() if place.repo.joinpath(path).exists() else b"x"
        beside = f"{path.rpartition('/')[0]}/.gitmem-x-0.tmp"
        edit = {"path": path, "base": None, "before": None, "after": fingerprint(content), "temp": temp or beside}
        receipt = json.loads(receipts(place).read_text().splitlines()[-1]) | {"op_id": "x"}
        tip = (place.git / "refs/heads/main").read_text().strip()
        journal = {"op_id": "x", "branch": "main", "base": tip, "edits": [edit], "receipt": receipt}
        ground.put(place.repo / JOURNAL, json.dumps(journal))

    return make


def at(where: Callable[[Place], Path], change: Callable[[Path], object]) -> Callable[[Place], object]:
    return lambda place: change(where(place))


def repo(name: str, change: Callable[[Path], object]) -> Callable[[Place], object]:
    return lambda place: change(place.repo / name)


def runtime(name: str, change: Callable[[Path], object]) -> Callable[[Place], object]:
    return lambda place: change(place.runtime / name)


def home(name: str, change: Callable[[Path], object]) -> Callable[[Place], object]:
    return lambda place: change(place.home / name)


def linked(where: Callable[[Place], Path]) -> Callable[[Place], object]:
    return lambda place: ground.link_outside(where(place), place)


def link(name: str) -> Callable[[Place], object]:
    return lambda place: ground.link_outside(place.repo / name, place)


FILES: dict[str, Row] = {
    # links
    "note is a link": Row("D", linked(note), "no-match symlink", "done", ""),
    "month is a link": Row("R", linked(month), "no-match symlink", "symlink-in-path", ""),
    "lifecycle folder is a link": Row("R", link("observations"), "no-match symlink", "symlink-in-path", ""),
    "other lifecycle folder is a link": Row("D", link("promoted"), "ok symlink", "done", ""),
    "manifest is a link": Row("R", link("manifest.json"), "ok", "not-a-regular-file", "not-a-regular-file"),
    "INDEX.md is a link": Row("K", link("INDEX.md"), "ok", "done", ""),
    "catalog.json is a link": Row("R", link("catalog.json"), "ok", "not-a-regular-file", ""),
    ".git is a link": Row(
        "R", link(".git"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "HEAD is a link": Row(
        "R", link(".git/HEAD"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "branch is a link": Row(
        "R", link(".git/refs/heads/main"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "objects is a link": Row(
        "R", link(".git/objects"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "fan-out folder is a link": Row(
        "R",
        linked(lambda place: blob(place).parent),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "object is a link": Row("K", linked(blob), "ok", "done", ""),
    "reflog is a link": Row(
        "R", link(".git/logs/HEAD"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "branch's reflog is a link": Row(
        "R",
        link(".git/logs/refs/heads/main"),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "index is a link": Row(
        "R", link(".git/index"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "index lock is a link": Row("R", link(".git/index.lock"), "ok", "index-locked", "index-locked"),
    "gitmem's folder is a link": Row(
        "R", link(".git/gitmem"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "vault lock is a link": Row(
        "R", link(".git/gitmem/lock"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "a place in the queue is a link": Row(
        "R", link(".git/gitmem/queue/0"), "unavailable hostile-repository", "hostile-repository", "hostile-repository"
    ),
    "displaced is a link": Row(
        "R",
        lambda place: (
            (place.outside / "displaced").mkdir(),
            ground.clear(place.git / "gitmem/displaced"),
            (place.git / "gitmem/displaced").symlink_to(place.outside / "displaced"),
        ),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "receipts file is a link": Row("R", linked(receipts), "ok", "receipts-unreadable", "receipts-unreadable"),
    "catalog is a link": Row(
        "D", linked(lambda place: place.runtime / "catalog.sqlite"), "degraded catalog-degraded", "done", ""
    ),
    # hard links
    "note is a hard link": Row("D", hard_linked, "ok", "done", ""),
    "what is appended to or written in place is hard linked": Row("K", hard_linked_logs, "ok", "done", ""),
    # pipes
    "note is a pipe": Row("D", at(note, ground.pipe), "no-match special-file", "done", ""),
    "month is a pipe": Row("R", at(month, ground.pipe), "ok special-file", "not-a-regular-file", ""),
    "lifecycle folder is a pipe": Row("D", repo("promoted", ground.pipe), "ok special-file", "done", ""),
    "manifest is a pipe": Row(
        "R", repo("manifest.json", ground.pipe), "ok", "not-a-regular-file", "not-a-regular-file"
    ),
    "INDEX.md is a pipe": Row("K", repo("INDEX.md", ground.pipe), "ok", "done", ""),
    ".git is a pipe": Row(
        "R", repo(".git", ground.pipe), "unavailable no-repository", "no-repository", "no-repository"
    ),
    "HEAD is a pipe": Row(
        "R",
        repo(".git/HEAD", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "branch is a pipe": Row(
        "R",
        repo(".git/refs/heads/main", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "packed-refs is a pipe": Row(
        "R",
        repo(".git/packed-refs", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "index is a pipe": Row(
        "R",
        repo(".git/index", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "index lock is a pipe": Row("R", repo(".git/index.lock", ground.pipe), "ok", "index-locked", "index-locked"),
    "object is a pipe": Row(
        "R", at(blob, ground.pipe), "unavailable object-unreadable", "object-unreadable", "object-unreadable"
    ),
    "commondir is a pipe": Row(
        "R",
        repo(".git/commondir", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "MERGE_HEAD is a pipe": Row(
        "R", repo(".git/MERGE_HEAD", ground.pipe), "ok", "git-operation-in-progress", "git-operation-in-progress"
    ),
    "sequencer's list is a pipe": Row(
        "R", repo(".git/sequencer/todo", ground.pipe), "ok", "git-operation-in-progress", "git-operation-in-progress"
    ),
    "vault lock is a pipe": Row(
        "R",
        repo(".git/gitmem/lock", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "a place in the queue is a pipe": Row(
        "R",
        repo(".git/gitmem/queue/0", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "gitmem's folder is a pipe": Row(
        "R",
        repo(".git/gitmem", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "displaced file is a pipe": Row("K", repo(".git/gitmem/displaced/a.b.c.d", ground.pipe), "ok", "done", ""),
    "journal is a pipe": Row(
        "R",
        repo(".git/gitmem/journal", ground.pipe),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "journal's file is a pipe": Row("D", repo(JOURNAL, ground.pipe), "ok recovered", "done", ""),
    "receipts is a pipe": Row(
        "R", runtime("receipts", ground.pipe), "ok", "receipts-unreadable", "receipts-unreadable"
    ),
    "receipts file is a pipe": Row("R", at(receipts, ground.pipe), "ok", "receipts-unreadable", "receipts-unreadable"),
    "catalog is a pipe": Row("D", runtime("catalog.sqlite", ground.pipe), "degraded catalog-degraded", "done", ""),
    "registry is a pipe": Row(
        "R",
        home("registry.json", ground.pipe),
        "error registry-unreadable",
        "registry-unreadable",
        "registry-unreadable",
    ),
    # sockets, devices, folders
    "note is a socket": Row("D", at(note, ground.socket_at), "no-match special-file", "done", ""),
    "manifest is a socket": Row(
        "R", repo("manifest.json", ground.socket_at), "ok", "not-a-regular-file", "not-a-regular-file"
    ),
    "HEAD is a socket": Row(
        "R",
        repo(".git/HEAD", ground.socket_at),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "note is a device": Row("D", at(note, ground.device), "no-match special-file", "done", ""),
    "manifest is a device": Row(
        "R", repo("manifest.json", ground.device), "ok", "not-a-regular-file", "not-a-regular-file"
    ),
    "HEAD is a device": Row(
        "R",
        repo(".git/HEAD", ground.device),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "packed-refs is a device": Row(
        "R",
        repo(".git/packed-refs", ground.device),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "object is a device": Row(
        "R", at(blob, ground.device), "unavailable object-unreadable", "object-unreadable", "object-unreadable"
    ),
    "registry is a device": Row(
        "R",
        home("registry.json", ground.device),
        "error registry-unreadable",
        "registry-unreadable",
        "registry-unreadable",
    ),
    "journal's file is a device": Row("D", repo(JOURNAL, ground.device), "ok recovered", "done", ""),
    "receipts file is a device": Row(
        "R", at(receipts, ground.device), "ok", "receipts-unreadable", "receipts-unreadable"
    ),
    "note is a folder": Row("K", at(note, ground.folder), "no-match", "done", ""),
    "manifest is a folder": Row(
        "R", repo("manifest.json", ground.folder), "ok", "not-a-regular-file", "not-a-regular-file"
    ),
    "INDEX.md is a folder": Row("K", repo("INDEX.md", ground.folder), "ok", "done", ""),
    "index lock is a folder": Row("R", repo(".git/index.lock", ground.folder), "ok", "index-locked", "index-locked"),
    "branch lock is a folder": Row("R", repo(".git/refs/heads/main.lock", ground.folder), "ok", "branch-locked", ""),
    "index is a folder": Row(
        "R",
        repo(".git/index", ground.folder),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "journal's file is a folder": Row("D", repo(JOURNAL, ground.folder), "ok recovered", "done", ""),
    "receipts file is a folder": Row(
        "R", at(receipts, ground.folder), "ok", "receipts-unreadable", "receipts-unreadable"
    ),
    "registry is a folder": Row(
        "R",
        home("registry.json", ground.folder),
        "error registry-unreadable",
        "registry-unreadable",
        "registry-unreadable",
    ),
    "journal names files elsewhere": Row("D", journal_of("../../../outside/x.md"), "ok recovered", "done", ""),
    "journal names Git's files": Row("D", journal_of(".git/config"), "ok recovered", "done", ""),
    "journal's temporary file is elsewhere": Row(
        "D", journal_of("promoted/x.md", "../../../outside/.gitmem-x"), "ok recovered", "done", ""
    ),
    # a terabyte of nothing
    "note is huge": Row("D", at(note, ground.huge), "no-match too-large", "done", ""),
    "manifest is huge": Row("R", repo("manifest.json", ground.huge), "ok", "note-too-large", "note-too-large"),
    "INDEX.md is huge": Row("K", repo("INDEX.md", ground.huge), "ok", "done", ""),
    "catalog.json is huge": Row("R", repo("catalog.json", ground.huge), "ok", "note-too-large", ""),
    "HEAD is huge": Row(
        "R", repo(".git/HEAD", ground.huge), "unavailable ref-unreadable", "ref-unreadable", "ref-unreadable"
    ),
    "branch is huge": Row(
        "R", repo(".git/refs/heads/main", ground.huge), "unavailable ref-unreadable", "ref-unreadable", "ref-unreadable"
    ),
    "packed-refs is huge": Row(
        "R",
        repo(".git/packed-refs", ground.huge),
        "unavailable vault-unreadable",
        "vault-unreadable",
        "vault-unreadable",
    ),
    "settings are huge": Row(
        "R",
        repo(".git/config", ground.huge),
        "unavailable hostile-repository",
        "hostile-repository",
        "hostile-repository",
    ),
    "index is huge": Row("R", repo(".git/index", ground.huge), "ok", "index-unreadable", "index-unreadable"),
    "index lock is huge": Row("R", repo(".git/index.lock", ground.huge), "ok", "index-locked", "index-locked"),
    "object is huge": Row(
        "R", at(blob, ground.huge), "unavailable object-unreadable", "object-unreadable", "object-unreadable"
    ),
    "sequencer's list is huge": Row(
        "R", repo(".git/sequencer/todo", ground.huge), "ok", "git-operation-in-progress", "git-operation-in-progress"
    ),
    "vault lock is huge": Row("K", repo(".git/gitmem/lock", ground.huge), "ok", "done", ""),
    "displaced file is huge": Row("K", repo(".git/gitmem/displaced/a.b.c.d", ground.huge), "ok", "done", ""),
    "registry is huge": Row(
        "R",
        home("registry.json", ground.huge),
        "error registry-unreadable",
        "registry-unreadable",
        "registry-unreadable",
    ),
    "receipts are huge": Row("R", at(receipts, ground.huge), "ok", "receipts-unreadable", "receipts-unreadable"),
    "journal is huge": Row("D", repo(JOURNAL, ground.huge), "ok recovered", "done", ""),
    # modes
    "note can be run": Row("K", at(note, lambda path: path.chmod(0o755)), "ok", "done", ""),
    "note has every special bit": Row("K", at(note, lambda path: path.chmod(0o7755)), "ok", "done", ""),
    "view can be run": Row("K", repo("INDEX.md", lambda path: path.chmod(0o755)), "ok", "done", ""),
}


@pytest.fixture
def place(gitmem: Gitmem, tmp_path: Path) -> Place:
    outside = tmp_path / "outside"
    outside.mkdir()
    gitmem.observe("One", "--key", "one")
    return Place(Path(gitmem.environment.home), outside)


# Each waits for the lock; one of them does for the everyday run.
WAITING = ("index lock is a pipe", "index lock is a folder", "index lock is huge")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in WAITING else name for name in FILES]
)
def test_what_lies_in_the_place_of_a_file(gitmem: Gitmem, place: Place, name: str) -> None:
    row = FILES[name]
    row.make(place)
    before, outside = look(place.repo), look(place.outside)
    with bounded():
        read, doctor = row_of(gitmem)
        found = look(place.repo)
        assert_only_read(row, before, found)
        write = say_write(gitmem, "observe", "Two", "--evidence", "run:1")
    assert (read, write, doctor) == (row.read, row.write, row.doctor)
    assert (write == "done") == (row.outcome in "DK")
    if write != "done":
        assert without_leavings(look(place.repo)) == without_leavings(found)
    assert look(place.outside) == outside


def assert_only_read(row: Row, before: dict[str, str], found: dict[str, str]) -> None:
    """Check that all is as before, or that no more was done than to set aside a journal that nobody understands."""
    if row.read != "ok recovered":
        assert found == before
        return
    aside = {path: said for path, said in before.items() if path != JOURNAL}
    aside[f"{JOURNAL}.unreadable"] = before[JOURNAL]
    assert without_leavings(found) == without_leavings(aside)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_no_verb_breaks_on_what_lies_in_the_place_of_a_file(gitmem: Gitmem, place: Place, name: str) -> None:
    FILES[name].make(place)
    before, outside = look(place.repo), look(place.outside)
    with bounded():
        for args in READS:
            assert_told(gitmem(*args))
    assert_only_read(FILES[name], without_waiting(before), without_waiting(look(place.repo)))  # adopt takes the lock
    for args in WRITES:
        with bounded():
            assert_told(gitmem(*args))
    assert look(place.outside) == outside


def test_a_journal_of_that_shape_is_obeyed_within_the_vault(gitmem: Gitmem, place: Place) -> None:
    """What else the forged ones of the table would be refused for is nothing but the paths in them."""
    ground.put(place.repo / "promoted/x.md", "Half of an operation.\n")
    journal_of("promoted/x.md")(place)
    assert row_of(gitmem) == ("ok recovered", "")
    assert not (place.repo / "promoted/x.md").exists()
    assert list((place.git / "gitmem/journal").iterdir()) == []


@pytest.mark.parametrize("bits", [0o755, 0o7755, 0o444])
def test_modes_make_nothing_dirty_and_are_not_committed(gitmem: Gitmem, place: Place, bits: int) -> None:
    before = gitmem("status", "--json").document
    note(place).chmod(bits)
    assert gitmem("status", "--json").document == before
    assert say_write(gitmem, "edit", "one", "--body", "Changed.") == "done"
    assert {line.split()[0] for line in gitmem.git("ls-tree", "-r", "HEAD").splitlines()} == {"100644"}


def test_a_hard_link_is_told_and_keeps_what_it_held(gitmem: Gitmem, place: Place) -> None:
    kept = place.outside / "kept.md"
    hard_linked(place)
    held = kept.read_bytes()
    rows = gitmem("check", "--json").document["results"]
    assert [row["code"] for row in rows] == ["hard-link"]
    assert say_write(gitmem, "edit", "one", "--body", "Changed.") == "done"
    assert kept.read_bytes() == held
    assert gitmem("check", "--json").document["results"] == []


def test_a_folder_to_import_may_hold_anything(gitmem: Gitmem, place: Place, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    ground.put(notes / "good.md", "Good.\n")
    ground.pipe(notes / "pipe.md")
    ground.socket_at(notes / "socket.md")
    ground.huge(notes / "huge.md")
    ground.put(place.outside / "secret.md", "outside\n")
    (notes / "link.md").symlink_to(place.outside / "secret.md")
    (notes / "folder").symlink_to(place.outside)
    (notes / "loop").symlink_to(notes)
    with bounded():
        document = gitmem("import", str(notes), "--json").document
    assert [record["path"] for record in document["records"]] == ["observations/good.md"]
    told = {problem["path"]: problem["code"] for problem in document["left_out"]}
    assert told == {
        "folder": "symlink",
        "huge.md": "note-too-large",
        "link.md": "symlink",
        "loop": "symlink",
        "pipe.md": "not-a-regular-file",
        "socket.md": "not-a-regular-file",
    }
