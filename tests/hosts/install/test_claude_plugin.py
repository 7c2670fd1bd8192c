"""The folder that is a plugin of Claude Code's. Its own validator looks at it in ``tests/hosts/programs``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gitmem import resources
from gitmem.hosts.hooks.run import BUDGET_S
from gitmem.hosts.install.command import find_command
from gitmem.version import VERSION

if TYPE_CHECKING:
    from machine import Machine

pytest_plugins = ("hosts.driving", "hosts.machine")

FILES = {
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    ".mcp.json",
    "hooks/hooks.json",
    "skills/gitmem/SKILL.md",
}


def read_all(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def load(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def version_of(folder: Path) -> str:
    version: str = load(folder, ".claude-plugin/plugin.json")["version"]
    return version


@pytest.fixture
def folder(machine: Machine) -> Path:
    return machine.user / "plug in"


def test_the_folder_holds_hooks_server_and_skill(machine: Machine, folder: Path) -> None:
    said = machine("export", "claude-plugin", "~/plug in".replace("~", str(machine.user)))

    assert said.out == (
        f"{folder}: 5 files written\n"
        f"for good         claude plugin marketplace add '{folder}'\n"
        "                 claude plugin install gitmem@gitmem\n"
        f"for one session  claude --plugin-dir '{folder}'\n"
    )
    assert set(read_all(folder)) == FILES
    assert re.fullmatch(re.escape(VERSION) + r"\+[0-9a-f]{8}", version_of(folder))
    start = find_command(machine.gitmem.environment)
    server = load(folder, ".mcp.json")["mcpServers"]["gitmem"]
    assert [server["command"], *server["args"]] == [*start, "mcp", "--host", "claude-code"]
    groups = load(folder, "hooks/hooks.json")["hooks"]
    handlers = {event: handler for event, [group] in groups.items() for handler in group["hooks"]}
    assert {(one["type"], one["command"], *one["args"]) for one in handlers.values()} == {
        ("command", *start, "hook", "--host", "claude-code")
    }
    assert list(handlers) == [
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd")
    ]
    assert min(one["timeout"] for one in handlers.values()) > BUDGET_S
    assert (folder / "skills/gitmem/SKILL.md").read_text() == resources.read_text("templates", "hosts/skill.md")


def test_again_nothing_is_done_and_an_update_is_taken_in(machine: Machine, folder: Path) -> None:
    machine("export", "claude-plugin", str(folder))
    (folder / "notes.txt").write_text("mine")
    before, version = read_all(folder), version_of(folder)

    again = machine("export", "claude-plugin", str(folder), "--json").document
    updated = machine.with_python("/opt/new/bin/python")("export", "claude-plugin", str(folder), "--json").document

    assert (again["changed"], again["files"], again["commit"], again["notices"]) == (False, [], None, [])
    assert updated["changed"]
    assert [Path(file["path"]).name for file in updated["files"]] == ["plugin.json", "hooks.json", ".mcp.json"]
    after = read_all(folder)
    assert {name for name in before if before[name] != after[name]} == {
        *(".claude-plugin/plugin.json", "hooks/hooks.json", ".mcp.json")
    }
    assert version_of(folder) != version
    assert sys.executable not in "".join(after.values())


def test_a_dry_run_writes_nothing(machine: Machine, folder: Path) -> None:
    said = machine("export", "claude-plugin", str(folder), "--dry-run")

    assert said.out.startswith(f"make {folder}/.claude-plugin/plugin.json\n@@ ")
    assert said.out.endswith(f"\n{folder}: 5 files to write; nothing was written\n")
    assert not folder.exists()


def test_a_folder_that_holds_something_else_stays_as_it_is(machine: Machine, folder: Path) -> None:
    folder.mkdir()
    (folder / "a.txt").write_text("mine")
    other = machine.user / "other"
    (other / ".claude-plugin").mkdir(parents=True)
    for text in ('{"name": "theirs"}', "{", "[]"):
        (other / ".claude-plugin/plugin.json").write_text(text)
        told = machine("export", "claude-plugin", str(other), "--json", code=4).document
        assert told["error"]["code"] == "not-a-plugin-folder"
        assert read_all(other) == {".claude-plugin/plugin.json": text}

    refused = machine("export", "claude-plugin", str(folder), "--json", code=4).document
    no_folder = machine("export", "claude-plugin", str(folder / "a.txt"), "--json", code=4).document

    assert {refused["error"]["code"], no_folder["error"]["code"]} == {"not-a-plugin-folder"}
    assert read_all(folder) == {"a.txt": "mine"}


def test_a_link_out_of_the_folder_is_not_followed(machine: Machine, folder: Path) -> None:
    machine("export", "claude-plugin", str(folder))
    outside = machine.user / "mine.json"
    outside.write_text("{}")
    (folder / ".mcp.json").unlink()
    (folder / ".mcp.json").symlink_to(outside)

    told = machine("export", "claude-plugin", str(folder), "--json", code=4).document

    assert told["error"]["code"] == "link-leads-out"
    assert outside.read_text() == "{}"
