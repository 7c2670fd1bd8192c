import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pygit2.enums import ObjectType

from gitmem.errors import IntegrityError, UnavailableError
from gitmem.git.repo import Repo, open_repo
from gitmem.git.trees import build_tree, diff_trees, remove_unreadable, tree_of, write_blobs
from gitmem.model.ids import CommitId, fingerprint

from conftest import tip_of

Git = Callable[..., str]
Commit = Callable[..., CommitId]


def _loose(repo: Repo, object_id: str) -> Path:
    return Path(repo.common_dir, "objects", object_id[:2], object_id[2:])


def _tear(repo: Repo, object_id: str, content: bytes = b"") -> None:
    path = _loose(repo, object_id)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("kept", [0, 1, 2, 10, 30, -1])
def test_a_torn_blob_is_written_again(vault: Repo, git: Git, kept: int) -> None:
    data = b"a record of some length\n"
    write_blobs(vault, {"a.md": data})
    torn = _loose(vault, fingerprint(data)).read_bytes()[:kept]
    _tear(vault, fingerprint(data), torn)
    with pytest.raises(IntegrityError):
        vault.read_object(fingerprint(data))
    assert write_blobs(vault, {"a.md": data}) == {"a.md": fingerprint(data)}
    assert open_repo(vault.root).read_object(fingerprint(data)) == data
    git(vault, "fsck", "--strict")


def test_a_torn_object_that_this_process_has_just_written_is_written_again(vault: Repo) -> None:
    data = b"twice\n"
    write_blobs(vault, {"a.md": data})
    _tear(vault, fingerprint(data))
    write_blobs(vault, {"a.md": data})
    assert open_repo(vault.root).read_object(fingerprint(data)) == data


def test_a_torn_tree_and_a_torn_commit_are_written_again(vault: Repo, commit: Commit, git: Git) -> None:
    base = tip_of(vault)
    ids = write_blobs(vault, {"x/a.md": b"a"})
    tree = build_tree(vault, base, ids)
    _tear(vault, tree)
    assert build_tree(open_repo(vault.root), base, ids) == tree
    made = commit(vault, {"x/a.md": b"a"})
    git(vault, "reset", "-q", "--hard", base)
    _tear(vault, made)
    assert commit(open_repo(vault.root), {"x/a.md": b"a"}) == made
    git(vault, "fsck", "--strict")


def test_bytes_of_another_object_in_an_objects_place_count_as_torn(vault: Repo) -> None:
    other = _loose(vault, fingerprint(b"one\n")).read_bytes()
    _tear(vault, fingerprint(b"new"), other)
    write_blobs(vault, {"n.md": b"new"})
    assert open_repo(vault.root).read_object(fingerprint(b"new")) == b"new"


def test_only_torn_files_are_removed(vault: Repo) -> None:
    sound, torn, absent = fingerprint(b"one\n"), fingerprint(b"torn"), fingerprint(b"absent")
    _tear(vault, torn)
    assert remove_unreadable(vault, [sound, torn, absent]) == [torn]
    assert remove_unreadable(vault, [sound, torn, absent]) == []
    assert not vault.objects.remove_torn("")
    assert vault.read_object(sound) == b"one\n"


def test_what_can_not_be_replaced_is_an_integrity_error(vault: Repo) -> None:
    data = b"stubborn\n"
    _loose(vault, fingerprint(data)).mkdir(parents=True)
    with pytest.raises((IntegrityError, UnavailableError)) as caught:
        write_blobs(vault, {"a.md": data})
    assert caught.value.code in ("object-poisoned", "git-write-failed")


def test_a_refused_write_is_said(vault: Repo) -> None:
    data = b"no room\n"
    Path(vault.common_dir, "objects", fingerprint(data)[:2]).write_bytes(b"a file where the folder should be")
    with pytest.raises(UnavailableError) as caught:
        write_blobs(vault, {"a.md": data})
    assert caught.value.code == "git-write-failed"


def test_the_kind_of_an_object_is_checked(vault: Repo) -> None:
    with pytest.raises(IntegrityError):
        vault.objects.read(fingerprint(b"one\n"), ObjectType.TREE)
    blob = vault.objects.write(ObjectType.BLOB, b"")
    assert blob == fingerprint(b"")
    with pytest.raises(IntegrityError):
        diff_trees(vault, None, blob)


def test_a_tree_with_garbled_entries_is_an_integrity_error(vault: Repo) -> None:
    for data in (b"100644 a\0short", b"junk" + bytes(30)):
        tree = vault.objects.write(ObjectType.TREE, data)
        with pytest.raises(IntegrityError) as caught:
            diff_trees(vault, tree_of(vault, tip_of(vault)), tree)
        assert caught.value.code == "object-unreadable"


def test_what_is_remembered_never_stands_for_a_proof(vault: Repo) -> None:
    data = b"a small one\n"
    blob = write_blobs(vault, {"a.md": data})["a.md"]
    tip = tip_of(vault)
    tree = tree_of(vault, tip)
    _loose(vault, blob).unlink()
    _loose(vault, tip).unlink()
    assert (vault.objects.read_small(blob), tree_of(vault, tip)) == (data, tree)
    for object_id, kind in ((blob, ObjectType.BLOB), (tip, ObjectType.COMMIT)):
        with pytest.raises(IntegrityError):
            vault.objects.read(object_id, kind)
    with pytest.raises(IntegrityError):
        open_repo(vault.root).objects.read_small(blob)


def test_little_is_remembered(vault: Repo) -> None:
    large = write_blobs(vault, {"large": bytes(1 << 20)})["large"]
    first = write_blobs(vault, {"first": b"first\n"})["first"]
    for blob in (large, first):
        assert vault.objects.read_small(blob) == vault.read_object(blob)
    write_blobs(vault, {f"{number}.md": b"%d\n" % number for number in range(16)})
    for blob in (large, first):
        _loose(vault, blob).unlink()
        with pytest.raises(IntegrityError):
            vault.objects.read_small(blob)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_in_an_objects_place_is_an_error_and_no_wait(vault: Repo, kind: str) -> None:
    blob = vault.objects.write(ObjectType.BLOB, b"text\n")
    path = Path(vault.common_dir) / "objects" / blob[:2] / blob[2:]
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(IntegrityError, match="not a regular file"):
        vault.read_object(blob)
    assert not vault.objects.remove_torn(blob)
