import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, IntegrityError, StateError
from gitmem.git.head import Head
from gitmem.git.repo import NOT_A_FILE, Repo, init_repo, open_repo, read_user_identity
from gitmem.git.stage import staged_ids
from gitmem.model.ids import CommitId, fingerprint

from conftest import tip_of

Git = Callable[..., str]
Commit = Callable[..., CommitId]


def test_a_new_repository_is_as_git_would_have_it(repo: Repo, git: Git) -> None:
    assert repo.head() == Head("main", None)
    assert git(repo, "status", "--porcelain=v2", "--branch") == "# branch.oid (initial)\n# branch.head main\n"
    settings = git(repo, "config", "--local", "--list").splitlines()
    assert {"core.autocrlf=false", "gc.auto=0", "gc.reflogexpire=never", "core.bare=false"} <= set(settings)
    assert not [name for name in os.listdir(Path(repo.git_dir, "hooks")) if "sample" not in name]


def test_init_keeps_what_is_in_the_folder_and_refuses_a_second_repository(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"mine")
    init_repo(str(tmp_path), "main")
    assert (tmp_path / "note.md").read_bytes() == b"mine"
    with pytest.raises(StateError) as caught:
        init_repo(str(tmp_path), "main")
    assert caught.value.code == "repository-exists"


@pytest.mark.parametrize("branch", ["", "HEAD", "-x", "a..b", "a b", "x.lock", "/x", "x/"])
def test_init_refuses_a_branch_name_that_git_would_refuse(tmp_path: Path, branch: str) -> None:
    with pytest.raises(InputError) as caught:
        init_repo(str(tmp_path / "new"), branch)
    assert caught.value.code == "bad-branch"
    assert not (tmp_path / "new").exists()


def test_a_parent_repository_is_never_opened(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    inner = tmp_path / "vault"
    inner.mkdir()
    with pytest.raises(StateError) as caught:
        open_repo(str(inner))
    assert caught.value.code == "no-repository"


def test_what_can_not_be_opened_is_named(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    git(tmp_path, "init", "-q", "barish")
    git(tmp_path / "barish", "config", "core.bare", "true")
    git(tmp_path, "init", "-q", "--object-format=sha256", "sha256")
    git(tmp_path, "init", "-q", "newer")
    git(tmp_path / "newer", "config", "core.repositoryformatversion", "1")
    git(tmp_path / "newer", "config", "extensions.partialClone", "origin")
    (tmp_path / "pointer").mkdir()
    (tmp_path / "pointer" / ".git").write_text("gitdir: ../nowhere\n")
    codes = {}
    for name in ("bare.git", "barish", "sha256", "newer", "pointer", "missing"):
        with pytest.raises(GitmemError) as caught:
            _ = open_repo(str(tmp_path / name)).handle
        codes[name] = (type(caught.value).__name__, caught.value.code)
    with pytest.raises(InputError) as caught_input:
        open_repo("vault")
    assert caught_input.value.code == "relative-path"
    assert codes == {
        "bare.git": ("StateError", "bare-repository"),
        "barish": ("StateError", "bare-repository"),
        "sha256": ("StateError", "sha256-repository"),
        "newer": ("StateError", "repository-unsupported"),
        "pointer": ("StateError", "no-repository"),
        "missing": ("UnavailableError", "vault-missing"),
    }


def test_a_linked_work_tree_has_its_own_head_and_index(vault: Repo, tmp_path: Path, git: Git, commit: Commit) -> None:
    git(vault, "branch", "side")
    git(vault, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    git(tmp_path / "linked", "switch", "-q", "--orphan", "new")
    git(vault, "worktree", "add", "-q", str(tmp_path / "second"), "side")
    linked = open_repo(str(tmp_path / "second"))
    assert linked.head() == Head("side", tip_of(vault))
    assert linked.common_dir == vault.git_dir
    assert linked.index_path == os.path.join(vault.git_dir, "worktrees", "second", "index")
    assert linked.read_blob(tip_of(linked), "baseline/one.md") == b"one\n"
    assert open_repo(str(tmp_path / "linked")).head() == Head("new", None)


def test_a_separate_git_directory_works(tmp_path: Path, git: Git, commit: Commit) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--separate-git-dir", str(tmp_path / "elsewhere"), "vault")
    repo = open_repo(str(tmp_path / "vault"))
    made = commit(repo, {"a.md": b"a"})
    assert git(repo, "rev-parse", "HEAD").strip() == made
    assert git(repo, "status", "--porcelain") == ""
    git(repo, "config", "core.worktree", str(tmp_path / "vault"))
    assert open_repo(str(tmp_path / "vault")).read_blob(made, "a.md") == b"a"


def test_a_linked_work_tree_of_a_bare_repository_works(vault: Repo, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "clone", "-q", "--bare", vault.root, "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert open_repo(str(tmp_path / "tree")).handle.workdir == str(tmp_path / "tree") + "/"


def test_head_follows_git_through_detaching_packing_and_links(vault: Repo, git: Git) -> None:
    first = tip_of(vault)
    git(vault, "pack-refs", "--all")
    assert vault.head() == Head("main", first)
    git(vault, "switch", "-q", "--detach")
    assert vault.head() == Head(None, first)
    git(vault, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(vault, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert vault.head() == Head("alias", first)


@pytest.mark.parametrize("damage", [b"", b"\0" * 41, b"12345\n", b"ref: ../../secret\n", b"ref: refs/heads/main\n"])
def test_a_damaged_branch_is_an_error_and_never_an_unborn_one(vault: Repo, damage: bytes) -> None:
    Path(vault.git_dir, "refs/heads/main").write_bytes(damage)
    with pytest.raises(IntegrityError) as caught:
        vault.head()
    assert caught.value.code == "ref-unreadable"


def _diverge(vault: Repo, git: Git) -> None:
    git(vault, "switch", "-qc", "other")
    Path(vault.root, "baseline/one.md").write_bytes(b"theirs\n")
    git(vault, "commit", "-qam", "theirs")
    git(vault, "switch", "-q", "main")
    Path(vault.root, "baseline/one.md").write_bytes(b"ours\n")
    git(vault, "commit", "-qam", "ours")


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("merge", ("merge", "-q", "other")),
        ("rebase", ("rebase", "-q", "other")),
        ("cherry-pick", ("cherry-pick", "other")),
        ("revert", ("revert", "--no-edit", "other")),
    ],
)
def test_an_operation_under_way_is_seen(vault: Repo, git: Git, operation: str, arguments: tuple[str, ...]) -> None:
    _diverge(vault, git)
    assert vault.state_in_progress() is None
    git(vault, *arguments, fails=True)
    assert vault.state_in_progress() == operation
    assert vault.unmerged_paths() == ["baseline/one.md"]
    git(vault, operation, "--abort")
    assert (vault.state_in_progress(), vault.unmerged_paths()) == (None, [])


def test_bisect_am_and_a_sequence_between_two_picks_are_seen(vault: Repo, git: Git, tmp_path: Path) -> None:
    git(vault, "bisect", "start")
    assert vault.state_in_progress() == "bisect"
    git(vault, "bisect", "reset")
    (tmp_path / "broken.mbox").write_text(
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\n"
        "Date: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: x\n\n---\n x | 1 +\n\ndiff --git a/x b/x\n"
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    )
    git(vault, "am", "-q", str(tmp_path / "broken.mbox"), fails=True)
    assert vault.state_in_progress() == "am"
    git(vault, "am", "--abort")
    for verb, operation in (("pick", "cherry-pick"), ("revert", "revert")):
        Path(vault.git_dir, "sequencer").mkdir(exist_ok=True)
        Path(vault.git_dir, "sequencer/todo").write_text(f"{verb} {tip_of(vault)} more to do\n")
        assert f"{operation} currently in progress" in git(vault, "status").lower()
        assert vault.state_in_progress() == operation


def test_files_of_a_commit_are_told_from_folders_links_and_nothing(vault: Repo, git: Git) -> None:
    os.symlink("one.md", os.path.join(vault.root, "baseline/link.md"))
    Path(vault.root, "run.sh").write_bytes(b"#!")
    os.chmod(os.path.join(vault.root, "run.sh"), 0o755)
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "more")
    tip = tip_of(vault)
    modes = {
        "baseline/one.md": 0o100644,
        "baseline": 0o40000,
        "baseline/link.md": 0o120000,
        "run.sh": 0o100755,
        "none": None,
        "baseline/one.md/x": None,
        "promoted//two.md": None,
    }
    found = vault.blob_ids(tip, modes)
    assert {path: entry and entry[1] for path, entry in found.items()} == modes
    assert found["baseline/one.md"] == (fingerprint(b"one\n"), 0o100644)
    assert [vault.read_blob(tip, path) for path in modes] == [b"one\n", None, None, b"#!", None, None, None]
    assert vault.blob_ids(None, ["a"]) == {"a": None}
    assert vault.find_blobs(tip, modes) == {
        "baseline/one.md": fingerprint(b"one\n"),
        "baseline": NOT_A_FILE,
        "baseline/link.md": NOT_A_FILE,
        "run.sh": fingerprint(b"#!"),
        "none": None,
        "baseline/one.md/x": None,
        "promoted//two.md": None,
    }
    assert vault.find_blobs(None, iter(["a"])) == {"a": None}
    Path(vault.index_path).unlink()
    paths = ["baseline/one.md", "baseline/link.md", "none"]
    assert staged_ids(vault, paths) == vault.find_blobs(tip, paths)


def test_files_of_a_commit_come_in_gits_order(vault: Repo, git: Git) -> None:
    tip = tip_of(vault)
    listed = [path for path, _blob in vault.iter_files(tip)]
    assert listed == git(vault, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert list(vault.iter_files(tip, "promoted")) == [
        ("promoted/deep/three.md", fingerprint(b"three\n")),
        ("promoted/two.md", fingerprint(b"two\n")),
    ]
    assert list(vault.iter_files(tip, "promoted/two.md")) == list(vault.iter_files(tip, "nothing")) == []


def test_names_that_are_not_utf8_pass_through(vault: Repo, git: Git) -> None:
    name = b"caf\xe9.md"
    Path(os.fsdecode(os.path.join(os.fsencode(vault.root), name))).write_bytes(b"x")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "odd name")
    path = name.decode("utf-8", "surrogateescape")
    assert (path, fingerprint(b"x")) in list(vault.iter_files(tip_of(vault)))
    assert vault.read_blob(tip_of(vault), path) == b"x"


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"garbage", b"cut"])
@pytest.mark.parametrize("spec", ["HEAD", "HEAD^{tree}", "HEAD:promoted", "HEAD:promoted/two.md"])
def test_a_damaged_object_is_an_error_wherever_it_lies(vault: Repo, git: Git, spec: str, damage: bytes) -> None:
    tip = tip_of(vault)
    object_id = git(vault, "rev-parse", spec).strip()
    path = Path(vault.common_dir, "objects", object_id[:2], object_id[2:])
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:10] if damage == b"cut" else damage)
    with pytest.raises(IntegrityError) as caught:
        open_repo(vault.root).read_blob(tip, "promoted/two.md")
    assert caught.value.code == "object-unreadable"


@pytest.mark.parametrize("spec", ["HEAD", "HEAD^{tree}", "HEAD:promoted", "HEAD:promoted/two.md"])
def test_a_missing_object_is_never_taken_for_an_absent_file(vault: Repo, git: Git, spec: str) -> None:
    tip = tip_of(vault)
    object_id = git(vault, "rev-parse", spec).strip()
    Path(vault.common_dir, "objects", object_id[:2], object_id[2:]).unlink()
    repo = open_repo(vault.root)
    with pytest.raises(IntegrityError) as caught:
        repo.read_blob(tip, "promoted/two.md")
    assert caught.value.code == "object-unreadable"
    assert tip_of(repo) == tip


def test_bytes_that_belong_to_another_object_are_refused(vault: Repo, git: Git) -> None:
    one, two = (git(vault, "rev-parse", f"HEAD:{path}").strip() for path in ("baseline/one.md", "promoted/two.md"))
    source, target = (Path(vault.common_dir, "objects", name[:2], name[2:]) for name in (one, two))
    target.chmod(0o644)
    target.write_bytes(source.read_bytes())
    with pytest.raises(IntegrityError):
        open_repo(vault.root).read_object(two)


@pytest.mark.parametrize("name", ["0" * 40, "zz", ""])
def test_asking_for_what_is_no_object_is_an_integrity_error(vault: Repo, name: str) -> None:
    with pytest.raises(IntegrityError):
        vault.read_object(name)
    with pytest.raises(IntegrityError):
        vault.read_blob(CommitId(name), "x")


def test_dirty_paths_are_what_git_status_says(vault: Repo, git: Git) -> None:
    assert vault.dirty_paths() == []
    Path(vault.root, "promoted/two.md").write_bytes(b"edited\n")
    Path(vault.root, "new folder").mkdir()
    Path(vault.root, "new folder/new.md").write_bytes(b"new")
    Path(vault.root, "baseline/one.md").unlink()
    git(vault, "rm", "-q", "--cached", "manifest.json")
    assert vault.dirty_paths() == ["baseline/one.md", "manifest.json", "new folder/new.md", "promoted/two.md"]


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_dirty_paths_are_known_without_a_staging_area(vault: Repo, git: Git, damage: bytes | None) -> None:
    index = Path(vault.index_path)
    index.unlink()
    if damage is not None:
        index.write_bytes(damage)
    root = Path(vault.root)
    assert open_repo(vault.root).dirty_paths() == []
    tracked = sorted(path for path, _blob in vault.iter_files(tip_of(vault)))
    (root / tracked[0]).unlink()
    (root / tracked[1]).write_bytes(b"edited")
    (root / "new.txt").write_bytes(b"new")
    (root / ".gitignore").write_text("*.log\n.gitignore\n")
    (root / "out.log").write_bytes(b"ignored")
    assert open_repo(vault.root).dirty_paths() == sorted([*tracked[:2], "new.txt"])


def test_asking_for_dirty_paths_ends_when_a_folder_of_head_is_torn(vault: Repo, git: Git) -> None:
    folder = git(vault, "rev-parse", "HEAD:promoted").strip()
    path = Path(vault.common_dir, "objects", folder[:2], folder[2:])
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(IntegrityError):
        open_repo(vault.root).dirty_paths()


def test_a_closed_repository_opens_again(vault: Repo) -> None:
    tip = tip_of(vault)
    vault.close()
    vault.close()
    assert vault.read_blob(tip, "baseline/one.md") == b"one\n"
    assert open_repo(vault.root).read_blob(tip, "baseline/one.md") == b"one\n"


def test_nobodys_configuration_acts_on_a_vault(vault: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n name = Global\n[core]\n worktree = /\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    repo = open_repo(vault.root)
    assert "user.name" not in repo.handle.config
    assert repo.handle.workdir == vault.root + "/"


def test_a_persons_identity_comes_from_the_files_that_are_named(tmp_path: Path) -> None:
    first, second, broken = tmp_path / "system", tmp_path / "person", tmp_path / "broken"
    first.write_text("[user]\n name = System\n email = s@example.org\n")
    second.write_text('[user]\n\tname = "Zoë  Person"\n[include]\n path = more\n')
    (tmp_path / "more").write_text("[user]\n email = zoe@example.org\n")
    broken.write_text("[user\nname")
    files = [str(first), str(second), str(broken), str(tmp_path / "missing"), str(tmp_path)]
    assert read_user_identity(files) == ("Zoë  Person", "zoe@example.org")
    assert read_user_identity([str(broken)]) is None
    assert read_user_identity([]) is None
