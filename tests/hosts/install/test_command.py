"""The command that hosts start, on every platform's shells, and how it is known again."""

from __future__ import annotations

import pytest

from gitmem import launch
from gitmem.errors import UnavailableError
from gitmem.hosts.environment import Environment
from gitmem.hosts.install.command import find_command, find_files, find_verb, format_command, parse_command
from gitmem.hosts.install.own import find_words


def test_the_interpreter_stands_by_its_path_and_the_folder_is_not_looked_into() -> None:
    assert find_command(Environment("/h", "/f", python="/opt/py")) == ["/opt/py", "-E", "-P", "-S", launch.__file__]
    with pytest.raises(UnavailableError):
        find_command(Environment("/h", "/f", python=""))


@pytest.mark.parametrize(
    ("python", "line"),
    [
        (r"C:\Python\python.exe", "C:/Python/python.exe -P -m gitmem hook"),
        (r"C:\Program Files\py.exe", '"C:/Program Files/py.exe" -P -m gitmem hook'),
    ],
)
def test_windows_lines_are_words_for_every_shell_there(python: str, line: str) -> None:
    assert format_command([python, "-P", "-m", "gitmem", "hook"], is_windows=True) == line
    assert find_verb(parse_command(line)) == "hook"


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("/opt/py -P -m gitmem hook --host codex", "hook"),
        ("python3 -m gitmem mcp", "mcp"),
        ("/opt/py -E -P -S '/o p/gitmem/launch.py' hook --host codex", "hook"),
        (r'"C:\py.exe" -E -P -S "C:\o p\gitmem\launch.py" mcp', "mcp"),
        ("python3 /opt/notgitmem/launch.py hook", ""),
        ("python3 /opt/gitmem/launch.py", ""),
        ("gitmem hook", "hook"),
        ("'/o p/gitmem' hook", "hook"),
        (r'"C:\Python 3\Scripts\gitmem.exe" mcp', "mcp"),
        ("gitmem", ""),
        ("python3 -m gitmemory hook", ""),
        ("python3 -m other gitmem hook", ""),
        ("sh -c 'gitmem hook'", ""),
        ("env A=1 gitmem hook", ""),
        ("echo gitmem hook", ""),
        ("python3 gitmem hook", ""),
        ("gitmem hook 2>/dev/null", "hook"),
        ("gitmem hook && notify-send done", ""),
        ("gitmem hook --host codex; date", ""),
        ("gitmem hook | tee log", ""),
        ("gitmem hook || true", ""),
        ("gitmem hook --host codex&", ""),
        ("gitmem hook\ndate", ""),
        ("'unbalanced", ""),
        ("", ""),
    ],
)
def test_what_starts_gitmem(line: str, verb: str) -> None:
    assert find_verb(parse_command(line)) == verb


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "a b"}, ["a", "b"]),
        ({"command": "/a b", "args": ["c d"]}, ["/a b", "c d"]),
        ({"command": ["a", "b c"]}, ["a", "b c"]),
        ({"command": ["a", 1]}, []),
        ({"command": 1}, []),
        ({"url": "x"}, []),
        ("command", []),
        (None, []),
    ],
)
def test_the_words_of_an_entry(entry: object, words: list[str]) -> None:
    assert find_words(entry) == words


def test_the_files_that_a_command_needs() -> None:
    assert find_files(["/py", "-E", "/lib/gitmem/launch.py", "hook"]) == ["/py", "/lib/gitmem/launch.py"]
    assert find_files(["/py", "-m", "gitmem", "hook"]) == ["/py"]
    assert find_files([]) == []
