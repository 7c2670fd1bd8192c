"""Whatever becomes of the catalog's file, the answers are those of a sound one."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from catalog_ground import IDS, Ground

from gitmem.catalog.query import Filters, find_row, list_rows
from gitmem.catalog.vocabulary import count_tags
from gitmem.errors import UnavailableError

Trouble = Callable[[Ground, Path, ExitStack], None]


def _none(ground: Ground, file: Path, stack: ExitStack) -> None:
    """Leave it sound."""


def _garbage(ground: Ground, file: Path, stack: ExitStack) -> None:
    ground.database.close()
    for extra in ("-wal", "-shm"):
        Path(f"{file}{extra}").unlink(missing_ok=True)
    file.write_bytes(os.urandom(1) + b"garbage" * 5000)
    ground.__init__(ground.root.parent, str(file))  # type: ignore[misc]


def _overwritten_while_open(ground: Ground, file: Path, stack: ExitStack) -> None:
    with ground.database.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA shrink_memory")
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\x55" * (size - 4096))


def _table_gone(ground: Ground, file: Path, stack: ExitStack) -> None:
    with ground.database.reading() as connection:
        connection.execute("DROP TABLE names")


def _read_only(ground: Ground, file: Path, stack: ExitStack) -> None:
    with ground.database.reading() as connection:
        connection.execute("PRAGMA query_only = ON")


def _locked(ground: Ground, file: Path, stack: ExitStack) -> None:
    other = sqlite3.connect(file, isolation_level=None)
    stack.callback(other.close)
    other.execute("BEGIN IMMEDIATE")


def _file_removed(ground: Ground, file: Path, stack: ExitStack) -> None:
    for extra in ("", "-wal", "-shm"):
        Path(f"{file}{extra}").unlink(missing_ok=True)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def fill(ground: Ground) -> None:
    for number in range(12):
        ground.note(
            f"promoted/{number:02}.md", number, f"word{number} common cache-ttl\n", tags=f"[tool/t{number % 3}]"
        )


def change(ground: Ground) -> None:
    ground.remove("promoted/03.md")
    ground.note("promoted/04.md", 4, "changed heron\n", title="Heron")
    ground.note("observations/2026-11/new.md", 40, "new heron\n")


def tell(ground: Ground) -> list[object]:
    def work() -> list[object]:
        problems = ground.bring_in_step().problems
        database = ground.database
        return [list_rows(database), count_tags(database, Filters()), problems, find_row(database, IDS[4])]

    found = [ground.find(question) for question in ("heron", "common", "word7", "cache-ttl", "word3", "t1 heron")]
    return [*found, *ground.database.attempt(work)]


@pytest.mark.parametrize(
    ("trouble", "is_degraded"),
    [
        (_none, False),
        (_garbage, False),
        (_overwritten_while_open, False),
        (_table_gone, False),
        (_file_removed, False),
        (_read_only, True),
        (_locked, True),
    ],
)
@pytest.mark.parametrize("is_changed", [False, True])
def test_answers_are_the_same(
    tmp_path: Path, stack: ExitStack, trouble: Trouble, *, is_degraded: bool, is_changed: bool
) -> None:
    file = tmp_path / "catalog.sqlite"
    ground = stack.enter_context(Ground(tmp_path, str(file)))
    sound = stack.enter_context(Ground(tmp_path, ":memory:"))
    fill(ground)
    ground.refresh()
    trouble(ground, file, stack)
    if is_changed:
        change(ground)
    assert tell(ground) == tell(sound)
    assert ground.database.degraded == (is_degraded and is_changed)
    assert not sound.database.degraded


def test_two_processes_share_one_catalog(tmp_path: Path, stack: ExitStack) -> None:
    file = str(tmp_path / "catalog.sqlite")
    first, second = (stack.enter_context(Ground(tmp_path, file)) for _ in range(2))
    fill(first)
    assert first.refresh().changed == 12
    assert second.refresh().changed == 0
    change(second)
    assert second.refresh().changed == 3
    assert first.refresh().changed == 0
    assert (first.reads[12:], sorted(second.reads)) == ([], ["observations/2026-11/new.md", "promoted/04.md"])
    assert tell(first) == tell(second)


def test_a_failure_is_repaired_once_and_left_to_the_one_who_asks(tmp_path: Path, stack: ExitStack) -> None:
    file = tmp_path / "catalog.sqlite"
    ground = stack.enter_context(Ground(tmp_path, str(file)))
    fill(ground)
    ground.refresh()
    _table_gone(ground, file, stack)
    change(ground)
    with pytest.raises(UnavailableError) as caught:
        ground.bring_in_step()
    assert caught.value.code == "catalog-failed"
    assert ground.bring_in_step().changed == 12
    assert not ground.database.degraded
