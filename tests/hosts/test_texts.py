"""The texts that hosts are given: the skill keeps its bounds, and what it tells agents to do works."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from gitmem import resources
from gitmem.hosts.mcp.tool_table import TOOLS
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.vault.frontmatter import parse_note
from gitmem.wiring import open_memory

if TYPE_CHECKING:
    from driving import Gitmem
pytest_plugins = "hosts.driving"

MAX_SKILL_CHARS = 2800
MAX_DESCRIPTION_CHARS = 1024
SKILL = resources.read_text("templates", "hosts/skill.md")
_COMMAND = re.compile(r"`(gitmem [a-z][^`]*)`|^(gitmem .+)$", re.MULTILINE)
COMMANDS = ["".join(found) for found in _COMMAND.findall(SKILL)]
PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")
AT_A_TERMINAL = ("gitmem review",)


def test_the_skill_keeps_to_what_every_host_reads() -> None:
    note = parse_note(SKILL.encode())

    assert len(SKILL) <= MAX_SKILL_CHARS
    assert note.problem is None
    assert list(note.properties) == ["name", "description"]
    assert note.properties["name"] == "gitmem"
    assert len(note.properties["description"]) <= MAX_DESCRIPTION_CHARS


def test_the_tools_that_the_skill_names_are_those_of_the_server() -> None:
    named = set(re.findall(r"`(memory_\w+)`", SKILL))

    assert {tool.name for tool in TOOLS} - named == {"memory_status"}
    assert named <= {tool.name for tool in TOOLS}


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in AT_A_TERMINAL])
def test_a_command_that_the_skill_names_does_what_it_says(command: str, gitmem: Gitmem) -> None:
    record = gitmem.observe("Run the API tests with two workers", "--tag", "tool/pytest", "--body", "Else they hang.")
    with open_memory(gitmem.environment.home, gitmem.environment.folder) as memory:
        memory.declare(Draft("Ask before you touch the database", kind=Kind.BOUNDARY), PERSON)
    _program, *words = shlex.split(command)

    result = gitmem(*(record if word == "ID" else word for word in words))

    assert (result.code, result.err) == (0, ""), result


def test_the_skill_names_the_commands_that_an_agent_needs() -> None:
    verbs = {shlex.split(command)[1] for command in COMMANDS}

    assert verbs == {
        "search",
        "show",
        "recall",
        "context",
        "tags",
        "timeline",
        "observe",
        "propose",
        "report",
        "review",
    }
