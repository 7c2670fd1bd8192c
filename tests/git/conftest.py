"""Real repositories, Git's own command line as an independent judge, and one commit made by the whole chain."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gitmem.git.publish import move_branch, write_commit
from gitmem.git.repo import Repo, init_repo, open_repo
from gitmem.git.stage import install_index, lock_index, prepare_index
from gitmem.git.trees import build_tree, write_blobs
from gitmem.model.ids import CommitId

TIME = 1_790_000_000
Git = Callable[..., str]
Commit = Callable[..., CommitId]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run Git in a folder without anybody's configuration; returns standard output, raises when it fails."""
    settings = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_EDITOR": "true",
        "LC_ALL": "C.UTF-8",
    }
    for role in ("AUTHOR", "COMMITTER"):
        settings[f"GIT_{role}_NAME"] = "Ann Person"
        settings[f"GIT_{role}_EMAIL"] = "ann@example.org"
        settings[f"GIT_{role}_DATE"] = f"{TIME} +0000"

    def run(folder: Repo | Path | str, *arguments: str, text: str | None = None, fails: bool = False) -> str:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", "-c", "protocol.file.allow=always", *arguments],
            cwd=folder.root if isinstance(folder, Repo) else folder,
            env=settings,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr + done.stdout
        return done.stdout

    return run


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository on the unborn branch ``main``."""
    return init_repo(str(tmp_path / "vault"), "main")


@pytest.fixture
def commit() -> Commit:
    """Write files, and commit them through blobs, tree, index, commit and branch, as a transaction does."""
    return _commit


@pytest.fixture(scope="session")
def _first_vault(tmp_path_factory: pytest.TempPathFactory) -> str:
    repo = init_repo(str(tmp_path_factory.mktemp("first") / "vault"), "main")
    _commit(
        repo,
        {
            "manifest.json": b"{}\n",
            "baseline/one.md": b"one\n",
            "promoted/two.md": b"two\n",
            "promoted/deep/three.md": b"three\n",
            "promoted.md": b"beside the folder\n",
        },
    )
    return repo.root


@pytest.fixture
def vault(_first_vault: str, tmp_path: Path, git: Git) -> Repo:
    """A repository with five files in four folders, committed; a copy, so its index is brought up to date by Git."""
    shutil.copytree(_first_vault, tmp_path / "vault")
    git(tmp_path / "vault", "update-index", "-q", "--refresh")
    return open_repo(str(tmp_path / "vault"))


def _commit(repo: Repo, files: Mapping[str, bytes | None], message: str = "observe: Something\n") -> CommitId:
    base = repo.head().commit
    for path, data in files.items():
        full = Path(repo.root, path)
        full.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            full.unlink()
        else:
            full.write_bytes(data)
    ids = dict.fromkeys(files) | write_blobs(repo, {p: d for p, d in files.items() if d is not None})
    with lock_index(repo, "test"):
        tree = build_tree(repo, base, ids)
        private = prepare_index(repo, base, ids, "test")
        new = write_commit(repo, tree, [base] if base else [], ("gitmem", "g@example.org"), (TIME, 120), message)
        move_branch(repo, "main", base, new, "gitmem: test")
        install_index(repo, private)
    return new
