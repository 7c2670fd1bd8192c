"""Installing and uninstalling hosts through the command line: host × scope × what was there before."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from gitmem import launch
from gitmem.hosts.install import installing
from gitmem.hosts.install.hosts import DESCRIBE

LAUNCHER = launch.__file__

if TYPE_CHECKING:
    from driving import Result, Terminal

    from machine import Machine

pytest_plugins = ("hosts.driving", "hosts.machine")

ALL = list(DESCRIBE)
HOSTS = [host for host in ALL if host != "dsh"]
"""Those whose configuration is JSON."""
SCOPES = ["user", "project"]
OLD_PYTHON = "/opt/gone/bin/python"


def iter_entries(value: Any) -> Iterator[dict[str, Any]]:
    """Yield whatever in a configuration names a command."""
    if isinstance(value, dict):
        if "command" in value:
            yield value
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from iter_entries(one)


DSH_EMPTY = "# my own\n# rows\n[]\n"


def make_profile(machine: Machine, text: str, name: str = "tui") -> Path:
    """A profile of DeepSeek Harness with ``text`` as its patch."""
    patch = machine.user / ".dsh/profiles" / name / "cordis.patch.yml"
    patch.parent.mkdir(parents=True)
    patch.write_bytes(text.encode())
    return patch


FOREIGN_JSON = """\
// my own
{
\t"theme": "dark", /* for the eyes */
\t"hooks": {
\t\t"Stop": [
\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}, // mine
\t\t],
\t},
\t"mcpServers": { "other": {"command": "other", "env": {"NAME": "ä"}} },
}
"""
FOREIGN_TOML = """\
# my own
model = "gpt"   # the big one

[mcp_servers.other]
command = "other"

[projects."/home/sam"]
trust_level = "trusted"
"""


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", ALL)
def test_uninstall_leaves_what_was_before(machine: Machine, host: str, scope: str) -> None:
    before = machine.snapshot()
    done = machine("install", host, "--scope", scope, "--yes", "--json").document
    assert (done["op"], done["changed"], done["host"], done["install_scope"]) == ("install", True, host, scope)
    after = machine.snapshot()
    assert {file["path"] for file in done["files"]} == {
        str(machine.user / name) for name in set(after) - set(before) if isinstance(after[name], bytes)
    }
    again = machine("install", host, "--scope", scope, "--yes", "--json").document
    assert (again["changed"], again["files"]) == (False, [])
    assert machine.snapshot() == after
    assert machine("uninstall", host, "--scope", scope, "--yes", "--json").document["changed"] is True
    assert machine.snapshot() == before
    assert not Path(machine.gitmem.environment.home).exists()
    nothing = machine("uninstall", host, "--scope", scope, "--yes").out
    assert nothing.splitlines()[0].endswith(": nothing to do")


@pytest.mark.parametrize("text", [FOREIGN_JSON, FOREIGN_JSON.replace("\n", "\r\n"), "\ufeff" + FOREIGN_JSON, "{}", ""])
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_foreign_entries_and_comments_stay(machine: Machine, host: str, scope: str, text: str) -> None:
    file = machine.file(host, scope)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    file.chmod(0o640)
    before = machine.snapshot()
    machine("install", host, "--scope", scope, "--yes")
    kept = iter(file.read_bytes().decode().splitlines())
    lost = [line for line in text.splitlines() if line not in kept and f"{line}," not in kept]
    assert [line for line in lost if line.strip(" \t\ufeff{}[],")] in (
        [],
        ['\t"mcpServers": { "other": {"command": "other", "env": {"NAME": "ä"}} },'],
    )
    assert file.stat().st_mode & 0o777 == 0o640
    machine("uninstall", host, "--scope", scope, "--yes")
    assert machine.snapshot() == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_what_others_edited_meanwhile_stays_and_only_gitmems_goes(machine: Machine, host: str, scope: str) -> None:
    file = machine.file(host, scope)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(FOREIGN_JSON)
    machine("install", host, "--scope", scope, "--yes")
    file.write_text(file.read_text().replace('"theme": "dark"', '"theme": "light"'))
    machine("uninstall", host, "--scope", scope, "--yes")
    assert file.read_text().replace('"theme": "light"', '"theme": "dark"') == FOREIGN_JSON
    assert "gitmem" not in file.read_text()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", ALL)
def test_another_interpreter_takes_the_place_of_the_old_one(machine: Machine, host: str, scope: str) -> None:
    if (host, scope) == ("dsh", "project"):
        pytest.skip("it has nothing there that starts a program")
    make_profile(machine, DSH_EMPTY)
    before = machine.snapshot()
    machine.with_python(OLD_PYTHON)("install", host, "--scope", scope, "--yes")
    rows = {(row["host"], row["install_scope"]): row for row in machine("install", "--json").document["results"]}
    assert rows[host, scope]["interpreters_gone"] == [OLD_PYTHON]
    machine("install", host, "--scope", scope, "--yes")
    assert not any(OLD_PYTHON.encode() in data for data in machine.snapshot().values() if isinstance(data, bytes))
    rows = {(row["host"], row["install_scope"]): row for row in machine("install", "--json").document["results"]}
    assert (rows[host, scope]["installed"], rows[host, scope]["current"]) == (True, True)
    assert rows[host, scope]["interpreters_gone"] == []
    machine("uninstall", host, "--scope", scope, "--yes")
    assert machine.snapshot() == before


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": ',
        '{"hooks": [], "mcpServers": 1, "mcp": 2}',
        '{"hooks": {}, "hooks": {}, "mcp": 1, "mcp": 2}',
        "[]",
        "\x00",
        "{'a': 1}",
    ],
)
def test_what_cant_be_understood_is_refused_and_nothing_is_touched(machine: Machine, host: str, text: str) -> None:
    file = machine.file(host, "user")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    before = machine.snapshot()
    for verb in ("install", "uninstall"):
        if verb == "uninstall" and text.startswith(('{"hooks": []', "[]")):
            continue
        error = machine(verb, host, "--yes", "--json", code=4).document["error"]
        assert (error["code"], error["path"]) == ("config-broken", str(file))
    assert machine.snapshot() == before


def test_a_file_that_is_no_utf8_is_refused(machine: Machine) -> None:
    file = machine.file("claude-code", "user")
    file.parent.mkdir()
    file.write_bytes(b'{"a": "\xff"}')
    assert machine("install", "claude-code", "--yes", "--json", code=4).document["error"]["code"] == "config-broken"


@pytest.mark.parametrize("host", HOSTS)
def test_a_read_only_file_is_its_persons_word(machine: Machine, host: str) -> None:
    file = machine.file(host, "user")
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    file.chmod(0o444)
    before = machine.snapshot()
    assert machine("install", host, "--yes", "--json", code=4).document["error"]["code"] == "not-writable"
    assert machine.snapshot() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_link_to_ones_own_file_elsewhere_is_followed_and_stays(machine: Machine, host: str) -> None:
    file, kept = machine.file(host, "user"), machine.user / "dotfiles/config"
    kept.parent.mkdir()
    kept.write_text(FOREIGN_JSON)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(kept)
    before = machine.snapshot()
    done = machine("install", host, "--yes", "--json").document
    assert f"{file} is a link, or lies behind one; what changes is {kept}" in done["notices"]
    assert file.is_symlink()
    assert "gitmem" in kept.read_text()
    machine("uninstall", host, "--yes")
    assert machine.snapshot() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_projects_link_out_of_it_is_not_followed(machine: Machine, host: str) -> None:
    file, outside = machine.file(host, "project"), machine.user / "outside.json"
    outside.write_text("{}\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(outside)
    before = machine.snapshot()
    error = machine("install", host, "--scope", "project", "--yes", "--json", code=4).document["error"]
    assert error["code"] == "link-leads-out"
    assert machine.snapshot() == before


def test_a_link_that_leads_nowhere_is_refused(machine: Machine) -> None:
    file = machine.file("claude-code", "user")
    file.parent.mkdir()
    file.symlink_to(machine.user / "nowhere.json")
    error = machine("install", "claude-code", "--yes", "--json", code=4).document["error"]
    assert error["code"] == "link-leads-nowhere"


def test_an_edited_skill_is_kept_and_said(machine: Machine) -> None:
    skill = machine.user / ".claude/skills/gitmem/SKILL.md"
    machine("install", "claude-code", "--yes")
    skill.write_text(skill.read_text() + "\nMy own words.\n")
    for verb in ("install", "uninstall"):
        done = machine(verb, "claude-code", "--yes", "--json").document
        assert f"{skill} is not as gitmem wrote it; it was left as it is" in done["notices"]
    assert skill.read_text().endswith("My own words.\n")


def test_without_what_is_remembered_gitmems_own_still_goes(machine: Machine) -> None:
    file = machine.file("gemini", "user")
    file.parent.mkdir()
    file.write_text(FOREIGN_JSON)
    before = machine.snapshot()
    machine("install", "gemini", "--yes")
    (Path(machine.gitmem.environment.home) / "installed.json").unlink()
    machine("uninstall", "gemini", "--yes")
    after = machine.snapshot()
    assert after[".gemini/settings.json"] == before[".gemini/settings.json"]
    assert ".agents/skills/gitmem" not in after


def test_another_server_of_that_name_is_left_and_said(machine: Machine) -> None:
    file = machine.user / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"gitmem": {"command": "another"}}}\n')
    done = machine("install", "cursor", "--yes", "--json").document
    assert f"{file} has another MCP server called gitmem; it was left, and gitmem's was not added" in done["notices"]
    assert json.loads(file.read_text()) == {"mcpServers": {"gitmem": {"command": "another"}}}


def test_a_hook_that_was_written_by_hand_is_taken_over_not_doubled(machine: Machine) -> None:
    file = machine.file("claude-code", "user")
    file.parent.mkdir()
    group = {
        "matcher": "*",
        "hooks": [{"type": "command", "command": "gitmem hook"}, {"type": "command", "command": "x"}],
    }
    file.write_text(json.dumps({"hooks": {"SessionStart": [group]}, "SessionStart": 1}))
    machine("install", "claude-code", "--yes")
    hooks = json.loads(file.read_text())["hooks"]["SessionStart"]
    line = f"{sys.executable} -E -P -S {LAUNCHER} hook --host claude-code"
    ours = {"type": "command", "command": line, "timeout": 30}
    assert hooks == [{"matcher": "*", "hooks": [ours, {"type": "command", "command": "x"}]}]


@pytest.mark.parametrize("name", ["with blank", "o'neil", 'quo"te', "ünï", "$HOME", "a;b&c", "back\\slash"])
@pytest.mark.parametrize("host", HOSTS)
def test_paths_with_odd_characters_reach_the_program(
    make_machine: Callable[..., Machine], host: str, name: str
) -> None:
    import shlex

    machine = make_machine(name)
    python = str(machine.user / "env/bin/python")
    before = machine.snapshot()
    machine.with_python(python)("install", host, "--scope", "project", "--yes")
    seen = 0
    for path in [*machine.project.rglob("*.json"), *machine.project.rglob("*.toml"), machine.user / ".claude.json"]:
        if not path.exists():
            continue
        text = path.read_text()
        for entry in iter_entries(tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)):
            command = entry["command"]
            words = command if isinstance(command, list) else [command, *entry.get("args", ())]
            words = words if len(words) > 1 else shlex.split(command)
            assert words[:5] == [python, "-E", "-P", "-S", LAUNCHER]
            seen += 1
    assert seen
    machine.with_python(python)("uninstall", host, "--scope", "project", "--yes")
    assert machine.snapshot() == before


def test_a_file_that_changes_after_it_was_shown_stops_it_all(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    file = machine.file("claude-code", "user")
    file.parent.mkdir()
    file.write_text("{}\n")
    carry_out = installing.carry_out

    def change_first(*args: Any) -> None:
        file.write_text('{"a": 1}\n')
        carry_out(*args)

    monkeypatch.setattr("gitmem.hosts.cli.installing.carry_out", change_first)
    error = machine("install", "claude-code", "--yes", "--json", code=4).document["error"]
    assert error["code"] == "changed-meanwhile"
    assert machine.snapshot()[".claude/settings.json"] == b'{"a": 1}\n'
    assert ".claude/skills" not in machine.snapshot()


def test_a_dry_run_and_nobody_to_ask_change_nothing(machine: Machine) -> None:
    before = machine.snapshot()
    done = machine("install", "codex", "--dry-run", "--json").document
    assert (done["changed"], done["dry_run"], len(done["files"])) == (False, True, 3)
    refused = machine("install", "codex", code=5)
    assert "+" in refused.out
    assert refused.err.startswith("error: nothing was changed: 3 files would be\n")
    assert machine("install", "codex", "--json", code=5).document["error"]["code"] == "needs-human"
    assert machine.snapshot() == before


def test_a_home_that_was_named_is_handed_to_the_server(machine: Machine) -> None:
    machine = machine.at(home_is_named=True)
    done = machine("install", "codex", "--yes", "--json").document
    home = machine.gitmem.environment.home
    config = tomllib.loads((machine.user / ".codex/config.toml").read_text())
    assert config["mcp_servers"]["gitmem"]["env"] == {"GITMEM_HOME": home}
    assert f"GITMEM_HOME is set here: hooks work on {home} only where codex is started with it, too" in done["notices"]


def test_both_scopes_at_once_are_said(machine: Machine) -> None:
    machine("install", "gemini", "--yes")
    done = machine("install", "gemini", "--scope", "project", "--yes", "--json").document
    assert "gemini has gitmem for you, too, and runs it twice where both hold: uninstall one" in done["notices"]
    machine("uninstall", "gemini", "--yes")
    left = machine("uninstall", "gemini", "--yes", "--json").document
    assert left["notices"] == [f"gemini still has gitmem for the project {machine.project}: --scope project"]


def test_the_home_folder_is_no_project(machine: Machine) -> None:
    there = machine.at(folder=str(machine.user))
    error = there("install", "codex", "--scope", "project", "--yes", "--json", code=3).document["error"]
    assert error["code"] == "no-project"


def test_a_person_is_shown_it_all_and_asked(terminal: Terminal) -> None:
    home = Path(terminal.environment.folder)
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "env": {"TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}\n}\n')
    no = ask(terminal, "n", "install", "claude-code")
    assert no.code == 5
    assert "Change 3 files? [y/N] n\n" in no.out or "Change 2 files? [y/N] n\n" in no.out
    assert "nothing was changed" in no.out
    assert "ghp_" not in no.out
    assert "[secret]" in no.out
    yes = ask(terminal, "y", "install", "claude-code")
    assert yes.code == 0
    assert "gitmem/launch.py hook --host claude-code" in settings.read_text()
    assert "ghp_" in settings.read_text()
    assert ask(terminal, "y", "uninstall", "claude-code").code == 0
    assert settings.read_text() == '{\n  "env": {"TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}\n}\n'


def ask(terminal: Terminal, answer: str, *args: str) -> Result:
    return terminal(*args, prompt=re.compile(rb"(files?)\? \[y/N\] $"), answer=lambda _said: f"{answer}\n")


@pytest.mark.parametrize(
    "text",
    [
        *(
            DSH_EMPTY,
            "[]",
            "",
            "# words\n",
            "- insert:\n    - id: mine\n",
            "- id: a # c\n  config: !!js x()",
            "[]\r\n# c\r\n",
        ),
        "-\n  insert: []\n",
    ],
)
def test_the_rows_of_every_profile_come_and_go(machine: Machine, text: str) -> None:
    patches = [make_profile(machine, text, name) for name in ("headless", "tui")]
    before = machine.snapshot()
    done = machine("install", "dsh", "--yes", "--json").document
    assert "the profiles that are set up: headless, tui; install again once there are others" in done["notices"]
    for patch in patches:
        rows = yaml_of(patch)
        assert [row["id"] for row in rows[-1]["insert"]] == ["gitmem-hooks", "gitmem-mcp"]
        assert rows[-1]["insert"][1]["config"]["args"] == ["-E", "-P", "-S", LAUNCHER, "mcp", "--host", "dsh"]
        words = [line for line in text.splitlines() if line.strip() and not line.startswith("[]")]
        there = iter(patch.read_text().splitlines())
        assert all(line in there for line in words)
        assert (
            f'["{sys.executable}", "-E", "-P", "-S", "{LAUNCHER}", "hook", "--host", "dsh"]'
            in patch.with_name("gitmem.mjs").read_text()
        )
    again = machine("install", "dsh", "--yes", "--json").document
    assert again["files"] == []
    patches[0].write_text(patches[0].read_text() + "- id: later\n")
    machine("uninstall", "dsh", "--yes")
    assert yaml_of(patches[0])[-1] == {"id": "later"}
    assert "gitmem" not in patches[0].read_text()
    after = machine.snapshot()
    del before[".dsh/profiles/headless/cordis.patch.yml"], after[".dsh/profiles/headless/cordis.patch.yml"]
    assert after == before


def yaml_of(patch: Path) -> Any:
    return YAML(typ="safe").load(patch.read_text().replace("!!js x()", "1"))


@pytest.mark.parametrize("text", ["a: 1\n", "[1]\n", "[] # none\n", "---\n- a\n", "  - a\n", "- a\n# gitmem: end\n"])
def test_another_form_of_rows_is_refused(machine: Machine, text: str) -> None:
    make_profile(machine, text)
    before = machine.snapshot()
    assert machine("install", "dsh", "--yes", "--json", code=4).document["error"]["code"] == "config-broken"
    assert machine.snapshot() == before


def test_without_a_profile_there_is_the_skill_and_it_is_said(machine: Machine) -> None:
    done = machine("install", "dsh", "--yes", "--json").document
    assert [file["path"] for file in done["files"]] == [str(machine.user / ".dsh/skills/gitmem/SKILL.md")]
    assert "there is no profile yet: start DeepSeek Harness once, then install again" in done["notices"]


def test_a_skill_that_two_hosts_share_goes_with_the_last(machine: Machine) -> None:
    before = machine.snapshot()
    skill = machine.user / ".agents/skills/gitmem/SKILL.md"
    for host in ("codex", "gemini"):
        machine("install", host, "--yes")
    machine("uninstall", "codex", "--yes")
    assert skill.exists()
    machine("uninstall", "gemini", "--yes")
    assert machine.snapshot() == before


def test_what_somebody_else_took_away_is_forgotten(machine: Machine) -> None:
    machine("install", "gemini", "--yes")
    machine.file("gemini", "user").unlink()
    (machine.user / ".agents/skills/gitmem/SKILL.md").unlink()
    assert machine("uninstall", "gemini", "--yes", "--json").document["changed"] is False
    assert not Path(machine.gitmem.environment.home).exists()
    assert list(machine.user.rglob(".agents")) == []


@pytest.mark.parametrize(
    "there", ['{"projects": {}}', '{"projects": {"PROJECT": {"mcpServers": {}, "history": []}}}', '{"a": 1}']
)
def test_objects_on_the_way_to_a_server_go_if_gitmem_made_them(machine: Machine, there: str) -> None:
    file = machine.user / ".claude.json"
    file.write_text(there.replace("PROJECT", str(machine.project)))
    before = json.loads(file.read_text())
    machine("install", "claude-code", "--scope", "project", "--yes")
    machine("install", "claude-code", "--yes")
    machine("uninstall", "claude-code", "--scope", "project", "--yes")
    assert json.loads(file.read_text()) == before | {"mcpServers": json.loads(file.read_text())["mcpServers"]}
    machine("uninstall", "claude-code", "--yes")
    assert json.loads(file.read_text()) == before


def test_a_python_that_may_not_stay_is_said(machine: Machine) -> None:
    python = "/home/sam/.cache/uv/archive-v0/x/bin/python"
    done = machine.with_python(python)("install", "cursor", "--yes", "--json").document
    assert f"the Python that runs this may not stay where it is: {python}" in done["notices"]


def test_what_opencode_adds_to_a_new_file_keeps_it_from_no_uninstalling(machine: Machine) -> None:
    before = machine.snapshot()
    machine("install", "opencode", "--yes")
    file = machine.file("opencode", "user")
    assert json.loads(file.read_text())["$schema"] == "https://opencode.ai/config.json"
    file.write_text(json.dumps(json.loads(file.read_text())))  # written anew by the host
    machine("uninstall", "opencode", "--yes")
    assert machine.snapshot() == before


@pytest.mark.parametrize("name", ["opencode.jsonc", ".opencode/opencode.json"])
def test_the_configuration_that_is_there_is_taken(machine: Machine, name: str) -> None:
    file = machine.project / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("{\n  // https://example.com\n}\n")
    before = machine.snapshot()
    machine("install", "opencode", "--scope", "project", "--yes")
    assert "gitmem" in file.read_text()
    assert not (machine.project / "opencode.json").exists()
    machine("uninstall", "opencode", "--scope", "project", "--yes")
    assert machine.snapshot() == before


def test_events_that_are_asked_for_no_more_are_taken_out(machine: Machine) -> None:
    file = machine.file("claude-code", "user")
    file.parent.mkdir()
    old = {"hooks": [{"type": "command", "command": "/opt/old/python -m gitmem hook --host claude-code"}]}
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [mine, old], "Gone": [old]}}, indent=2))
    machine("install", "claude-code", "--yes")
    hooks = json.loads(file.read_text())["hooks"]
    assert (hooks["PreToolUse"], "Gone" in hooks) == ([mine], False)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"installed": 1}', '{"installed": [{}]}', '{"installed": [{"host": 1}]}', "\x00"]
)
def test_what_is_remembered_may_be_broken(machine: Machine, text: str) -> None:
    machine("install", "cursor", "--yes")
    (Path(machine.gitmem.environment.home) / "installed.json").write_text(text)
    assert machine("install", "cursor", "--yes", "--json").document["changed"] is False
    machine("uninstall", "cursor", "--yes")
    assert not any(b"gitmem" in data for data in machine.snapshot().values() if isinstance(data, bytes))


def test_a_server_in_a_file_that_is_no_longer_the_one_goes(machine: Machine) -> None:
    file = machine.file("opencode", "user")
    file.parent.mkdir(parents=True)
    file.write_text('{"a": 1}')
    machine("install", "opencode", "--yes")
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    file.with_suffix(".jsonc").write_text("{}")
    machine("install", "opencode", "--yes")
    assert json.loads(file.read_text()) == {"a": 2}
    assert "gitmem" in file.with_suffix(".jsonc").read_text()


def test_a_line_that_somebody_made_of_gitmems_is_theirs(machine: Machine) -> None:
    file = machine.file("claude-code", "user")
    machine("install", "claude-code", "--yes")
    config = json.loads(file.read_text())
    line = config["hooks"]["Stop"][0]["hooks"][0]["command"]
    theirs = {"hooks": [{"type": "command", "command": f"{line} && notify-send done"}]}
    config["hooks"]["Stop"].append(theirs)
    file.write_text(json.dumps(config))
    machine("uninstall", "claude-code", "--yes")
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [theirs]}}
