import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.catalog.database import open_database, sqlite_version
from gitmem.catalog.tables import schema_version
from gitmem.errors import UnavailableError


def put(file: Path, key: str = "vault-a") -> None:
    """Leave a catalog with one row behind."""
    database = open_database(str(file), key)
    with database.writing() as connection:
        connection.execute("INSERT INTO private VALUES ('promoted/a.md')")
    database.close()


def count(file: Path, key: str = "vault-a") -> tuple[int, str]:
    """Return how many rows an opened catalog has, and why it is degraded."""
    database = open_database(str(file), key, busy_timeout_s=0.05)
    with database.reading() as connection:
        (rows,) = connection.execute("SELECT count(*) FROM private").fetchone()
    database.close()
    return rows, database.reason


def test_a_catalog_is_kept_for_its_key(tmp_path: Path) -> None:
    put(tmp_path / "c")
    assert count(tmp_path / "c") == (1, "")


def test_a_catalog_of_another_key_is_emptied(tmp_path: Path) -> None:
    put(tmp_path / "c")
    assert count(tmp_path / "c", "vault-b") == (0, "")
    assert count(tmp_path / "c", "vault-a") == (0, "")


def test_a_catalog_with_pages_of_another_size_is_replaced(tmp_path: Path) -> None:
    put(tmp_path / "model")
    with closing(sqlite3.connect(tmp_path / "model")) as model:
        version = model.execute("PRAGMA user_version").fetchone()[0]
    with sqlite3.connect(tmp_path / "c") as other:
        other.execute("PRAGMA page_size = 4096")
        other.execute("CREATE TABLE private(path TEXT PRIMARY KEY) WITHOUT ROWID")
        other.execute("INSERT INTO private VALUES ('promoted/a.md')")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    assert count(tmp_path / "c", "vault-a") == (0, "")
    put(tmp_path / "c")
    assert count(tmp_path / "c", "vault-a") == (1, "")


def test_versions_differ_by_key_and_are_never_zero() -> None:
    versions = {schema_version(str(key)) for key in range(1000)}
    assert len(versions) == 1000
    assert min(versions) > 0
    assert max(versions) < 2**31


def test_the_file_is_private(tmp_path: Path) -> None:
    file = tmp_path / "c"
    database = open_database(str(file), "vault-a")
    with database.writing() as connection:
        connection.execute("INSERT INTO private VALUES ('promoted/a.md')")
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "c": 0o600,
        "c-shm": 0o600,
        "c-wal": 0o600,
    }
    database.close()
    file.chmod(0o644)
    open_database(str(file), "vault-a").close()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "foreign", "table-gone"])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "c"
    put(file)
    if damage == "garbage":
        file.write_bytes(b"no database at all" * 1000)
    elif damage == "cut":
        os.truncate(file, file.stat().st_size - 4096)
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("DROP TABLE private")
            if damage == "foreign":
                connection.execute("CREATE TABLE private(x)")
                connection.execute("CREATE VIRTUAL TABLE other USING fts5(x)")
                connection.execute("PRAGMA user_version = 7")
        connection.close()
    database = open_database(str(file), "vault-a")

    def work() -> int:
        with database.reading() as connection:
            rows: int = connection.execute("SELECT count(*) FROM private").fetchone()[0]
            return rows

    assert database.attempt(work) in (0, 1)
    assert not database.degraded
    database.close()
    put(tmp_path / "d")
    put(file)
    assert count(file)[0] >= 1


@pytest.mark.parametrize("obstacle", ["folder-missing", "is-a-folder", "is-a-link"])
def test_without_a_usable_file_it_lives_in_memory_and_says_so(tmp_path: Path, obstacle: str) -> None:
    file = tmp_path / "c"
    if obstacle == "folder-missing":
        file = tmp_path / "gone" / "c"
    elif obstacle == "is-a-folder":
        file.mkdir()
    else:
        (tmp_path / "target").write_bytes(b"precious")
        file.symlink_to(tmp_path / "target")
    database = open_database(str(file), "vault-a")
    with database.writing() as connection:
        connection.execute("INSERT INTO private VALUES ('promoted/a.md')")
    assert database.degraded
    assert database.reason.startswith("the search catalog can't be opened: ")
    database.close()
    assert not (tmp_path / "gone").exists()
    assert not (tmp_path / "target").exists() or (tmp_path / "target").read_bytes() == b"precious"


def test_a_writer_that_waits_too_long_goes_on_in_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "c"
    put(file)
    holder = open_database(str(file), "vault-a")
    other = open_database(str(file), "vault-a", busy_timeout_s=0.01)

    def add() -> int:
        with other.writing() as connection:
            connection.execute("INSERT INTO private VALUES ('promoted/b.md')")
            rows: int = connection.execute("SELECT count(*) FROM private").fetchone()[0]
            return rows

    with holder.writing():
        assert other.attempt(add) == 2
        assert other.reason == "the search catalog can't be used: database is locked"
    other.close()
    holder.close()
    assert count(file) == (1, "")


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    file = tmp_path / "c"
    put(file)
    writer = open_database(str(file), "vault-a")
    with writer.writing() as connection:
        connection.execute("INSERT INTO private VALUES ('promoted/b.md')")
        assert count(file) == (1, "")
    writer.close()
    assert count(file) == (2, "")


def test_an_exception_undoes_the_transaction(tmp_path: Path) -> None:
    database = open_database(str(tmp_path / "c"), "vault-a")

    def fail() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO private VALUES ('promoted/a.md')")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM private").fetchone() == (0,)
    database.close()


def test_a_failure_that_repair_does_not_end_is_raised(tmp_path: Path) -> None:
    database = open_database(str(tmp_path / "c"), "vault-a")
    tries = []

    def work() -> None:
        tries.append(database.degraded)
        with database.reading() as connection:
            connection.execute("SELECT * FROM nowhere")

    with pytest.raises(UnavailableError) as caught:
        database.attempt(work)
    assert caught.value.code == "catalog-failed"
    assert tries == [False, False, True, True]
    database.close()


def test_the_version_of_sqlite_is_told() -> None:
    assert tuple(map(int, sqlite_version().split("."))) >= (3, 37)


def test_rows_that_make_no_sense_are_doubted_once(tmp_path: Path) -> None:
    put(tmp_path / "c")
    database = open_database(str(tmp_path / "c"), "vault-a")
    tries: list[int] = []

    def work() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("'promotedX' is not a valid State")
        with database.reading() as connection:
            rows: int = connection.execute("SELECT count(*) FROM private").fetchone()[0]
            return rows

    assert (database.attempt(work), database.damage) == (0, "'promotedX' is not a valid State")

    def fail() -> None:
        tries.append(1)
        raise ValueError("a mistake in the program")

    with pytest.raises(ValueError, match="a mistake"):
        database.attempt(fail)
    assert len(tries) == 4
    database.close()


def test_a_schema_that_is_not_text_is_damage(tmp_path: Path) -> None:
    put(tmp_path / "c")
    data = (tmp_path / "c").read_bytes()
    (tmp_path / "c").write_bytes(data.replace(b"CREATE TABLE folders", b"CREATE T\xffBLE folders"))
    assert count(tmp_path / "c") == (0, "")
