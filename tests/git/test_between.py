"""Which commits were made in a project between two moments: bounded, read only, and said where it can't be told."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.git.between import MAX_MADE, list_made
from gitmem.model.session import Made

from conftest import git

T = 1_800_000_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "old", T - 5000)
    return folder


def commit(folder: Path, name: str, time: int) -> str:
    (folder / name).write_text(name)
    git(folder, "add", "-A")
    at(folder, time, "commit", "-qm", name)
    return head(folder)


def at(folder: Path, time: int, *args: str) -> str:
    """Run Git as it would run at ``time``."""
    who = {"NAME": "Pat", "EMAIL": "pat@example.com", "DATE": f"{time} +0000"}
    env = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in who.items()}
    env |= {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder)}
    done = subprocess.run(["git", *args], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def test_what_was_made_is_listed_oldest_first(project: Path) -> None:
    first = head(project)
    made = [commit(project, f"c{number}", T + number) for number in range(3)]
    before = sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*"))
    assert list_made(str(project), first, made[-1], T) == Made(tuple(made))
    assert list_made(str(project), made[0], made[-1], T) == Made(tuple(made[1:]))
    assert list_made(str(project), first, first, T) == Made()
    assert list_made(str(project), first, "", T) == Made()
    assert sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*")) == before


def test_what_was_fetched_and_is_older_does_not_count(project: Path) -> None:
    first = head(project)
    git(project, "checkout", "-q", "-b", "theirs")
    old = [commit(project, f"old{number}", T - 4000 + number) for number in range(3)]
    git(project, "checkout", "-q", "main")
    mine = commit(project, "mine", T + 5)
    merge = at(project, T + 9, "commit-tree", f"{mine}^{{tree}}", "-p", mine, "-p", old[-1], "-m", "merge")
    git(project, "reset", "-q", "--hard", merge)
    assert list_made(str(project), first, merge, T) == Made((mine, merge))


def test_another_branch_is_told_without_a_walk_through_all(project: Path) -> None:
    git(project, "checkout", "-q", "--orphan", "other")
    other = commit(project, "other", T + 3)
    git(project, "checkout", "-q", "-f", "main")
    assert list_made(str(project), other, head(project), T) == Made()


def test_many_are_cut_and_said_to_be_more(project: Path) -> None:
    first, lines = head(project), []
    for number in range(MAX_MADE + 20):
        data = f"commit refs/heads/main\ncommitter Pat <pat@example.com> {T + number} +0000\ndata 1\nx"
        lines.append(data + (f"\nfrom {first}\n" if number == 0 else "\n"))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=project, input="".join(lines), text=True, check=True)
    found = list_made(str(project), first, head(project), T)
    assert len(found.ids) == MAX_MADE
    assert found.has_more
    assert found.ids[-1] == head(project)


def test_what_can_not_be_told_is_said(project: Path, tmp_path: Path) -> None:
    first = head(project)
    made = commit(project, "new", T)
    assert list_made(str(tmp_path), first, made, T) == Made(unknown="its repository is not there")
    assert list_made(str(project), first, "0" * 40, T).unknown
    shutil.rmtree(project / ".git" / "objects" / made[:2])
    assert list_made(str(project), first, made, T).unknown
    os.mkfifo(project / ".git" / "pipe")
    (project / ".git" / "config").write_text("[include]\n\tpath = /tmp/x\n[core]\n\tbare = false\n")
    assert "include" in list_made(str(project), first, made, T).unknown
