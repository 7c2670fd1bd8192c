"""A folder held open is let go once."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gitmem.vault.folder import Folder


def test_closing_twice_leaves_the_descriptors_of_others_alone(tmp_path: Path) -> None:
    (tmp_path / "promoted").mkdir()
    folder = Folder(str(tmp_path), "promoted")
    was = folder.fd
    assert was is not None
    folder.close()
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        os.dup2(other, was)  # the number now belongs to somebody else
        folder.close()
        os.fstat(was)
    finally:
        for fd in {other, was}:
            os.close(fd)


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "promoted").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number says it
        Folder(str(tmp_path), "promoted")
    assert caught.value.errno in (errno.ELOOP, errno.ENOTDIR)
