"""A random key, made once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.vault.runtime_key import KEY_BYTES, ensure_key


def test_all_who_come_at_once_get_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "runtime" / "events.key"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: ensure_key(str(path)), range(40)))
    assert [len(key) for key in keys] == [KEY_BYTES]
    assert path.read_bytes() in keys
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["events.key"]
    assert ensure_key(str(tmp_path / "other.key")) not in keys


def test_a_damaged_key_is_made_anew_and_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "events.key"
    path.write_bytes(b"short")
    key = ensure_key(str(path))
    assert len(key) == KEY_BYTES
    assert ensure_key(str(path)) == key
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="is a link"):
        ensure_key(str(path))
    assert not (tmp_path / "elsewhere").exists()
