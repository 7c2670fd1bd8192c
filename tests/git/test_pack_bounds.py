"""A damaged index of a pack is an error, and never leads libgit2 behind the end of the pack, where it would crash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitmem.errors import IntegrityError
from gitmem.git.pack_bounds import check_pack_bounds

from conftest import Desk, draft


@pytest.fixture
def index(desk: Desk, person) -> Path:
    """The index of the one pack that holds everything."""
    with desk.open() as memory:
        for number in range(3):
            memory.observe(draft(f"Finding {number}"), person)
    desk.git("gc", "--quiet")
    (found,) = (desk.repo / ".git/objects/pack").glob("*.idx")
    found.chmod(0o644)
    return found


def objects(index: Path) -> str:
    return str(index.parents[1])


def test_a_sound_index_passes_also_with_64_bit_offsets(desk: Desk, index: Path) -> None:
    check_pack_bounds(objects(index))
    index.unlink()
    pack = index.with_suffix(".pack")
    subprocess.run(
        ["git", "index-pack", "--index-version=2,0", str(pack)], cwd=desk.repo, check=True, capture_output=True
    )
    data = index.read_bytes()
    count = int.from_bytes(data[1028:1032], "big")
    assert data[1032 + 24 * count] == 0x80
    check_pack_bounds(objects(index))
    index.chmod(0o644)
    index.write_bytes(data[: 1032 + 28 * count] + b"\x01" + data[1032 + 28 * count + 1 :])
    with pytest.raises(IntegrityError):
        check_pack_bounds(objects(index))


@pytest.mark.parametrize("flip", [0x10, 0x80])
def test_an_offset_behind_the_end_is_an_error(index: Path, flip: int) -> None:
    good = index.read_bytes()
    count = int.from_bytes(good[1028:1032], "big")
    for number in range(count):
        place = 1032 + 24 * count + 4 * number
        index.write_bytes(good[:place] + bytes([good[place] ^ flip]) + good[place + 1 :])
        with pytest.raises(IntegrityError) as caught:
            check_pack_bounds(objects(index))
        assert caught.value.code == "pack-index-damaged"
    index.write_bytes(good)


@pytest.mark.parametrize("data", [b"", b"\xfftOc", b"garbage" * 500, b"\xfftOc\0\0\0\2" + b"\xff" * 1024])
def test_what_is_no_index_is_left_to_libgit2(index: Path, data: bytes) -> None:
    index.write_bytes(data)
    check_pack_bounds(objects(index))
    index.with_suffix(".pack").unlink()
    check_pack_bounds(objects(index))


def test_inv_never_silent_a_read_says_so(desk: Desk, index: Path) -> None:
    good = index.read_bytes()
    place = len(good) - 40 - 4
    index.write_bytes(good[:place] + b"\x70" + good[place + 1 :])
    with desk.open() as memory:
        answer = memory.status()
    assert answer.status.value == "unavailable"
    assert [problem.code for problem in answer.diagnostics] == ["pack-index-damaged"]
    assert "index-pack" in answer.extra["hint"]
