"""Plain configuration files read as libgit2 reads them, and all others not at all."""

from __future__ import annotations

from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.git.plain_settings import parse_plain_settings

from conftest import git

_SECTIONS = (b"[core]", b'[branch "Main"]', b"[a.b]", b'[x "q\\"y"]', b"[", b"]")
_SETTINGS = (b"name = v", b"Bare = FALSE", b"flag", b"=", b"a b", b"url = git@h:p/q.git", b"\xc3\xa9", b"\0")
_SIGNS = (b"\n", b"\t", b" ", b"#", b";", b'"', b"\\", b"\\\n", b"\r\n", b"\xef\xbb\xbf")
PIECES = st.sampled_from((*_SECTIONS, *_SETTINGS, *_SIGNS))


def read_with_libgit2(file: Path) -> list[tuple[str, str]]:
    return [(one.name, one.value or "") for one in pygit2.Config(str(file))]


def test_what_git_itself_writes_is_plain(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "Sam Person")
    git(tmp_path, "remote", "add", "origin", "https://example.com/shop.git")
    git(tmp_path, "config", "branch.Main.merge", "refs/heads/main")
    file = tmp_path / ".git/config"
    found = parse_plain_settings(file.read_bytes())
    assert found == read_with_libgit2(file)
    assert ("branch.Main.merge", "refs/heads/main") in (found or ())


@pytest.mark.parametrize(
    "text",
    [
        b'[core]\n\tname = "a b"\n',
        b"[core]\n\tname = a \\\n b\n",
        b"[core]\n\tname = a ; b\n",
        b"[core]\n\tname = a # b\n",
        b"[core]\n\tflag\n",
        b"[core]\n\tempty =\n",
        b"[core] name = a\n",
        b"[core.sub]\n\tname = a\n",
        b'[core "a\\"b"]\n\tname = a\n',
        b"[core]\r\n\tname = a\r\n",
        b"\xef\xbb\xbf[core]\n",
        b"[core]\n\tname = \xc3\xa9\n",
        b"name = a\n",
        b"[core\n",
        b"# a \\\n[core]\n",
    ],
)
def test_what_programs_may_read_differently_is_left_to_libgit2(text: bytes) -> None:
    assert parse_plain_settings(text) is None


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map(b"".join))
def test_what_is_taken_for_plain_reads_as_with_libgit2(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    found = parse_plain_settings(text)
    if found is not None:
        file = tmp_path_factory.getbasetemp() / "config"
        file.write_bytes(text)
        assert found == read_with_libgit2(file)
