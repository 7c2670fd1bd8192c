"""gitmem in the hosts' real programs: installed as a person would, one session, curated, taken away again.

Nothing here reaches out: the programs talk to a stand-in for the models on this machine. They are looked for below the
folder that GITMEM_TEST_HOSTS names (`make hosts` puts them there); a program that is not there is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hosts.programs.real import (
    BOUNDARY,
    FILE,
    PLACE,
    PROGRAMS,
    PROMPT,
    RECORD,
    Program,
    Scene,
    names_in,
    texts_of,
)
from hosts.programs.standin import Json, serve_models

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.wiring import open_memory

from conftest import git

PERSON = Actor(Surface.HUMAN, "Sam Person", "sam@example.com")


@dataclass
class Story:
    """What one program did, step by step."""

    program: Program
    scene: Scene
    before: dict[str, bytes] = field(default_factory=dict)
    installed: set[str] = field(default_factory=set)
    asked: list[Json] = field(default_factory=list)
    journal: str = ""
    shown: str | None = None
    asked_by_command: list[Json] = field(default_factory=list)
    curated: str = ""
    episodes: str = ""
    after: dict[str, bytes] = field(default_factory=dict)
    asked_after: list[Json] = field(default_factory=list)
    journal_after: str = ""


def _skip_reason(program: Program) -> str:
    if not PLACE:
        return "GITMEM_TEST_HOSTS names no folder with the hosts' programs; `make hosts` makes one"
    return f"{program.binary} is not in {PLACE}"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            one,
            id=one.host,
            marks=[
                pytest.mark.skipif(not one.is_there(), reason=_skip_reason(one)),
                pytest.mark.xdist_group(one.host),
            ],
        )
        for one in PROGRAMS
    ],
)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    program: Program = request.param
    with serve_models() as models:
        scene = Scene(tmp_path_factory.mktemp(program.host), models)
        _set_up(program, scene)
        told = Story(program, scene, scene.files())
        _live_through(told)
        yield told


def _set_up(program: Program, scene: Scene) -> None:
    scene.home.mkdir()
    (scene.project / "src").mkdir(parents=True)
    git(scene.project, "init", "-q", "-b", "main")
    program.settle(scene)
    scene.gitmem("init", "--workspace")
    scene.gitmem("observe", RECORD, "--body", "It is in the county's own rack.", "--evidence", "run:1")
    with open_memory(str(scene.home / ".local/share/gitmem"), str(scene.project)) as memory:
        memory.declare(Draft(BOUNDARY, kind=Kind.BOUNDARY), PERSON)


def _live_through(story: Story) -> None:
    program, scene, models = story.program, story.scene, story.scene.models
    scene.gitmem("install", program.host, "--yes")
    story.installed = {name for name, data in scene.files().items() if story.before.get(name) != data}

    models.turns += [program.tool, *program.looks]
    program.prompt(scene, PROMPT)
    story.asked = list(models.asked)
    story.journal = scene.gitmem("journal", "list", "--json")

    models.requests.clear()
    story.shown = program.find_shown(program, scene, program.prompt(scene, "gitmem status"))
    story.asked_by_command = list(models.requests)

    story.curated = scene.gitmem("curate", "--all", "--json")
    story.episodes = scene.gitmem("list", "--kind", "episode", "--json")

    scene.gitmem("uninstall", program.host, "--yes")
    models.requests.clear()
    before = scene.gitmem("journal", "list", may_fail=True)
    program.prompt(scene, PROMPT)
    story.asked_after = list(models.requests)
    story.journal_after = scene.gitmem("journal", "list", may_fail=True).removeprefix(before)
    story.after = scene.files()


CLAUDE = PROGRAMS[0]


@pytest.mark.skipif(not CLAUDE.is_there(), reason=_skip_reason(CLAUDE))
@pytest.mark.xdist_group(CLAUDE.host)
def test_claude_code_takes_the_plugin(tmp_path: Path) -> None:
    with serve_models() as models:
        scene = Scene(tmp_path, models)
        _set_up(CLAUDE, scene)
        plugin = str(tmp_path / "a plugin")
        scene.gitmem("export", "claude-plugin", plugin)

        for manifest in ("plugin.json", "marketplace.json"):
            scene.run([CLAUDE.path, "plugin", "validate", "--strict", f"{plugin}/.claude-plugin/{manifest}"])
        scene.run([CLAUDE.path, "plugin", "marketplace", "add", plugin], CLAUDE.variables(scene))
        scene.run([CLAUDE.path, "plugin", "install", "gitmem@gitmem"], CLAUDE.variables(scene))
        models.turns += CLAUDE.looks
        CLAUDE.prompt(scene, PROMPT)
        installed = list(models.asked)
        scene.run([CLAUDE.path, "plugin", "uninstall", "gitmem@gitmem"], CLAUDE.variables(scene))
        models.requests.clear()
        CLAUDE.prompt(scene, PROMPT)

    told = [[texts_of(body).count(text) for text in (BOUNDARY, RECORD)] for body in installed]
    assert told == [[1, 1]] * len(installed)
    assert "mcp__plugin_gitmem_gitmem__memory_search" in names_in(installed[-1])
    assert {texts_of(body).count(text) for body in models.asked for text in (BOUNDARY, RECORD)} == {0}


def test_the_context_and_the_recall_reach_the_model_once(story: Story) -> None:
    first = texts_of(story.asked[0])

    assert [first.count(text) for text in ("```gitmem-context", BOUNDARY, "```gitmem-recall", RECORD)] == [1] * 4
    assert PROMPT in first


def test_nothing_is_told_again_in_the_turns_that_follow(story: Story) -> None:
    assert len(story.asked) > 1
    assert {texts_of(body).count(text) for body in story.asked for text in (BOUNDARY, RECORD)} == {1}


def test_a_typed_command_does_not_reach_the_model(story: Story) -> None:
    assert [body for body in story.asked_by_command if "gitmem status" in texts_of(body)] == []


def test_the_answer_to_a_typed_command_is_shown(story: Story) -> None:
    if story.shown is None:
        pytest.skip(f"{story.program.binary} shows such answers on its own screen alone")
    assert "1 baseline, 1 observation" in story.shown


def test_the_tool_that_the_model_called_is_captured(story: Story) -> None:
    assert (story.scene.project / FILE).exists()
    sessions = json.loads(story.journal)["results"]

    assert [(one["host"], one["events"] >= 3) for one in sessions] == [(story.program.host, True)]


def test_the_session_becomes_an_episode(story: Story) -> None:
    assert json.loads(story.curated)["ok"]
    assert len(json.loads(story.episodes)["results"]) >= 1


def test_the_server_is_offered_to_the_model(story: Story) -> None:
    names = {name.rpartition("gitmem_")[2] for body in story.asked for name in names_in(body)}

    assert {"memory_search", "memory_get", "memory_observe", "memory_propose"} <= {name.strip("_") for name in names}


def test_after_it_was_taken_away_nothing_of_gitmem_is_left(story: Story) -> None:
    said = "".join(map(texts_of, story.asked_after))

    assert story.asked_after
    assert RECORD not in said
    assert BOUNDARY not in said
    assert story.journal_after == ""
    assert story.installed
    assert {name for name in story.installed if b"gitmem" in story.after.get(name, b"")} == set()
    assert {name for name in story.installed if "gitmem" in name and name in story.after} == set()


def test_what_the_person_had_set_up_is_as_it_was(story: Story) -> None:
    changed = {name for name, data in story.before.items() if story.after.get(name) != data}

    assert changed == set()
