"""The person's editor gets the text and advice; what it leaves above the advice is the record's text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.errors import InputError, UnavailableError
from gitmem.hosts.cli.editor import edit_text

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


@pytest.fixture
def script(tmp_path: Path) -> str:
    """An editor that keeps what it was given in ``given`` and puts the text of ``wanted`` before it."""
    file = tmp_path / "my editor.py"
    file.write_text(
        "import pathlib, sys\n"
        "here, note = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[-1])\n"
        "text = note.read_text()\n"
        "(here / 'given').write_text(text)\n"
        "note.write_text((here / 'wanted').read_text() + (text if sys.argv[1] == 'keep' else ''))\n"
    )
    (tmp_path / "wanted").write_text("")
    return f"{sys.executable} '{file}'"


def test_the_text_above_the_advice_is_taken(script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("First.\n\n")
    assert edit_text(f"{script} keep", "Second.\n") == "First.\n\nSecond.\n"
    assert (tmp_path / "given").read_text() == (
        "Second.\n"
        "\n"
        "<!-- gitmem: write the text above this line. From here on everything is dropped.\n"
        "     An empty text writes nothing. -->\n"
    )


def test_a_text_that_speaks_of_the_advice_stays_whole(script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("<!-- gitmem: quoted -->\nmore\n")
    assert edit_text(f"{script} keep", "") == "<!-- gitmem: quoted -->\nmore\n"


def test_advice_that_was_taken_out_takes_nothing_with_it(script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("All new.\n")
    assert edit_text(f"{script} drop", "Old.") == "All new.\n"


def test_an_empty_text_is_an_error(script: str) -> None:
    with pytest.raises(InputError, match="nothing was written") as caught:
        edit_text(f"{script} keep", "")
    assert caught.value.code == "empty-text"


@pytest.mark.parametrize(
    ("editor", "reason"),
    [("false", "ended with code 1"), ("no-such-editor-here", "can't be started"), ("'unclosed", "can't be started")],
)
def test_an_editor_that_fails_is_said(editor: str, reason: str) -> None:
    with pytest.raises(UnavailableError, match=reason) as caught:
        edit_text(editor, "text")
    assert caught.value.code == "editor-failed"


def test_observe_writes_what_the_editor_left(gitmem: Gitmem, script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("From the editor.\n")
    assert gitmem.at(editor=f"{script} keep")("observe", "T", "--evidence", "run:1", "--edit").code == 0
    assert gitmem("show", "--json", gitmem.git("ls-files", "observations")).json["body"] == "\nFrom the editor.\n"


@pytest.mark.parametrize("flag", ["--edit", "--editor"])
def test_the_editor_has_two_names_everywhere(flag: str, gitmem: Gitmem, script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("Typed.\n")
    edited = gitmem.at(editor=f"{script} drop")
    record_id = edited("observe", "T", "--evidence", "run:1", "--json", flag).document["records"][0]["id"]
    assert gitmem("show", record_id, "--json").json["body"] == "\nTyped.\n"
    (tmp_path / "wanted").write_text("Typed again.\n")
    assert edited("edit", record_id, flag).code == 0
    assert gitmem("show", record_id, "--json").json["body"] == "\nTyped again.\n"
    assert "--edit " not in gitmem("edit", "--help").out


def drafts(gitmem: Gitmem) -> list[Path]:
    return sorted(Path(gitmem.environment.home, "global", "runtime", "drafts").glob("*"))


def test_what_was_typed_is_kept_until_it_is_written(gitmem: Gitmem, script: str, tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("Typed for an hour.\n")
    edited = gitmem.at(editor=f"{script} drop")
    assert edited("observe", "T", "--evidence", "run:1", "--editor").code == 0
    assert drafts(gitmem) == []
    said = edited("declare", "T", "--kind", "goal", "--editor", "--json")
    [kept] = drafts(gitmem)
    assert said.document["error"]["hint"] == f"Ask a person to run it at a terminal. What you wrote is kept in {kept}"
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("Typed for an hour.\n", 0o600)
    kept.unlink()
    record_id = gitmem("list", "--json").document["results"][0]["id"]
    assert edited("edit", record_id, "--editor", "--set", "authority=user_declared").code == 3
    assert [file.read_text() for file in drafts(gitmem)] == ["Typed for an hour.\n"]


@pytest.mark.parametrize(("typed", "code"), [("0000\n", 5), ("\x03", 130)], ids=["wrong code", "interrupt"])
def test_what_was_typed_outlives_a_confirmation_that_fails(
    typed: str, code: int, gitmem: Gitmem, terminal: Terminal, script: str, tmp_path: Path
) -> None:
    (tmp_path / "wanted").write_text("Typed.\n")
    said = terminal("declare", "T", "--kind", "goal", "--editor", answer=lambda _code: typed, EDITOR=f"{script} drop")
    assert said.code == code
    [kept] = drafts(gitmem)
    assert str(kept) in said.out
    assert kept.read_text() == "Typed.\n"


def test_observe_with_an_empty_text_writes_nothing(gitmem: Gitmem, script: str) -> None:
    said = gitmem.at(editor=f"{script} keep")("observe", "T", "--evidence", "run:1", "--edit", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "empty-text")
    assert gitmem.git("log", "--format=%s") == "init: global vault global"


def test_edit_starts_from_the_records_own_text(gitmem: Gitmem, script: str, tmp_path: Path) -> None:
    record_id = gitmem.observe("T", "--body", "Old text.")
    (tmp_path / "wanted").write_text("New text.\n\n")
    assert gitmem.at(editor=f"{script} keep")("edit", record_id, "--editor").code == 0
    assert gitmem("show", record_id, "--json").json["body"] == "\nNew text.\n\nOld text.\n"
    (tmp_path / "wanted").write_text("")
    assert gitmem.at(editor=f"{script} keep")("edit", record_id, "--editor", "--json").document["changed"] is False
    assert gitmem.at(editor=f"{script} keep")("edit", record_id, "--editor", "--body", "x").code == 2
