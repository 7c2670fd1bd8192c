"""``gitmem settings``: shown to everybody, changed by a person who typed the code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

_ANSWER = """
import json, sys
found = [
    {"name": one["name"], "rule": "made-up", "line": 1}
    for one in json.load(sys.stdin)["texts"]
    if "ghp_" in one["text"]
]
print(json.dumps({"findings": found}))
"""
SCANNER = [sys.executable, "-I", "-c", _ANSWER]


def settings_of(gitmem: Gitmem) -> object:
    file = Path(gitmem.environment.home, "settings.json")
    return json.loads(file.read_text()) if file.exists() else None


def test_nothing_is_set_at_first(bare: Gitmem) -> None:
    said = bare("settings", "show")

    assert (said.code, said.out) == (0, "secret-scanner  not set\nsigning-key     not set\n")
    assert bare("settings", "show", "--json").document["results"] == [
        {"setting": "secret-scanner", "value": None, "timeout_s": None},
        {"setting": "signing-key", "value": None, "timeout_s": None},
    ]
    assert not Path(bare.environment.home).exists()


def test_a_person_sets_and_takes_away_a_scanner(bare: Gitmem, terminal: Terminal) -> None:
    said = terminal("settings", "set", "secret-scanner", "--timeout-s", "20", "--", *SCANNER)

    assert said.code == 0
    assert said.out.startswith(f"settings set secret-scanner\n\n  program   {sys.executable}\n  argument  -I\n")
    assert "Effect: gitmem starts this program, with every text that is to be written, in each write; " in said.out
    assert said.out.endswith("\nsettings: changed\n")
    assert settings_of(bare) == {"secret_scanner": {"command": SCANNER, "timeout_s": 20.0}}
    assert f"secret-scanner  {sys.executable} -I -c" in bare("settings", "show").out
    assert terminal("settings", "unset", "secret-scanner").code == 0
    assert settings_of(bare) == {}
    again = terminal("settings", "unset", "secret-scanner", "--json")
    assert json.loads(again.out[again.out.index("\n{") :])["changed"] is False


def test_nobody_else_does(bare: Gitmem, terminal: Terminal) -> None:
    for args in (
        ["set", "secret-scanner", "--", "/bin/true"],
        ["set", "signing-key", "/etc/hostname"],
        ["unset", "secret-scanner"],
    ):
        said = bare("settings", *args, *([] if "--" in args else ["--json"]))
        assert said.code == 5
        assert terminal("settings", *args, answer=lambda _code: "no\n").code == 5
    assert settings_of(bare) is None


def test_a_scanner_that_does_not_answer_is_not_set(bare: Gitmem, terminal: Terminal) -> None:
    said = terminal("settings", "set", "secret-scanner", "--", "/bin/true")

    assert (said.code, settings_of(bare)) == (6, None)
    assert "the secret scanner of your settings failed: it did not answer as schema/scan-output" in said.out


@pytest.mark.parametrize("program", ["true", "/no/such/program", "/etc", "./scan"])
def test_what_is_no_program_by_absolute_path_is_not_set(program: str, bare: Gitmem, terminal: Terminal) -> None:
    said = terminal("settings", "set", "secret-scanner", "--", program)

    assert (said.code, settings_of(bare)) == (3, None)
    assert "the scanner has to be a program, named by its absolute path" in said.out


def test_a_scanner_that_finds_nothing_is_set_and_told(bare: Gitmem, terminal: Terminal) -> None:
    nothing = [sys.executable, "-I", "-c", "import sys; sys.stdin.read(); print('{\"findings\": []}')"]
    said = terminal("settings", "set", "secret-scanner", "--", *nothing)

    assert said.code == 0
    assert said.out.endswith("settings: changed\nnotice: it does not find a made-up GitHub token\n")


def test_a_signing_key_is_set_beside_the_scanner(bare: Gitmem, terminal: Terminal) -> None:
    folder = Path(bare.environment.folder)
    (folder / "id.pub").write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI sam\n")
    (folder / "words").write_text("no key\n")
    terminal("settings", "set", "secret-scanner", "--", *SCANNER)
    before = settings_of(bare)
    assert terminal("settings", "set", "signing-key", "words").code == 3
    assert settings_of(bare) == before
    assert terminal("settings", "set", "signing-key", "id.pub").code == 0
    assert isinstance(before, dict)
    assert settings_of(bare) == {**before, "signing_key": str(folder / "id.pub")}


def test_settings_that_can_not_be_understood_are_told(bare: Gitmem) -> None:
    Path(bare.environment.home).mkdir()
    Path(bare.environment.home, "settings.json").write_text("{")
    said = bare("settings", "show", "--json")

    assert (said.code, said.document["error"]["code"]) == (7, "bad-settings")
