"""Packed objects by plain reads: the same as libgit2 gives, or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pygit2
import pytest

from gitmem.git.delta import apply_delta, make_delta
from gitmem.git.kinds import ObjectType
from gitmem.git.pack_read import find_packed

from conftest import git


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A repository of many versions of some files, all packed: most of its objects are deltas of others."""
    git(tmp_path, "init", "-q")
    for number in range(12):
        for name in ("a.md", "b.md"):
            lines = [f"{name} line {line}: {'x' * 40}\n" for line in range(200)]
            lines[number * 7] = f"changed in {number}\n"
            (tmp_path / name).write_text("".join(lines))
        (tmp_path / f"c{number}.md").write_text(f"{number}\n" * 3000)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"version {number}")
    git(tmp_path, "tag", "-a", "-m", "a tag", "v1")
    git(tmp_path, "repack", "-adf", "--depth=50")
    git(tmp_path, "prune-packed")
    return tmp_path / ".git" / "objects"


def list_ids(objects: Path) -> list[str]:
    """Return all objects, and see that nothing lies there by itself."""
    assert not [one for one in objects.iterdir() if len(one.name) == 2]
    handle = pygit2.Repository(str(objects.parent.parent))
    return [str(one) for one in handle]


def test_every_packed_object_is_read_as_libgit2_reads_it(packed: Path) -> None:
    handle = pygit2.Repository(str(packed.parent.parent))
    ids = list_ids(packed)
    assert len(ids) > 50
    deltas = git(packed.parent.parent, "verify-pack", "-v", str(next(packed.glob("pack/*.idx"))))
    assert "chain length = 3" in deltas
    for one in ids:
        kind, data = handle.odb.read(one)
        assert find_packed(str(packed), one) == (ObjectType(kind), data)
    assert {find_packed(str(packed), one)[0] for one in ids} == set(ObjectType)  # type: ignore[index]


def test_deltas_that_name_their_base_are_read(packed: Path) -> None:
    work = packed.parent.parent
    ids = list_ids(packed)
    git(work, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adf")
    handle = pygit2.Repository(str(work))
    assert [find_packed(str(packed), one) for one in ids] == [handle.odb.read(one) for one in ids]


def test_what_no_pack_has_is_not_found(packed: Path) -> None:
    assert find_packed(str(packed), "0" * 40) is None
    assert find_packed(str(packed / "nowhere"), "0" * 40) is None


def test_another_accounts_repository_is_left_to_libgit2(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = list_ids(packed)[0]
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert find_packed(str(packed), one) is None


def test_a_damaged_pack_gives_the_object_or_nothing(packed: Path) -> None:
    handle = pygit2.Repository(str(packed.parent.parent))
    ids = list_ids(packed)[::7]
    whole = {one: handle.odb.read(one) for one in ids}
    for file in sorted(packed.glob("pack/*")):
        if file.suffix not in (".pack", ".idx"):
            continue
        data = file.read_bytes()
        file.chmod(0o644)
        for at in range(0, len(data), max(1, len(data) // 97)):
            file.write_bytes(data[:at] + bytes((data[at] ^ 0x55,)) + data[at + 1 :])
            assert {find_packed(str(packed), one) for one in ids} <= {None, *whole.values()}
            file.write_bytes(data[:at])
            assert {find_packed(str(packed), one) for one in ids} <= {None, *whole.values()}
        file.write_bytes(data)
    assert [find_packed(str(packed), one) for one in ids] == list(whole.values())


@pytest.mark.parametrize(
    ("base", "target"),
    [(b"", b""), (b"a" * 100, b"a" * 99 + b"b"), (b"one\n" * 30_000, b"one\n" * 29_000 + b"two\n" * 99), (b"x", b"")],
)
def test_a_delta_makes_its_target(base: bytes, target: bytes) -> None:
    assert apply_delta(base, make_delta(base, target), len(target)) == target


def test_a_delta_of_something_else_or_of_any_size_is_refused() -> None:
    delta = make_delta(b"a" * 100, b"a" * 90)
    for base, most in ((b"a" * 99, 100), (b"a" * 100, 89)):
        with pytest.raises(ValueError, match="a delta of something else"):
            apply_delta(base, delta, most)
