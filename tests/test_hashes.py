"""The hashes are those of ``hashlib``, whichever way they are made."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import hashes

ROOT = Path(__file__).parents[1]
SIZES = (0, 1, 63, 64, 1_000, 16_384, 16_385, 100_000)
ALONE = """
import sys
sys.path.append(sys.argv[1])
from gitmem.hashes import sha1, sha256
for size in map(int, sys.argv[2:]):
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    print(sha1(data).hex(), sha256(data).hex(), "hashlib" in sys.modules)
"""


def data_of(size: int) -> bytes:
    return bytes(range(256)) * (size // 256) + bytes(size % 256)


def test_without_hashlib_they_are_the_same_and_only_long_data_needs_it() -> None:
    words = [sys.executable, "-E", "-P", "-S", "-c", ALONE, str(ROOT), *map(str, SIZES)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    expected = [
        f"{hashlib.sha1(data_of(size)).hexdigest()} {hashlib.sha256(data_of(size)).hexdigest()} {size > 16_384}"
        for size in SIZES
    ]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("size", SIZES)
def test_with_hashlib_they_are_the_same(size: int) -> None:
    data = data_of(size)
    assert hashes.sha1(data) == hashlib.sha1(data).digest()
    assert hashes.sha256(data) == hashlib.sha256(data).digest()


def test_a_python_without_its_own_hashes_uses_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_sha1", "_sha256", "_sha2"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "hashlib")
    hashes._find_own.cache_clear()
    assert hashes.sha256(b"a") == hashlib.sha256(b"a").digest()
    assert hashes.sha1(b"a") == hashlib.sha1(b"a").digest()
    hashes._find_own.cache_clear()


def test_a_keyed_hash_is_that_of_hashlib() -> None:
    expected = hashlib.blake2b(b"a", key=b"k", digest_size=12).digest()
    assert hashes.blake2b(b"a", key=b"k", digest_size=12) == expected
