import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.git.index_file import load_index
from gitmem.git.publish import move_branch, write_commit
from gitmem.git.repo import Repo, open_repo
from gitmem.git.stage import (
    INTENT_TO_ADD,
    NOT_A_FILE,
    UNMERGED,
    discard_private_index,
    install_index,
    lock_index,
    prepare_index,
    read_index_lock,
    remove_own_stale_lock,
    staged_ids,
)
from gitmem.git.trees import build_tree, write_blobs
from gitmem.model.ids import CommitId, fingerprint

from conftest import tip_of

Git = Callable[..., str]
Commit = Callable[..., CommitId]


ONE = fingerprint(b"one\n")


def _lock_path(repo: Repo) -> Path:
    return Path(repo.git_dir, "index.lock")


def test_gits_own_commands_wait_for_the_lock_and_it_for_them(vault: Repo, git: Git) -> None:
    with lock_index(vault, "observe abc"):
        assert _lock_path(vault).read_bytes().startswith(b"gitmem observe abc ")
        git(vault, "add", "-A", fails=True)
        with pytest.raises(UnavailableError) as caught:
            lock_index(vault, "another")
        assert caught.value.code == "index-locked"
        assert "observe abc" in caught.value.message
        assert caught.value.fields["foreign"] is False
        assert (read_index_lock(vault) or "").startswith("the staging area is locked by observe abc ")
    assert read_index_lock(vault) is None
    git(vault, "add", "-A")
    _lock_path(vault).write_bytes(b"")
    os.utime(_lock_path(vault), (1, 1))
    assert read_index_lock(vault) == "the staging area is locked by a Git command"
    assert read_index_lock(vault, 61 * 10**9) == "the staging area is locked by a Git command since 60 s"
    for now_ns, age_s in ((None, None), (61 * 10**9, 60.0), (0, 0.0)):
        with pytest.raises(UnavailableError) as caught:
            lock_index(vault, "another", now_ns)
        fields = {"foreign": True, "path": str(_lock_path(vault)), "age_s": age_s}
        assert (caught.value.code, caught.value.fields) == ("index-locked", fields)
    assert [name for name in os.listdir(vault.git_dir) if name.startswith("gitmem-lock-")] == []


def test_looking_at_the_lock_writes_nothing(vault: Repo) -> None:
    _lock_path(vault).write_bytes(b"")
    before = os.stat(vault.git_dir).st_mtime_ns
    assert read_index_lock(vault, before) is not None
    with pytest.raises(UnavailableError):
        lock_index(vault, "another", before)
    assert os.stat(vault.git_dir).st_mtime_ns == before


def test_a_lock_that_can_not_be_made_is_said(vault: Repo) -> None:
    os.rename(vault.git_dir, vault.git_dir + "-gone")
    with pytest.raises(UnavailableError) as caught:
        lock_index(vault, "x")
    assert caught.value.code == "git-write-failed"


def test_only_a_lock_of_a_gitmem_crash_is_removed(vault: Repo) -> None:
    assert remove_own_stale_lock(vault) is False
    lock_index(vault, "crashed")
    Path(vault.git_dir, "gitmem-lock-left").write_bytes(b"")
    assert (remove_own_stale_lock(vault), remove_own_stale_lock(vault)) == (True, False)
    assert [name for name in os.listdir(vault.git_dir) if "lock" in name] == []
    _lock_path(vault).write_bytes(b"a person's")
    assert remove_own_stale_lock(vault) is False
    assert _lock_path(vault).read_bytes() == b"a person's"


def _state(repo: Repo, git: Git) -> dict[str, str]:
    return {
        "status": git(repo, "status", "--porcelain=v2"),
        "staged": git(repo, "ls-files", "-s", "-v"),
        "intended": git(repo, "diff", "--cached", "--raw", "--abbrev=40"),
    }


def _persons_work(repo: Repo, git: Git) -> None:
    """Everything a person may have in a staging area, none of it on the path that gitmem writes."""
    root = Path(repo.root)
    (root / "staged-new.md").write_bytes(b"staged\n")
    (root / "promoted/two.md").write_bytes(b"staged half\n")
    git(repo, "add", "staged-new.md", "promoted/two.md")
    (root / "promoted/two.md").write_bytes(b"staged half\nand more\n")
    git(repo, "rm", "-q", "--cached", "manifest.json")
    (root / "intended.md").write_bytes(b"later\n")
    git(repo, "add", "-N", "intended.md")
    (root / "promoted.md").write_bytes(b"unstaged edit\n")
    git(repo, "update-index", "--chmod=+x", "promoted/deep/three.md")
    (root / "untracked.md").write_bytes(b"u")
    os.symlink("x", root / "link")
    git(repo, "add", "link")


@pytest.mark.parametrize("version", ["2", "4"])
def test_what_a_person_staged_stays_staged(vault: Repo, commit: Commit, git: Git, version: str) -> None:
    git(vault, "update-index", "--index-version", version)
    _persons_work(vault, git)
    before = _state(vault, git)
    commit(vault, {"baseline/new.md": b"new\n", "baseline/one.md": b"1\n"})
    after = _state(vault, git)
    lines = [line for line in after["staged"].splitlines() if "baseline/" not in line]
    assert lines == [line for line in before["staged"].splitlines() if "baseline/" not in line]
    assert (after["status"], after["intended"]) == (before["status"], before["intended"])
    assert git(vault, "show", "--format=", "--name-only", "HEAD") == "baseline/new.md\nbaseline/one.md\n"
    git(vault, "commit", "-qm", "the person's")
    assert git(vault, "show", "HEAD:promoted/two.md") == "staged half\n"
    assert git(vault, "show", "HEAD:baseline/new.md") == "new\n"
    git(vault, "fsck", "--strict")


def test_git_sees_a_written_file_as_clean_without_looking_at_it(vault: Repo, commit: Commit, git: Git) -> None:
    commit(vault, {"baseline/new.md": b"new\n", "promoted/two.md": None, "baseline/one.md": b"longer than before\n"})
    assert git(vault, "diff-files") == ""
    assert git(vault, "diff-index", "--cached", "HEAD") == ""
    assert git(vault, "status", "--porcelain") == ""
    debug = git(vault, "ls-files", "--debug", "baseline/new.md")
    stat = os.lstat(Path(vault.root, "baseline/new.md"))
    assert f"mtime: {stat.st_mtime_ns // 10**9}:{stat.st_mtime_ns % 10**9}" in debug
    assert f"ino: {stat.st_ino}" in debug


def test_an_edit_made_meanwhile_is_never_hidden_from_git(vault: Repo, git: Git) -> None:
    ids = write_blobs(vault, {"baseline/one.md": b"gitmem's\n"})
    Path(vault.root, "baseline/one.md").write_bytes(b"a person'")
    with lock_index(vault, "x"):
        install_index(vault, prepare_index(vault, tip_of(vault), ids, "op1"))
    assert git(vault, "status", "--porcelain") == "MM baseline/one.md\n"


@pytest.mark.parametrize("damage", ["missing", "empty", "zeros", "cut"])
def test_a_lost_staging_area_is_made_again_from_head(vault: Repo, commit: Commit, git: Git, damage: str) -> None:
    os.symlink("one.md", Path(vault.root, "baseline/link"))
    os.chmod(Path(vault.root, "manifest.json"), 0o755)
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "a link and a program")
    index = Path(vault.index_path)
    data = index.read_bytes()
    index.unlink()
    if damage != "missing":
        index.write_bytes({"empty": b"", "zeros": b"\0" * 500, "cut": data[:100]}[damage])
    assert load_index(vault.index_path) is None
    assert vault.unmerged_paths() == []
    assert staged_ids(vault, ["baseline/one.md", "none"]) == {"baseline/one.md": fingerprint(b"one\n"), "none": None}
    commit(vault, {"baseline/one.md": b"1\n"})
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "diff-index", "--cached", "HEAD") == ""
    assert load_index(vault.index_path) is not None


def test_staged_ids_tell_what_is_no_committed_file(vault: Repo, git: Git) -> None:
    root = Path(vault.root)
    (root / "intended.md").write_bytes(b"")
    git(vault, "add", "-N", "intended.md")
    os.symlink("x", root / "link")
    git(vault, "add", "link")
    lines = "".join(f"100644 {ONE} {stage}\tclash.md\n" for stage in (1, 2, 3))
    git(vault, "update-index", "--index-info", text=lines)
    assert staged_ids(vault, ["intended.md", "link", "clash.md", "baseline/one.md", "baseline", "none"]) == {
        "intended.md": INTENT_TO_ADD,
        "link": NOT_A_FILE,
        "clash.md": UNMERGED,
        "baseline/one.md": fingerprint(b"one\n"),
        "baseline": None,
        "none": None,
    }
    assert vault.unmerged_paths() == ["clash.md"]


def test_a_commit_resolves_an_unmerged_path_that_it_writes(vault: Repo, commit: Commit, git: Git) -> None:
    lines = "".join(f"100644 {ONE} {stage}\tbaseline/one.md\n" for stage in (1, 2, 3))
    git(vault, "update-index", "--index-info", text="0 " + "0" * 40 + "\tbaseline/one.md\n" + lines)
    commit(vault, {"baseline/one.md": b"1\n"})
    assert git(vault, "status", "--porcelain") == ""


def test_a_file_staged_in_a_folders_place_stops_the_operation(vault: Repo, git: Git) -> None:
    Path(vault.root, "retired").write_bytes(b"a person's file")
    git(vault, "add", "retired")
    before = Path(vault.index_path).read_bytes()
    ids = write_blobs(vault, {"retired/x.md": b"x"})
    with pytest.raises(StateError) as caught:
        prepare_index(vault, tip_of(vault), ids, "op1")
    assert (caught.value.code, caught.value.fields["path"]) == ("index-clash", "retired")
    assert Path(vault.index_path).read_bytes() == before


def test_a_split_index_stops_the_operation(vault: Repo, git: Git) -> None:
    git(vault, "update-index", "--split-index")
    for ask in (lambda: staged_ids(vault, ["x"]), lambda: prepare_index(vault, None, {}, "op"), vault.unmerged_paths):
        with pytest.raises(StateError) as caught:
            ask()
        assert caught.value.code == "index-unsupported"
    git(vault, "update-index", "--no-split-index")
    assert staged_ids(vault, ["none"]) == {"none": None}


def test_an_index_is_installed_only_under_gitmems_lock(vault: Repo) -> None:
    before = Path(vault.index_path).read_bytes()
    private = prepare_index(vault, tip_of(vault), {"manifest.json": None}, "op1")
    with pytest.raises(StateError) as caught:
        install_index(vault, private)
    assert caught.value.code == "index-lock-lost"
    assert Path(vault.index_path).read_bytes() == before
    discard_private_index(vault, "op1")
    discard_private_index(vault, "op1")
    assert not os.path.exists(private)
    with lock_index(vault, "x"), pytest.raises(UnavailableError):
        install_index(vault, private)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x"])
def test_a_private_index_has_a_plain_name(vault: Repo, name: str) -> None:
    with pytest.raises(InputError):
        prepare_index(vault, None, {}, name)


def test_an_index_that_a_group_may_write_stays_so(vault: Repo, commit: Commit) -> None:
    os.chmod(vault.index_path, 0o660)
    commit(vault, {"a.md": b"a"})
    assert os.stat(vault.index_path).st_mode & 0o777 == 0o660


def test_known_trees_are_kept_for_git_status_and_never_stale(vault: Repo, commit: Commit, git: Git) -> None:
    git(vault, "reset", "-q", "--hard")
    commit(vault, {"promoted/deep/four.md": b"4\n", "promoted/two.md": None, "baseline/one.md": None})
    assert git(vault, "write-tree").strip() == git(vault, "rev-parse", "HEAD^{tree}").strip()
    Path(vault.root, "promoted/two.md").write_bytes(b"again\n")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "again")
    assert git(vault, "ls-tree", "-r", "--name-only", "HEAD", "promoted") == (
        "promoted/deep/four.md\npromoted/deep/three.md\npromoted/two.md\n"
    )
    git(vault, "fsck", "--strict")


def test_a_linked_work_tree_has_its_own_staging_area(vault: Repo, tmp_path: Path, git: Git) -> None:
    git(vault, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = open_repo(str(tmp_path / "linked"))
    base = tip_of(linked)
    main_index = Path(vault.index_path).read_bytes()
    Path(linked.root, "side.md").write_bytes(b"side\n")
    ids = write_blobs(linked, {"side.md": b"side\n"})
    with lock_index(linked, "x"), lock_index(vault, "y"):
        private = prepare_index(linked, base, ids, "op1")
        new = write_commit(linked, build_tree(linked, base, ids), [base], ("g", "g@x"), (1, 0), "side\n")
        move_branch(linked, "side", base, new, "side")
        install_index(linked, private)
    assert git(linked.root, "status", "--porcelain") == ""
    assert git(linked.root, "reflog", "--format=%gs", "-1") == "side\n"
    assert Path(vault.index_path).read_bytes() == main_index
    assert tip_of(vault) == base
