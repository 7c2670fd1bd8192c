"""The one place that says how a host starts gitmem.

``-P`` is a must: a host starts its hooks in the project's folder, and without it a folder ``gitmem/`` of a hostile
project would be imported. What ``-E`` and ``-S`` are for, ``gitmem.launch`` says, which is the file that is started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

import gitmem
from gitmem.errors import UnavailableError
from gitmem.hosts.environment import Environment

MODULE = ("-m", "gitmem")
OPTIONS = ("-E", "-P", "-S")
_LAUNCHER = "gitmem/launch.py"
_PROGRAMS = ("gitmem", "gitmem.exe")
_CHAINS = frozenset(("||", "|"))
_PLAIN = re.compile(r"[\w@%+=:,./\\~-]+")


def find_command(environment: Environment) -> list[str]:
    """Return the words that start gitmem from anywhere, those of its verb to follow.

    The interpreter stands by its absolute path, as it was named: a link into an environment stays one. Raises
    ``UnavailableError`` (``no-interpreter``) where this process doesn't know its own.
    """
    if not os.path.isabs(environment.python):
        message = "this process doesn't know by which Python it is run"
        raise UnavailableError("no-interpreter", message, "Run it as `PYTHON -m gitmem` with an absolute path.")
    package = os.path.dirname(os.path.abspath(gitmem.__file__))
    return [environment.python, *OPTIONS, os.path.join(package, "launch.py")]


def format_command(words: Sequence[str], *, is_windows: bool = os.name == "nt") -> str:
    """Return ``words`` as one line for a host that hands it to a shell.

    On Windows, where hosts use three different shells, slashes stand for backslashes and only what needs quotes has
    them: all three take that. No word of ours holds a quote there, for no path can.
    """
    if not is_windows:
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in (w.replace("\\", "/") for w in words))


def parse_command(line: str) -> list[str]:
    """Return the words of a shell line as far as it is a simple one; none for what can't be told apart.

    None, too, for one that starts more than one program: what somebody made of gitmem's line is theirs.
    """
    try:
        words = shlex.split(line.replace("\\", "/") if _is_windows_line(line) else line)
    except ValueError:
        return []
    is_chain = "\n" in line.strip() or any(word in _CHAINS or word.endswith((";", "&")) for word in words)
    return [] if is_chain else words


def find_verb(words: Sequence[str]) -> str:
    """Return which verb of gitmem ``words`` start, empty for none: whoever wrote them, with whichever interpreter."""
    if len(words) > 1 and _name_of(words[0]) in _PROGRAMS:
        return words[1]
    at = next((i for i, word in enumerate(words) if i and not word.startswith("-")), 0)
    if at and _is_launcher(words[at]) and len(words) > at + 1:
        return words[at + 1]
    if at > 1 and tuple(words[at - 1 : at + 1]) == MODULE and len(words) > at + 1:
        return words[at + 1]
    return ""


def find_files(words: Sequence[str]) -> list[str]:
    """Return the files that ``words`` start: the interpreter, and the launcher where it is named."""
    return [words[0], *(word for word in words[1:] if _is_launcher(word))] if words else []


def _is_launcher(word: str) -> bool:
    return f"/{word}".replace("\\", "/").endswith(f"/{_LAUNCHER}")


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].lower()


def _is_windows_line(line: str) -> bool:
    return re.match(r'"?[A-Za-z]:[\\/]', line) is not None
