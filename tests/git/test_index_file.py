import contextlib
import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import StateError
from gitmem.git.index_file import (
    BadIndexError,
    IndexFile,
    NewEntry,
    StagedEntry,
    find_version,
    load_index,
    new_index,
    parse_index,
)
from gitmem.git.index_tree import invalidate_folders
from gitmem.git.repo import Repo
from gitmem.model.ids import fingerprint

Git = Callable[..., str]

PLAIN = 0o100644
BLOB = fingerprint(b"x")


def _git_index(git: Git, tmp_path: Path, names: list[str], version: int) -> Path:
    git(tmp_path, "init", "-q")
    lines = "".join(f"{PLAIN:o} {BLOB}\t{name}\n" for name in names)
    git(tmp_path, "update-index", "--index-version", str(version), "--add", "--index-info", text=lines)
    return tmp_path / ".git" / "index"


NAMES = ["a", "a.md", "a/b.md", "a/bc.md", "a0", "é/ü.md", "x/" + "n" * 200 + ".md", "x/" + "m" * 4200, "x/y/z"]


@pytest.mark.parametrize("version", [2, 4])
def test_one_edit_at_a_time_gives_what_git_would_write(tmp_path: Path, git: Git, version: int) -> None:
    index = _git_index(git, tmp_path, [name for name in NAMES if name != "a"], version)
    before = index.read_bytes()
    assert before[7] == version
    parsed = parse_index(before)
    assert parsed.edit({}) == before
    other = fingerprint(b"y")
    for name, entry in (("0first", NewEntry(PLAIN, other)), ("zlast", NewEntry(PLAIN, other)), ("a/b.md", None)):
        index.write_bytes(parsed.edit({name: entry}))
        ours = git(tmp_path, "ls-files", "-s")
        index.write_bytes(before)
        if entry is None:
            git(tmp_path, "update-index", "--force-remove", name)
        else:
            git(tmp_path, "update-index", "--add", "--cacheinfo", f"{PLAIN:o},{entry.blob},{name}")
        assert ours == git(tmp_path, "ls-files", "-s")
        assert index.read_bytes() == parsed.edit({name: entry})
        index.write_bytes(before)


_name = st.lists(st.sampled_from(["a", "b", "a.md", "a-b", "é", "n" * 90]), min_size=1, max_size=3).map("/".join)


def _without_clashes(names: set[str]) -> list[str]:
    return sorted((n for n in names if not any(o.startswith(n + "/") for o in names)), key=str.encode)


def _parse_anew(data: bytes) -> IndexFile:
    """Parse ``data`` although it was the last to be made; another index takes its place in memory first."""
    parse_index(new_index([("another.md", NewEntry(PLAIN, BLOB))]).edit({}))
    return parse_index(data)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(st.sets(_name, max_size=9).map(_without_clashes), st.dictionaries(_name, st.booleans(), max_size=4))
def test_edits_behave_like_those_of_a_dictionary(names: list[str], edits: dict[str, bool]) -> None:
    parsed = new_index((name, NewEntry(PLAIN, BLOB)) for name in names)
    other = fingerprint(b"y")
    wanted = dict.fromkeys(names, BLOB)
    for name, stays in edits.items():
        wanted.pop(name, None)
        if stays:
            wanted[name] = other
    clashes = any(longer.startswith(name + "/") for name in wanted for longer in wanted)
    change = {name: NewEntry(PLAIN, other) if stays else None for name, stays in edits.items()}
    if clashes:
        with pytest.raises(StateError) as caught:
            parsed.edit(change)
        assert caught.value.code == "index-clash"
        return
    edited = _parse_anew(parsed.edit(change))
    assert len(edited.starts) == len(wanted)
    assert {name: edited.find(name) for name in wanted} == {
        name: [StagedEntry(PLAIN, blob, 0, intent_to_add=False)] for name, blob in wanted.items()
    }
    assert edited == _parse_anew(
        new_index((n, NewEntry(PLAIN, wanted[n])) for n in sorted(wanted, key=str.encode)).edit({})
    )


@pytest.mark.parametrize("version", [2, 3, 4])
def test_what_is_remembered_of_an_edit_is_what_its_bytes_say(tmp_path: Path, git: Git, version: int) -> None:
    names = ["a.md", "b/c.md", "b/d/e.md", "f.md"]
    index = parse_index(_git_index(git, tmp_path, names, version).read_bytes())
    changes: list[dict[str, NewEntry | None]] = [
        {},
        {"a.md": None},
        {"b/d/e.md": NewEntry(PLAIN, BLOB), "z.md": NewEntry(PLAIN, BLOB)},
        {"a.md": NewEntry(PLAIN, BLOB), "b/c.md": None, "f.md": None},
        dict.fromkeys(names),
    ]
    for change in changes:
        data = index.edit(change)
        remembered = parse_index(data)
        assert _parse_anew(data) == remembered
        index = remembered


@pytest.mark.parametrize("version", [2, 4])
def test_every_cut_and_every_flipped_byte_is_noticed(tmp_path: Path, git: Git, version: int) -> None:
    data = _git_index(git, tmp_path, ["a.md", "b/c.md"], version).read_bytes()
    for size in range(len(data)):
        with pytest.raises(BadIndexError):
            parse_index(data[:size])
    for at in range(len(data)):
        with pytest.raises(BadIndexError):
            parse_index(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])


@pytest.mark.parametrize("version", [2, 3, 4])
def test_garbled_bytes_with_a_right_checksum_never_crash(tmp_path: Path, git: Git, version: int) -> None:
    data = bytearray(_git_index(git, tmp_path, ["a.md", "b/c.md"], 4 if version == 4 else 2).read_bytes())
    data[7] = version
    for at in range(8, len(data) - 20):
        for value in (0, 0x7F, 0xFF):
            changed = bytes(data[:at]) + bytes([value]) + bytes(data[at + 1 : -20])
            sealed = changed + hashlib.sha1(changed).digest()
            with contextlib.suppress(BadIndexError, StateError):
                assert parse_index(sealed).edit({"new.md": NewEntry(PLAIN, BLOB)}).startswith(b"DIRC")


def test_an_index_of_another_kind_is_refused_and_not_rebuilt(tmp_path: Path, git: Git) -> None:
    index = _git_index(git, tmp_path, ["a.md"], 2)
    git(tmp_path, "update-index", "--split-index")
    with pytest.raises(StateError) as caught:
        load_index(str(index))
    assert caught.value.code == "index-unsupported"
    body = struct.pack(">4sII4sI", b"DIRC", 2, 0, b"sdir", 0)
    index.write_bytes(body + hashlib.sha1(body).digest())
    with pytest.raises(StateError):
        load_index(str(index))


@pytest.mark.parametrize("version", [0, 1, 5, 0xFFFFFFFF])
def test_an_index_of_a_version_that_git_does_not_have_is_made_anew(tmp_path: Path, version: int) -> None:
    body = struct.pack(">4sII", b"DIRC", version, 0)
    (tmp_path / "index").write_bytes(body + hashlib.sha1(body).digest())
    assert load_index(str(tmp_path / "index")) is None
    assert find_version(str(tmp_path / "index")) == version


def test_a_missing_empty_or_damaged_index_is_none(tmp_path: Path) -> None:
    path = tmp_path / "index"
    assert load_index(str(path)) is None
    for data in (b"", b"\0" * 300, b"DIRC"):
        path.write_bytes(data)
        assert load_index(str(path)) is None


def test_gits_checksum_of_zeros_is_accepted(tmp_path: Path, git: Git) -> None:
    index = _git_index(git, tmp_path, ["a.md"], 2)
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    assert [entry.blob for entry in parse_index(index.read_bytes()).find("a.md")] == [BLOB]


def test_only_folders_above_a_change_lose_their_tree(vault: Repo, git: Git) -> None:
    git(vault, "reset", "-q", "--hard")
    extension = parse_index(Path(vault.index_path).read_bytes()).extensions[b"TREE"]
    edited = invalidate_folders(extension, [b"promoted/deep/three.md"])
    ids = {
        name: git(vault, "rev-parse", f"HEAD:{name}").strip() for name in ("", "baseline", "promoted", "promoted/deep")
    }
    assert {name: bytes.fromhex(one) in extension for name, one in ids.items()} == dict.fromkeys(ids, True)
    assert {name for name, one in ids.items() if bytes.fromhex(one) in edited} == {"baseline"}
    for cut in range(len(extension)):
        assert invalidate_folders(extension[:cut], [b"x"]) in (b"", extension[:cut])
    assert invalidate_folders(b"garbage", [b"x"]) == b""
