"""What ``gitmem doctor`` tells of hosts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.hosts.install.health import check_hosts

if TYPE_CHECKING:
    from machine import Machine

pytest_plugins = ("hosts.driving", "hosts.machine")


def told(machine: Machine) -> list[tuple[Any, ...]]:
    return [(row["severity"], row["code"], row["message"]) for row in check_hosts(machine.gitmem.environment)]


def test_hosts_that_are_not_set_up_are_not_spoken_of(machine: Machine) -> None:
    assert told(machine) == []


def test_where_it_is_set_up_and_that_it_is_current(machine: Machine) -> None:
    machine("install", "codex", "--yes")
    assert told(machine) == [("ok", "host", "codex is set up for you")]
    assert ("ok", "codex is set up for you") in [
        (row["severity"], row["message"]) for row in machine("doctor", "--json").document["results"]
    ]


def test_an_interpreter_that_is_gone_is_an_error(machine: Machine) -> None:
    python = machine.user / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    machine.with_python(str(python))("install", "opencode", "--yes")
    assert told(machine)[0][:2] == ("warning", "host-outdated")
    python.unlink()
    assert told(machine) == [
        ("error", "interpreter-gone", f"opencode starts gitmem for you by a file that is gone: {python}")
    ]
    row = next(row for row in check_hosts(machine.gitmem.environment))
    assert row["hint"] == "Run `gitmem install opencode --scope user` with the one to use."
    assert machine("doctor", "--json", code=7).code == 7


def test_another_project_is_remembered(machine: Machine) -> None:
    machine("install", "cursor", "--scope", "project", "--yes")
    elsewhere = machine.at(folder=str(machine.user))
    assert told(elsewhere) == [("ok", "host", f"cursor is set up for the project {machine.project}")]


def test_both_scopes_at_once_run_it_twice(machine: Machine) -> None:
    for scope in ("user", "project"):
        machine("install", "gemini", "--scope", scope, "--yes")
    assert told(machine)[-1] == (
        "warning",
        "host-twice",
        f"gemini is set up for you and for the project {machine.project}: there gitmem runs twice",
    )


def test_a_file_that_cant_be_understood_is_told(machine: Machine) -> None:
    file = Path(machine.user / ".gemini/settings.json")
    file.parent.mkdir()
    file.write_text("{")
    ((severity, code, message),) = told(machine)
    assert (severity, code) == ("warning", "host-unreadable")
    assert message.startswith(f"whether gemini is set up for you can't be told: {file} can't be understood")
