"""Whatever a command is asked with a secret in it, and however it fails, the secret is on neither output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leaks import SECRET, find_leaks, holds

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

COMMANDS: dict[str, list[str]] = {
    "title": ["observe", f"Token {SECRET}", "--evidence", "run:1"],
    "body": ["observe", "T", "--body", f"one\n{SECRET}", "--evidence", "run:1"],
    "tag": ["observe", "T", "--tag", SECRET, "--evidence", "run:1"],
    "kind": ["observe", "T", "--kind", SECRET],
    "key": ["observe", "T", "--key", SECRET, "--evidence", "run:1"],
    "evidence": ["observe", "T", "--evidence", f"run:{SECRET}"],
    "operation id": ["observe", "T", "--evidence", "run:1", "--op-id", SECRET],
    "file": ["observe", "T", "--body-file", f"{SECRET}.md"],
    "many": ["observe", "--from", "many.jsonl"],
    "propose": ["propose", "T", "--body", SECRET],
    "declare": ["declare", "T", "--kind", "boundary", "--body", SECRET],
    "edit": ["edit", "one", "--title", SECRET],
    "edit a property": ["edit", "one", "--set", f"{SECRET}=x"],
    "edit what is not there": ["edit", SECRET, "--title", "T"],
    "retire": ["retire", "one", "--reason", SECRET],
    "retire in favour": ["retire", "one", "--reason", "old", "--superseded-by", SECRET],
    "restore": ["restore", SECRET],
    "promote": ["promote", SECRET],
    "undo": ["undo", SECRET],
    "adopt": ["adopt", f"promoted/{SECRET}.md"],
    "import": ["import", "notes"],
    "import what is not there": ["import", SECRET],
    "accept": ["accept", SECRET],
    "reject": ["reject", SECRET, "--reason", "no"],
    "defer": ["defer", SECRET],
    "reconsider": ["reconsider", SECRET],
    "init": ["init", "new", "--name", SECRET],
    "another vault": ["--vault", SECRET, "status"],
    "a verb": [SECRET],
    "an option": ["observe", "T", f"--{SECRET}"],
    "settings": ["settings", "unset", SECRET],
}


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("row", COMMANDS)
def test_no_output_tells_it(row: str, as_json: bool, gitmem: Gitmem) -> None:
    folder = Path(gitmem.environment.folder)
    (folder / "many.jsonl").write_text(f'{{"title": "A", "body": "x {SECRET}", "evidence": ["run:1"]}}\n')
    (folder / "notes").mkdir()
    (folder / "notes" / f"{SECRET}.md").write_text(f"one\n{SECRET}\n")
    gitmem.observe("one", "--key", "one")

    said = gitmem(*COMMANDS[row], *(["--json"] if as_json else []))

    assert said.code not in (0, 1) or row == "import", said
    assert not holds(f"{said.out}{said.err}".encode()), said
    if as_json:
        assert said.json
    assert find_leaks([Path(gitmem.environment.home)]) == []


@pytest.mark.parametrize("row", ["body", "declare", "edit", "retire", "propose"])
def test_nor_does_a_terminal(row: str, gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem.observe("one", "--key", "one")
    said = terminal("--human", *COMMANDS[row])

    assert said.code == 5, said
    assert find_leaks([Path(gitmem.environment.home)]) == []


def test_what_was_typed_in_an_editor_is_kept_without_it(gitmem: Gitmem, terminal: Terminal) -> None:
    editor = Path(gitmem.environment.folder, "editor.sh")
    editor.write_text(f'#!/bin/sh\nprintf "long words\\nthe token is {SECRET}\\nmore\\n" > "$1"\n')
    editor.chmod(0o755)
    said = terminal("observe", "T", "--evidence", "run:1", "--editor", EDITOR=str(editor))
    (kept,) = Path(gitmem.environment.home).rglob("drafts/*.md")

    assert said.code == 5
    assert kept.read_text() == "long words\nthe token is [secret]\nmore\n"
    assert "without what looks like a secret" in said.out.replace("\n", " ")
    assert find_leaks([Path(gitmem.environment.home)]) == []
