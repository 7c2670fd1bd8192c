"""The tour plays the whole story, touches nothing but its folder, and leaves a clean vault."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem import resources
from gitmem.hosts.cli.commands import tour
from gitmem.service.tour import load_story

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

STEPS = [
    "init",
    "import",
    "declare",
    "observe",
    "curate",
    "propose",
    "accept",
    "promote",
    "retire",
    "edit",
    "search",
    "search",
    "search",
    "adopt",
    "context",
    "log",
]


def git(repo: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", str(repo), *args], check=True, capture_output=True, text=True).stdout.strip()


def test_the_tour_is_one_document_of_steps_and_commits(bare: Gitmem, tmp_path: Path) -> None:
    said = bare("tour", str(tmp_path / "tour"), "--json")
    assert (said.code, said.err) == (0, "")
    told = said.document
    repo = Path(told["vault"])
    steps = told["results"]
    assert [step["step"] for step in steps] == STEPS
    commits = [commit for step in steps for commit in step["commits"]]
    assert commits == git(repo, "log", "--reverse", "--format=%H").splitlines()
    assert told["revision"] == commits[-1]
    assert git(repo, "log", "--reverse", "--format=%s").splitlines()[0] == "init: workspace vault heron"
    assert git(repo, "status", "--porcelain") == ""
    found = [step["answers"][0]["results"][0] for step in steps if step["step"] == "search"]
    wanted = load_story()["search"]
    assert [Path(row["path"]).name for row in found] == [asked["finds"] for asked in wanted]
    assert [row["uncommitted"] for row in found] == [False, True, False]
    notes = list((resources.folder("templates") / "sample").glob("*.md"))
    assert len(git(repo, "ls-files", "*.md").splitlines()) == len(notes) + 8 + 2 + 1
    assert not Path(bare.environment.home).exists()
    assert sorted(path.name for path in (tmp_path / "tour").iterdir()) == ["home", "vault"]


def test_every_step_is_told_and_all_but_the_edit_leave_the_vault_clean(tmp_path: Path) -> None:
    place = tmp_path / "tour"
    repo = place / "vault"
    dirty, lines = [], []
    for step in tour.play(str(place), str(repo)):
        dirty.append((step.name, git(repo, "status", "--porcelain")))
        lines += click.unstyle(tour.format_step(step)).splitlines()
    edited = "M observations/a-hold-lasts-fifteen-minutes.md"
    assert dirty == [(name, edited if name in ("edit", "search") else "") for name in STEPS]
    assert lines[0].startswith("init: The memory of a small team")
    assert lines[1] == f"  $ gitmem init {place}/vault --name heron"
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == STEPS


def test_the_tour_ends_with_what_to_look_at() -> None:
    assert tour.format_farewell("/t", "/t/vault").splitlines() == [
        "Everything lies in /t. To look at it:",
        "  git -C /t/vault log --stat",
        "  gitmem --vault /t/vault list",
        "  open /t/vault as a vault in Obsidian, and there INDEX.md",
        "Remove the folder when you are done.",
    ]


def test_a_folder_with_something_in_it_is_left_alone(bare: Gitmem, tmp_path: Path) -> None:
    said = bare("tour", str(tmp_path), "--json")
    assert (said.code, said.document["error"]["code"]) == (4, "folder-not-empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]
