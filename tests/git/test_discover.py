import os
from collections.abc import Callable
from pathlib import Path

from gitmem.git.discover import find_git_dir, find_repository, main_worktree
from gitmem.git.repo import Repo

Git = Callable[..., str]


def test_the_nearest_repository_above_a_folder_is_found(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "outer")
    outer = tmp_path / "outer"
    (outer / "a" / "b").mkdir(parents=True)
    expected = (str(outer), str(outer / ".git"))
    assert find_repository(str(outer / "a" / "b")) == find_repository(str(outer)) == expected
    git(outer / "a", "init", "-q")
    assert find_repository(str(outer / "a" / "b")) == (str(outer / "a"), str(outer / "a" / ".git"))
    assert find_repository(str(tmp_path)) is None


def test_an_empty_git_folder_is_passed_over_and_a_broken_pointer_is_not(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    assert find_repository(str(tmp_path / "empty")) == (str(tmp_path), str(tmp_path / ".git"))
    (tmp_path / "broken").mkdir()
    for content in (b"gitdir: /nowhere\n", b"nonsense", b"", b"gitdir: a\0b", b"gitdir: x" + b"y" * 9000):
        (tmp_path / "broken" / ".git").write_bytes(content)
        assert find_repository(str(tmp_path / "broken")) is None
    git(tmp_path / "broken", "status", fails=True)


def test_linked_work_trees_lead_to_their_main_one(vault: Repo, tmp_path: Path, git: Git) -> None:
    linked = str(tmp_path / "linked")
    git(vault, "worktree", "add", "-q", "-b", "side", linked)
    assert find_repository(linked) == (linked, os.path.join(vault.git_dir, "worktrees", "linked"))
    assert main_worktree(linked) == vault.root
    assert main_worktree(vault.root) == vault.root
    assert main_worktree(str(tmp_path)) == str(tmp_path)


def test_a_relative_pointer_and_a_submodule_are_followed(vault: Repo, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "super")
    git(tmp_path / "super", "submodule", "--quiet", "add", vault.root, "sub")
    sub = str(tmp_path / "super" / "sub")
    assert find_git_dir(sub) == str(tmp_path / "super/.git/modules/sub")
    assert find_repository(sub) == (sub, str(tmp_path / "super/.git/modules/sub"))
    assert main_worktree(sub) == sub


def test_a_work_tree_of_a_bare_repository_is_named_by_the_repository(vault: Repo, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "clone", "-q", "--bare", vault.root, "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert main_worktree(str(tmp_path / "tree")) == str(tmp_path / "bare.git")
