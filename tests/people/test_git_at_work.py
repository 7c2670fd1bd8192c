"""A person's own Git at work in the vault: before, during and after an operation. Nothing is swept in, nothing lost.

INV-PEOPLE-FIRST, INV-ALLOWLIST (docs/invariants.md).
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, StateError, UnavailableError
from gitmem.model.authority import Actor
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory

from conftest import Desk, draft

WAIT_S = 60
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Pat Person",
    "GIT_AUTHOR_EMAIL": "pat@example.com",
    "GIT_COMMITTER_NAME": "Pat Person",
    "GIT_COMMITTER_EMAIL": "pat@example.com",
    "LC_ALL": "C.UTF-8",
}
EDITOR = """#!/bin/sh
echo open > "{folder}/opened"
read word < "{folder}/close"
echo "mine" > "$1"
"""


@dataclass
class OpenGit:
    """A Git command of a person's whose editor stays open until ``close``."""

    process: subprocess.Popen[str]
    folder: Path

    def close(self) -> int:
        """Save and close the editor; return Git's exit code."""
        (self.folder / "close").write_text("close\n")
        return self.process.wait(WAIT_S)


@pytest.fixture
def open_git(desk: Desk, tmp_path: Path) -> Iterator[Callable[..., OpenGit]]:
    folder = tmp_path / "editor"
    folder.mkdir()
    for name in ("opened", "close"):
        os.mkfifo(folder / name)
    editor = folder / "editor"
    editor.write_text(EDITOR.format(folder=folder))
    editor.chmod(0o755)
    running: list[subprocess.Popen[str]] = []

    def start(*args: str) -> OpenGit:
        env = ENVIRONMENT | {"HOME": str(tmp_path), "GIT_EDITOR": str(editor), "GIT_SEQUENCE_EDITOR": str(editor)}
        process = subprocess.Popen(["git", *args], cwd=desk.repo, env=env, stderr=subprocess.PIPE, text=True)
        running.append(process)
        assert (folder / "opened").read_text() == "open\n"  # waits until the editor is there
        return OpenGit(process, folder)

    yield start
    for process in running:
        process.kill()
        process.communicate()


def _changed(desk: Desk, commit: str = "HEAD") -> list[str]:
    return desk.git("show", "--format=", "--name-only", commit).split()


def _stage_mine(desk: Desk) -> None:
    (desk.repo / "mine.txt").write_text("mine\n")
    desk.git("add", "mine.txt")


def test_a_plain_commit_with_its_editor_open_gives_way_and_works_again(
    desk: Desk, memory: Memory, person: Actor, open_git: Callable[..., OpenGit]
) -> None:
    _stage_mine(desk)
    editor = open_git("commit")
    one = memory.observe(draft(), person).records[0]  # this commit does not lock the staging area while it waits
    assert editor.close() == 128  # the branch is no longer where the person's commit began
    assert desk.git("status", "--porcelain") == "A  mine.txt\n"
    desk.git("commit", "-qm", "mine")
    assert _changed(desk) == ["mine.txt"]
    assert desk.git("ls-files", "--", one.path).strip() == one.path
    desk.judge()


@pytest.mark.parametrize("way", [("-a",), ("--only", "mine.txt"), ("--include", "mine.txt"), ("--amend", "-a")])
def test_a_commit_that_locks_the_staging_area_is_named_and_then_both_are_there(
    desk: Desk, memory: Memory, person: Actor, open_git: Callable[..., OpenGit], way: tuple[str, ...]
) -> None:
    _stage_mine(desk)
    desk.git("commit", "-qm", "a file of mine")
    (desk.repo / "mine.txt").write_text("more of mine\n")
    editor = open_git("commit", *way)
    with desk.open(index_wait_s=0.05) as hurried, pytest.raises(UnavailableError) as refused:
        hurried.observe(draft(), person)
    assert refused.value.code == "index-locked"
    assert "commit editor" in refused.value.hint
    assert editor.close() == 0
    assert _changed(desk) == ["mine.txt"]
    one = memory.observe(draft(), person).records[0]
    assert desk.git("show", "HEAD:mine.txt") == "more of mine\n"
    assert desk.git("ls-files", "--", one.path).strip() == one.path
    desk.judge()


@pytest.mark.parametrize("way", [("-a",), ("--only", "mine.txt")])
def test_an_operation_waits_for_a_commit_editor_to_close(
    desk: Desk, person: Actor, open_git: Callable[..., OpenGit], way: tuple[str, ...]
) -> None:
    _stage_mine(desk)
    desk.git("commit", "-qm", "a file of mine")
    (desk.repo / "mine.txt").write_text("more of mine\n")
    editor = open_git("commit", *way)
    waiting = threading.Event()

    def observe() -> None:
        with desk.open(index_wait_s=WAIT_S, probe=lambda step: waiting.set()) as memory:
            memory.observe(draft(), person)

    worker = threading.Thread(target=observe)
    worker.start()
    assert waiting.wait(WAIT_S)
    assert editor.close() == 0
    worker.join(WAIT_S)
    assert desk.commits()[:2] == ["observe: Run tests with two workers", "mine"]
    assert _changed(desk, "HEAD~1") == ["mine.txt"]
    desk.judge()


def test_a_commit_that_is_saved_just_before_ours_wins(
    desk: Desk, person: Actor, open_git: Callable[..., OpenGit]
) -> None:
    _stage_mine(desk)
    editor = open_git("commit")
    closed: list[int] = []

    def close(step: str) -> None:
        if step == "commit":
            closed.append(editor.close())

    with desk.open(probe=close) as memory, pytest.raises(StateError) as refused:
        memory.observe(draft(), person)
    assert (refused.value.code, closed) == ("branch-moved", [0])
    assert desk.commits() == ["mine", "init: workspace vault vault"]
    assert _changed(desk) == ["mine.txt"]
    desk.judge()


# Git operations under way


def _branch(desk: Desk, path: str) -> None:
    """Make a branch ``side`` and a commit on ``main`` that both change ``path``, and one file each besides."""
    desk.git("switch", "-q", "-c", "side")
    (desk.repo / path).write_text((desk.repo / path).read_text() + "Theirs.\n")
    (desk.repo / "side.txt").write_text("side\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "side")
    desk.git("switch", "-q", "main")
    (desk.repo / path).write_text((desk.repo / path).read_text() + "Ours.\n")
    (desk.repo / "main.txt").write_text("main\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "main")


UNDER_WAY: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "merge": (("merge", "side"), "a merge is under way", ("merge", "--abort")),
    "rebase": (("rebase", "side"), "a rebase is under way", ("rebase", "--abort")),
    "rebase by patches": (("rebase", "--apply", "side"), "a rebase is under way", ("rebase", "--abort")),
    "cherry-pick": (("cherry-pick", "side"), "a cherry-pick is under way", ("cherry-pick", "--abort")),
    "revert": (("revert", "HEAD~1"), "a revert is under way", ("revert", "--abort")),
    "bisect": (("bisect", "start", "HEAD", "HEAD~2"), "a bisect is under way", ("bisect", "reset")),
    "other branch": (("switch", "-q", "side"), "the vault is on branch side", ("switch", "-q", "main")),
    "detached": (("checkout", "-q", "HEAD~1"), "a detached HEAD", ("switch", "-q", "main")),
}


@pytest.mark.parametrize("what", UNDER_WAY)
def test_what_is_under_way_is_named_and_its_abort_loses_nothing(
    desk: Desk, memory: Memory, person: Actor, what: str
) -> None:
    one = memory.observe(draft(), person).records[0]
    _branch(desk, one.path)
    if what == "revert":  # its commit has been built upon, so that it conflicts
        (desk.repo / one.path).write_text((desk.repo / one.path).read_text().replace("Ours.", "Ours, later."))
        desk.git("commit", "-qam", "later")
        (desk.repo / one.path).write_text((desk.repo / one.path).read_text().replace("later.", "last."))
        desk.git("commit", "-qam", "last")
    begin, said, end = UNDER_WAY[what]
    kept = desk.git("rev-parse", "main").strip()
    desk.git(*begin, check=False)
    seen = (desk.git("status", "--porcelain"), desk.git("ls-files", "-s"), desk.git("rev-parse", "HEAD"))
    for work in (
        lambda: memory.observe(draft("Another"), person),
        lambda: memory.edit(one.id, RecordEdit(summary="New."), person),
        lambda: memory.adopt([one.path], person),
    ):
        with pytest.raises(GitmemError) as refused:
            work()
        assert refused.value.code in (
            "git-operation-in-progress",
            "not-on-managed-branch",
            "nothing-to-adopt",
            "cannot-adopt",
            "no-such-record",
            "merge-conflict",
            "conflict-markers",
        ), refused.value
    with pytest.raises(StateError) as refused_state:
        memory.observe(draft("Another"), person)
    assert said in refused_state.value.message
    assert (desk.git("status", "--porcelain"), desk.git("ls-files", "-s"), desk.git("rev-parse", "HEAD")) == seen
    desk.git(*end)
    assert desk.git("rev-parse", "HEAD").strip() == kept
    memory.observe(draft("Another"), person)
    assert desk.git("show", f"HEAD:{one.path}").endswith(("Ours.\n", "Ours, last.\n"))
    assert memory.check().rows == ()
    desk.judge()


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick"])
def test_a_conflict_that_is_resolved_is_built_upon(desk: Desk, memory: Memory, person: Actor, what: str) -> None:
    one = memory.observe(draft(), person).records[0]
    _branch(desk, one.path)
    desk.git(what, "side", check=False)
    text = "".join(
        line for line in (desk.repo / one.path).read_text().splitlines(keepends=True) if line[0] not in "<=>"
    )
    (desk.repo / one.path).write_text(text)
    desk.git("add", one.path)
    desk.git("-c", "core.editor=true", what, "--continue")
    memory.edit(one.id, RecordEdit(summary="New."), person)
    assert {"Theirs.", "Ours."} <= set(desk.git("show", f"HEAD:{one.path}").splitlines())
    assert desk.git("ls-files", "main.txt", "side.txt").split() == ["main.txt", "side.txt"]
    assert memory.check().rows == ()
    desk.judge()


@pytest.mark.parametrize("same", [True, False], ids=["the same note", "another note"])
def test_what_is_stashed_comes_back(desk: Desk, memory: Memory, person: Actor, same: bool) -> None:
    one = memory.observe(draft(), person).records[0]
    two = memory.observe(draft("Another"), person).records[0]
    (desk.repo / one.path).write_text((desk.repo / one.path).read_text() + "\nA line of mine.\n")
    _stage_mine(desk)
    desk.git("stash", "push", "-q")
    memory.edit((one if same else two).id, RecordEdit(title="A new title"), person)
    desk.git("stash", "pop", "-q", "--index")
    assert (desk.repo / one.path).read_text().endswith("\nA line of mine.\n")
    assert desk.git("status", "--porcelain") == f"A  mine.txt\n M {one.path}\n"
    assert sorted(_changed(desk)) == sorted([(one if same else two).path, "catalog.json"])
    memory.adopt([one.path], person)
    assert desk.git("status", "--porcelain") == "A  mine.txt\n"
    assert desk.git("stash", "list") == ""


# Git commands in the middle of an operation

COMMANDS: dict[str, tuple[str, ...]] = {
    "commit": ("commit", "-qm", "mine"),
    "commit all": ("commit", "-qam", "mine"),
    "commit only": ("commit", "-qm", "mine", "--only", "mine.txt"),
    "add": ("add", "-A"),
    "merge": ("merge", "-q", "--no-edit", "side"),
    "rebase": ("rebase", "-q", "--autostash", "side"),
    "cherry-pick": ("cherry-pick", "side"),
    "stash": ("stash", "push", "-q"),
    "switch": ("switch", "-q", "side"),
    "reset": ("reset", "-q", "--keep", "HEAD~1"),
}
MOMENTS = ("marker", "journal", "stage", "commit", "prove", "index")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_git_command_in_the_middle_is_held_off_and_works_afterwards(desk: Desk, person: Actor, moment: str) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    desk.git("switch", "-q", "-c", "side")
    (desk.repo / "side.txt").write_text("side\n")
    desk.git("add", "side.txt")
    desk.git("commit", "-qm", "side")
    desk.git("switch", "-q", "main")
    desk.git("commit", "-q", "--allow-empty", "-m", "main")
    _stage_mine(desk)
    tried: dict[str, int] = {}

    def meddle(step: str) -> None:
        if step == moment and not tried:
            for name, command in COMMANDS.items():
                env = ENVIRONMENT | {"HOME": str(desk.home)}
                done = subprocess.run(["git", *command], cwd=desk.repo, env=env, capture_output=True, check=False)
                tried[name] = done.returncode

    with desk.open(probe=meddle) as memory:
        memory.edit(one.id, RecordEdit(body="New text."), person)
    assert tried.keys() == COMMANDS.keys()
    assert [name for name, code in tried.items() if code == 0] == []
    assert desk.commits()[:2] == ["edit: Run tests with two workers", "main"]
    assert sorted(_changed(desk)) == ["catalog.json", one.path]
    assert desk.git("status", "--porcelain") == "A  mine.txt\n"
    assert desk.git("stash", "list") == ""
    desk.git("commit", "-qm", "mine")
    assert _changed(desk) == ["mine.txt"]
    desk.git("merge", "-q", "--no-edit", "side")
    desk.judge()


def _make_commit(desk: Desk) -> str:
    """Return a commit on top of HEAD, with a file of the person's, that no branch has."""
    blob = desk.git("hash-object", "-w", "manifest.json").strip()
    tree = desk.git("rev-parse", "HEAD^{tree}").strip()
    (desk.repo / ".git/entries").write_text(desk.git("ls-tree", tree) + f"100644 blob {blob}\tmine.json\n")
    with (desk.repo / ".git/entries").open() as entries:
        made = subprocess.run(
            ["git", "mktree"], cwd=desk.repo, stdin=entries, capture_output=True, text=True, check=True
        )
    return desk.git("commit-tree", made.stdout.strip(), "-p", "HEAD", "-m", "mine").strip()


@pytest.mark.parametrize("moment", ["clean", "journal", "stage", "commit", "prove"])
def test_a_branch_that_is_moved_past_every_lock_is_left_where_it_is(desk: Desk, person: Actor, moment: str) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    mine = _make_commit(desk)
    text = (desk.repo / one.path).read_bytes()

    def move(step: str) -> None:
        if step == moment:
            desk.git("update-ref", "refs/heads/main", mine)

    with desk.open(probe=move) as memory, pytest.raises(GitmemError) as refused:
        memory.promote(one.id, person)
    assert refused.value.code == ("publish-not-proved" if moment == "prove" else "branch-moved")
    assert desk.git("rev-parse", "main").strip() == mine
    assert (desk.repo / one.path).read_bytes() == text
    assert desk.leftovers() == []
    assert desk.git("status", "--porcelain") == "D  mine.json\n"  # what the person's own command leaves
    desk.git("restore", "--staged", "--worktree", "mine.json")
    with desk.open() as memory:
        memory.promote(one.id, person)
        assert memory.check().rows == ()
    assert desk.git("ls-files", "mine.json") == "mine.json\n"
    desk.judge()


@pytest.mark.parametrize("moment", ["clean", "journal", "stage", "commit", "prove"])
def test_another_branch_past_every_lock_is_not_written_to(desk: Desk, person: Actor, moment: str) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    desk.git("branch", "side")
    side = desk.git("rev-parse", "side")

    def leave(step: str) -> None:
        if step == moment:
            desk.git("symbolic-ref", "HEAD", "refs/heads/side")

    with desk.open(probe=leave) as memory, pytest.raises(GitmemError) as refused:
        memory.promote(one.id, person)
    assert refused.value.code == "publish-not-proved"
    with desk.open() as memory, pytest.raises(StateError) as waiting:
        memory.observe(draft("Another"), person)
    assert (waiting.value.code, "switch back" in waiting.value.hint.lower()) == ("not-on-managed-branch", True)
    assert desk.git("rev-parse", "side") == side
    desk.git("symbolic-ref", "HEAD", "refs/heads/main")
    with desk.open() as memory:
        memory.observe(draft("Another"), person)
        assert memory.check().rows == ()
        assert memory.show(one.id).hits[0].record.state == "promoted"
    desk.judge()
