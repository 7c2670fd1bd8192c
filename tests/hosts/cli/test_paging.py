"""Long output in a terminal is shown page by page; short output, pipes and JSON are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from gitmem.hosts.environment import read_environment

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"
_PAGER = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"
LINES = 40
"""How high the terminal of the tests is."""


@pytest.fixture
def seen(gitmem: Gitmem, tmp_path: Path) -> Path:
    """The file in which the pager leaves what it was given; the vault holds one long record."""
    gitmem.observe("A long one", "--key", "long", "--body", "\n".join(f"Line {n}." for n in range(1, 101)))
    gitmem.observe("A short one", "--key", "short", "--body", "One line.")
    return tmp_path / "seen"


def variables(seen: Path) -> dict[str, str]:
    program = seen.with_name("pager.py")
    program.write_text(_PAGER)
    return {"TERM": "xterm", "PAGER": f"'{sys.executable}' '{program}' '{seen}'"}


def test_what_is_longer_than_the_terminal_goes_to_the_pager(gitmem: Gitmem, terminal: Terminal, seen: Path) -> None:
    said = terminal("show", "long", **variables(seen))
    assert (said.code, said.out) == (0, "")
    expected = gitmem("show", "long").out
    assert click.unstyle(seen.read_text()).rstrip() == expected.rstrip()
    assert "Line 100." in expected


@pytest.mark.parametrize(
    ("args", "changes"),
    [
        (["show", "short"], {}),
        (["show", "long", "--json"], {}),
        (["--no-pager", "show", "long"], {}),
        (["show", "long", "--no-pager"], {}),
        (["show", "long"], {"PAGER": ""}),
        (["show", "long"], {"PAGER": "cat"}),
        (["show", "long"], {"TERM": "dumb"}),
    ],
)
def test_everything_else_is_printed_at_once(
    terminal: Terminal, seen: Path, args: list[str], changes: dict[str, str]
) -> None:
    said = terminal(*args, **(variables(seen) | changes))
    assert said.code == 0
    assert ("Line 100." in said.out) is ("long" in args)
    assert not seen.exists()


def test_a_pager_that_is_not_there_loses_nothing(terminal: Terminal, seen: Path) -> None:
    said = terminal("show", "long", TERM="xterm", PAGER="no-such-program-anywhere")
    assert said.code == 0
    assert "Line 1.\n" in said.out
    assert "Line 100.\n" in said.out


def test_a_pager_that_is_left_early_is_no_error(terminal: Terminal, seen: Path) -> None:
    said = terminal("show", "long", TERM="xterm", PAGER="true")
    assert (said.code, said.out) == (0, "")


@pytest.mark.parametrize(
    ("term", "pager", "pages"),
    [("xterm", None, True), ("xterm", "most", True), ("xterm", "", False), ("", None, False), ("dumb", "less", False)],
)
def test_the_surroundings_decide(monkeypatch: pytest.MonkeyPatch, term: str, pager: str | None, *, pages: bool) -> None:
    monkeypatch.setenv("TERM", term)
    if pager is None:
        monkeypatch.delenv("PAGER", raising=False)
    else:
        monkeypatch.setenv("PAGER", pager)
    assert read_environment().pager is pages
