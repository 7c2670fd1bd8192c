"""The fault table of the search catalog: whatever becomes of its files, at whatever moment, the answers are the same.

Each cell does one thing (a row) to the files at one moment (a column) and compares what is answered with what a catalog
in memory answers. Afterwards, with the obstacle out of the way, the next process has a sound catalog again. The rows
are told in docs/catalog.md.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from catalog.full_disk import NOT_POSSIBLE
from catalog.other_process import tell
from hostile.test_permissions import bound_by_modes

from gitmem.catalog.place import PAGE_BYTES
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.reading import ask
from gitmem.wiring import make_vault

from conftest import Desk

BESIDE = ("-wal", "-shm", "-journal")
PAGE = PAGE_BYTES
NOTES = 60
KINDS = {"interior table": 0x05, "leaf table": 0x0D, "interior index": 0x02, "leaf index": 0x0A}


@dataclass
class Ground:
    """One vault, the files of its catalog, and what is to be undone at the end of a cell."""

    desk: Desk
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def file(self) -> Path:
        return self.desk.runtime / "catalog.sqlite"

    def beside(self, suffix: str) -> Path:
        return Path(f"{self.file}{suffix}")

    def clear(self) -> None:
        self.stack.close()
        for path in (self.file, *map(self.beside, BESIDE)):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)

    def open(self) -> Memory:
        return self.stack.enter_context(self.desk.open(catalog_wait_s=0.05))


def delete(*suffixes: str) -> Callable[[Ground], None]:
    def act(ground: Ground) -> None:
        for suffix in suffixes:
            ground.beside(suffix).unlink(missing_ok=True)

    return act


def put(what: str, suffix: str = "") -> Callable[[Ground], None]:
    """Put something else in the place of a file."""

    def act(ground: Ground) -> None:
        place = ground.beside(suffix)
        place.unlink(missing_ok=True)
        if what == "folder":
            place.mkdir()
        elif what == "pipe":
            os.mkfifo(place)
        elif what == "link":
            target = ground.desk.runtime / "precious"
            target.write_bytes(b"precious" * 9999)
            place.symlink_to(target)
        elif what == "another catalog":
            with sqlite3.connect(place) as made:
                made.execute("CREATE TABLE records(x)")
                made.execute("PRAGMA user_version = 7")
            made.close()
        else:
            place.write_bytes(what.encode() * 3000)

    return act


def overwrite(pages: str) -> Callable[[Ground], None]:
    """Write garbage over every page of one kind, in place."""

    def act(ground: Ground) -> None:
        if pages in ("-wal", "-shm"):
            place, numbers = ground.beside(pages), None
        else:
            place = ground.file
            data = place.read_bytes()
            kinds = {number: data[number * PAGE] for number in range(1, len(data) // PAGE)}
            wanted = KINDS.get(pages)
            numbers = [n for n, kind in kinds.items() if kind == wanted or (not wanted and kind not in KINDS.values())]
            assert numbers or pages == "header" or pages.startswith("all"), f"there is no {pages} page to overwrite"
            numbers = [0] if pages == "header" else list(kinds) if pages == "all but the header" else numbers
        if not place.exists():
            return
        with place.open("r+b") as opened:
            for number in range(place.stat().st_size // PAGE) if numbers is None else numbers:
                opened.seek(number * PAGE)
                opened.write(b"\xa5garbage" * (PAGE // 8))

    return act


def cut(size: Callable[[int], int]) -> Callable[[Ground], None]:
    def act(ground: Ground) -> None:
        if ground.file.exists():
            os.truncate(ground.file, size(ground.file.stat().st_size))

    return act


def drop(statement: str) -> Callable[[Ground], None]:
    def act(ground: Ground) -> None:
        with sqlite3.connect(ground.file, isolation_level=None) as other:
            other.execute(statement)
        other.close()

    return act


def forbid(mode: int, *, folder: bool = False) -> Callable[[Ground], None]:
    def act(ground: Ground) -> None:
        place = ground.desk.runtime if folder else ground.file
        if not folder and not place.exists():
            place.touch()
        ground.stack.callback(place.chmod, 0o700 if folder else 0o600)
        place.chmod(mode)
        ground.stack.enter_context(bound_by_modes())

    return act


def hold(ground: Ground) -> None:
    """Have another connection in the middle of writing."""
    other = ground.stack.enter_context(_closing(sqlite3.connect(ground.file, isolation_level=None)))
    other.execute("BEGIN IMMEDIATE")
    other.execute("CREATE TABLE IF NOT EXISTS unfinished(x)")


class _closing:  # noqa: N801 - as contextlib's, for a connection that may be closed by rolling back
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> sqlite3.Connection:
        return self.connection

    def __exit__(self, *_exc: object) -> None:
        self.connection.close()


FAULTS: dict[str, Callable[[Ground], None]] = {
    "nothing": lambda ground: None,
    "all files deleted": delete("", *BESIDE),
    "database deleted": delete(""),
    "log deleted": delete("-wal"),
    "map of the log deleted": delete("-shm"),
    "log and map deleted": delete("-wal", "-shm"),
    "header overwritten": overwrite("header"),
    **{f"every {kind} page overwritten": overwrite(kind) for kind in KINDS},
    "every other page overwritten": overwrite("other"),
    "all but the header overwritten": overwrite("all but the header"),
    "log overwritten": overwrite("-wal"),
    "map of the log overwritten": overwrite("-shm"),
    "cut to nothing": cut(lambda size: 0),
    "cut to the header": cut(lambda size: PAGE),
    "cut by half": cut(lambda size: size // PAGE // 2 * PAGE),
    "cut in a page": cut(lambda size: max(0, size - 1000)),
    "another file in its place": put("no database at all "),
    "another catalog in its place": put("another catalog"),
    "a folder in its place": put("folder"),
    "a link in its place": put("link"),
    "a pipe in its place": put("pipe"),
    "a folder in the log's place": put("folder", "-wal"),
    "a link in the log's place": put("link", "-wal"),
    "a pipe in the log's place": put("pipe", "-wal"),
    "another file in the log's place": put("no log at all ", "-wal"),
    "a table dropped": drop("DROP TABLE IF EXISTS names"),
    "emptied by another version": drop("PRAGMA user_version = 7"),
    "database read-only": forbid(0o400),
    "database not readable": forbid(0o000),
    "folder read-only": forbid(0o500, folder=True),
    "another process is writing": hold,
}
OBSTACLES = ("folder in", "link in", "pipe in", "read-only", "not readable", "is writing")
"""Faults that stay: the catalog may have to do without its file until they are gone."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    from gitmem.model.authority import Actor, Surface

    folder = tmp_path_factory.mktemp("faults")
    wanted = NewVault(Scope.WORKSPACE, path=str(folder / "vault"))
    entry, _receipt = make_vault(str(folder / "home"), wanted, Actor(Surface.HUMAN, "Pat Person", "pat@example.com"))
    made = Desk(str(folder / "home"), Path(entry.path), Path(entry.runtime))
    (made.repo / "promoted/deep").mkdir(parents=True, exist_ok=True)
    for number in range(NOTES):
        lines = [f"gitmem_id: '{number:012}'", f"title: Note {number}", f"tags: [tool/t{number % 3}]"]
        text = "\n".join(["---", *lines, "---", f"word{number} common and {'filling ' * 40}", ""])
        (made.repo / f"promoted/{'deep/' * (number % 5 == 0)}{'long-name-' * 15}{number:02}.md").write_text(text)
    (made.repo / "promoted/bad.md").write_text("---\na: [\n---\n")
    return made


@pytest.fixture(scope="module")
def other() -> Iterator[Callable[..., object]]:
    """Another process, in which vaults can be opened, asked and closed."""
    script = str(Path(__file__).with_name("other_process.py"))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as child:
        assert child.stdin
        assert child.stdout

        def ask_other(*asked: str) -> object:
            assert child.stdin
            assert child.stdout
            child.stdin.write(json.dumps(asked) + "\n")
            child.stdin.flush()
            return json.loads(child.stdout.readline())

        yield ask_other
        child.stdin.close()


@pytest.fixture
def ground(desk: Desk) -> Iterator[Ground]:
    made = Ground(desk)
    with desk.open() as memory:
        tell(memory)
    yield made
    made.clear()


@pytest.fixture(scope="module")
def truth(desk: Desk) -> list[object]:
    with desk.open(memory_catalog=True) as memory:
        answers = tell(memory)
    assert [len(answer) for answer in answers[:7]] == [0, 10, 1, 1, 0, NOTES, NOTES // 3]  # type: ignore[arg-type]
    return answers


def assert_sound_again(ground: Ground, truth: list[object]) -> None:
    precious = ground.desk.runtime / "precious"
    assert not precious.exists() or precious.read_bytes() == b"precious" * 9999
    ground.stack.close()
    for path in (ground.file, *map(ground.beside, BESIDE)):
        if path.is_dir() or path.is_symlink() or path.is_fifo():
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    with ground.desk.open() as memory:
        assert tell(memory) == truth
        assert not memory.vault.database.degraded
    with ground.desk.open() as memory:
        assert ask(memory.vault, lambda _database, report: report.changed) == 0


def assert_degraded_only_where_it_may_be(memory: Memory, fault: str) -> None:
    may_be = any(obstacle in fault for obstacle in OBSTACLES)
    assert may_be or not memory.vault.database.degraded, memory.vault.database.reason


def cells(column: int) -> pytest.MarkDecorator:
    """Return the rows of one column; all but a fixed sample of every fourth cell are marked as slow."""
    rows = [
        pytest.param(fault, marks=[] if (row + column) % 4 == 0 else pytest.mark.slow)
        for row, fault in enumerate(FAULTS)
    ]
    return pytest.mark.parametrize("fault", rows)


class TestFaults:
    @cells(0)
    def test_before_it_is_opened(self, ground: Ground, truth: list[object], fault: str) -> None:
        FAULTS[fault](ground)
        memory = ground.open()
        assert tell(memory) == truth
        assert_degraded_only_where_it_may_be(memory, fault)
        assert_sound_again(ground, truth)

    @cells(1)
    def test_between_opening_and_reconciling(self, ground: Ground, truth: list[object], fault: str) -> None:
        memory = ground.open()
        assert memory.vault.database.reason == ""
        FAULTS[fault](ground)
        assert tell(memory) == truth
        assert tell(memory) == truth
        assert_degraded_only_where_it_may_be(memory, fault)
        assert_sound_again(ground, truth)

    @cells(2)
    def test_between_reconciling_and_asking(self, ground: Ground, truth: list[object], fault: str) -> None:
        memory = ground.open()
        tell(memory)
        from gitmem.catalog.query import list_rows

        faults = [FAULTS[fault]]

        def question(database: object, _report: object) -> list[str]:
            if faults:
                faults.pop()(ground)
            return [row.path for row in list_rows(database)]  # type: ignore[arg-type]

        assert sorted(ask(memory.vault, question)) == sorted(truth[5])  # type: ignore[call-overload]
        assert tell(memory) == truth
        assert_degraded_only_where_it_may_be(memory, fault)
        assert_sound_again(ground, truth)

    @cells(3)
    def test_while_another_process_has_it_open(
        self, ground: Ground, truth: list[object], other: Callable[..., object], fault: str
    ) -> None:
        desk = ground.desk
        assert other("open", desk.home, str(desk.repo)) == truth
        ground.stack.callback(other, "close", str(desk.repo))
        memory = ground.open()
        tell(memory)
        FAULTS[fault](ground)
        assert other("tell", str(desk.repo)) == truth
        assert tell(memory) == truth
        assert other("tell", str(desk.repo)) == truth
        assert_degraded_only_where_it_may_be(memory, fault)
        assert_sound_again(ground, truth)


def test_a_long_lived_process_returns_to_its_file(ground: Ground, truth: list[object]) -> None:
    memory = ground.open()
    ground.file.unlink()
    ground.file.mkdir()
    assert tell(memory) == truth
    assert memory.search("common", Filters()).status == "degraded"
    ground.file.rmdir()
    memory.vault.database._retry_at_s = 0
    assert tell(memory) == truth
    assert memory.search("common", Filters()).status == "ok"
    assert ground.file.is_file()


@pytest.mark.parametrize(
    ("args", "cells"), [((), 12), pytest.param(("--all",), 39, marks=pytest.mark.slow)], ids=["sample", "all"]
)
def test_on_a_full_disk_the_answers_are_the_same(args: tuple[str, ...], cells: int) -> None:
    script = str(Path(__file__).with_name("full_disk.py"))
    done = subprocess.run([sys.executable, script, *args], check=False, capture_output=True, text=True)
    if done.returncode == NOT_POSSIBLE:
        pytest.skip(done.stdout.strip())
    assert (done.returncode, done.stdout) == (0, f"{cells} cells, 0 failed\n"), done.stdout + done.stderr[-2000:]
