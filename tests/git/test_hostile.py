import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import StateError
from gitmem.git.publish import prove
from gitmem.git.repo import Repo, open_repo
from gitmem.git.trees import tree_of
from gitmem.model.ids import CommitId, fingerprint

from conftest import tip_of

Git = Callable[..., str]
Commit = Callable[..., CommitId]


def _config(text: str) -> Callable[[Path], None]:
    def change(git_dir: Path) -> None:
        with open(git_dir / "config", "a") as file:
            file.write(text)

    return change


def _file(name: str, content: str = "x\n") -> Callable[[Path], None]:
    def change(git_dir: Path) -> None:
        (git_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / name).write_text(content)

    return change


def _moved_and_linked(name: str) -> Callable[[Path], None]:
    def change(git_dir: Path) -> None:
        outside = git_dir.parent.parent / "outside"
        (git_dir / name).rename(outside)
        (git_dir / name).symlink_to(outside)

    return change


def _pipe(name: str) -> Callable[[Path], object]:
    def change(git_dir: Path) -> None:
        (git_dir / name).unlink(missing_ok=True)
        (git_dir / name).parent.mkdir(exist_ok=True)
        os.mkfifo(git_dir / name)

    return change


HOSTILE = {
    "worktree": (_config("[core]\n\tworktree = /\n"), "core.worktree"),
    "worktree on the header's line": (_config("[CORE] WorkTree = ../..\n"), "core.worktree"),
    "worktree of the work tree's own settings": (
        lambda git_dir: (
            _config("[extensions]\n worktreeConfig = true\n")(git_dir),
            _file("config.worktree", "[core]\n worktree = /\n")(git_dir),
        ),
        "core.worktree",
    ),
    "include": (_config("[include]\n\tpath = /dev/zero\n"), "include"),
    "conditional include": (_config('[includeIf "gitdir:/"]\n\tpath = more\n'), "include"),
    "include after a byte order mark": (_file("config", "\ufeff[iNcLuDe] path = more\n"), "include"),
    "endless settings": (_config("# padding\n" * 120_000), "include"),
    "filter": (_config('[filter "x"]\n\tclean = touch canary\n'), "filter.x.clean"),
    "filter process": (_config('[Filter "a.b"] process = touch canary\n'), "filter.a.b.process"),
    "alternates": (_file("objects/info/alternates", "/other/objects\n"), "objects/info/alternates"),
    "grafts": (_file("info/grafts"), "info/grafts"),
    "shallow": (_file("shallow"), "shallow"),
    "replacement": (_file("refs/replace/" + "1" * 40, "2" * 40 + "\n"), "refs/replace"),
    "packed replacement": (_file("packed-refs", "1" * 40 + " refs/replace/" + "2" * 40 + "\n"), "refs/replace"),
    "common directory": (_file("commondir", "../../outside\n"), "commondir"),
    "pipe for a pack index": (_pipe("objects/pack/pack-1.idx"), "objects/pack/pack-1.idx as a link, folder or device"),
    "pipe for a commit graph": (_pipe("objects/info/commit-graph"), "objects/info/commit-graph as a link or device"),
    "linked HEAD": (_moved_and_linked("HEAD"), "HEAD as a link or device"),
    "linked settings": (_moved_and_linked("config"), "config as a link or device"),
    "linked index": (_moved_and_linked("index"), "index as a link or device"),
    "linked objects": (_moved_and_linked("objects"), "objects as a link or device"),
    "linked branches": (_moved_and_linked("refs/heads"), "refs/heads as a link or device"),
    "linked reflog": (_moved_and_linked("logs/HEAD"), "logs/HEAD as a link or device"),
    "a pipe for settings": (_pipe("config"), "config as a link or device"),
    "a pipe for alternates": (_pipe("objects/info/alternates"), "objects/info/alternates"),
    "a pipe for grafts": (_pipe("info/grafts"), "info/grafts"),
    "a pipe for the shallow list": (_pipe("shallow"), "shallow"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_repository_that_redirects_is_refused_by_the_setting(vault: Repo, name: str) -> None:
    change, setting = HOSTILE[name]
    change(Path(vault.git_dir))
    with pytest.raises(StateError) as caught:
        open_repo(vault.root)
    assert (caught.value.code, caught.value.fields) == ("hostile-repository", {"setting": setting})


def test_a_link_for_the_git_folder_is_refused(vault: Repo, tmp_path: Path) -> None:
    Path(vault.git_dir).rename(tmp_path / "elsewhere")
    Path(vault.git_dir).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError) as caught:
        open_repo(vault.root)
    assert caught.value.fields == {"setting": ".git as a symbolic link"}


def test_a_pointer_into_another_repositorys_work_tree_is_refused(vault: Repo, tmp_path: Path, git: Git) -> None:
    git(vault, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief" / ".git").write_text(f"gitdir: {vault.git_dir}/worktrees/linked\n")
    with pytest.raises(StateError) as caught:
        open_repo(str(tmp_path / "thief"))
    assert caught.value.fields == {"setting": "commondir"}


def test_settings_that_libgit2_can_not_read_are_said(vault: Repo) -> None:
    _config("[core\n")(Path(vault.git_dir))
    with pytest.raises(StateError) as caught:
        open_repo(vault.root)
    assert caught.value.code == "repository-unsupported"


def test_branches_kept_in_another_form_are_said(vault: Repo) -> None:
    _config("[extensions]\n refStorage = reftable\n")(Path(vault.git_dir))
    with pytest.raises(StateError) as caught:
        open_repo(vault.root)
    assert caught.value.code == "repository-unsupported"


def test_a_broken_repository_is_a_state_and_not_a_crash(vault: Repo) -> None:
    Path(vault.git_dir, "HEAD").unlink()
    with pytest.raises(StateError) as caught:
        _ = open_repo(vault.root).handle
    assert caught.value.code == "repository-unsupported"


def test_nothing_that_a_repository_names_is_ever_run(vault: Repo, tmp_path: Path, commit: Commit, git: Git) -> None:
    canary = tmp_path / "canary"
    hooks = Path(vault.git_dir, "hooks")
    script = f"#!/bin/sh\ntouch {canary}\n"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "fsmonitor"):
        (hooks / name).write_text(script)
        (hooks / name).chmod(0o755)
    _config(
        f"[core]\n hooksPath = {hooks}\n fsmonitor = {hooks}/fsmonitor\n sshCommand = touch {canary}\n"
        f" editor = touch {canary}\n pager = touch {canary}\n"
        f'[gpg]\n program = touch {canary}\n[commit]\n gpgSign = true\n[diff "x"]\n textconv = touch {canary}\n'
        f'[merge "x"]\n driver = touch {canary}\n[alias]\n status = !touch {canary}\n'
    )(Path(vault.git_dir))
    Path(vault.root, ".gitattributes").write_text("* diff=x merge=x text eol=crlf ident\n")
    repo = open_repo(vault.root)
    assert repo.notices == (
        "alias.status",
        "core.editor",
        "core.fsmonitor",
        "core.hookspath",
        "core.pager",
        "core.sshcommand",
        "diff.x.textconv",
        "gpg.program",
        "merge.x.driver",
    )
    parent = tip_of(repo)
    exact = b"$Id$ line\nends\r\nmixed\n"
    made = commit(repo, {"baseline/new.md": exact})
    assert repo.dirty_paths() == [".gitattributes"]
    assert repo.read_blob(made, "baseline/new.md") == exact
    prove(repo.root, "main", made, parent, tree_of(repo, made), {"baseline/new.md": fingerprint(exact)})
    assert not canary.exists()
    git(repo, "commit", "-qm", "a person's commit", "--allow-empty", "--no-gpg-sign")
    assert canary.exists(), "the canary must be one that Git sets off"
