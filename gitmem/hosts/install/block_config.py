"""Put gitmem's block into a YAML list, between two comments, and take it out again. Pure: text in, text out.

For files of which nobody but their host can read all (they hold its own tags), and whose form is known: a list, one
entry behind another, each begun at the start of a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts.install.wanted import WantedFile

BEGIN = "# gitmem: begin; `gitmem install` writes it, `gitmem uninstall` takes it away"
END = "# gitmem: end"
_EMPTY = "[]"
_ITEM = ("- ", "-\n", "-\r\n")


class NotBlockError(ValueError):
    """The text is no list of the known form."""


def put_in(text: str, file: WantedFile) -> str:
    """Return ``text`` with the lines of ``file`` as gitmem's block, in the place of an older one or of ``[]``, or last.

    Raises ``NotBlockError``.
    """
    lines, at, length = _split(text)
    end = "\r\n" if "\r\n" in text else "\n"
    block = [f"{line}{end}" for line in (BEGIN, *file.text.splitlines(), END)]
    if lines and not lines[-1].endswith("\n") and at == len(lines):
        lines[-1] += end
    return "".join([*lines[:at], *block, *lines[at + length :]])


def take_out(text: str, _file: WantedFile) -> str:
    """Return ``text`` without gitmem's block; a list that has no other entry is written as an empty one.

    Raises ``NotBlockError``.
    """
    lines, at, length = _split(text)
    if not length or lines[at].rstrip() == _EMPTY:
        return text
    rest = [*lines[:at], *lines[at + length :]]
    empty = [] if any(line.startswith(_ITEM) for line in rest) else [f"{_EMPTY}{lines[at][len(BEGIN) :]}"]
    return "".join([*lines[:at], *empty, *lines[at + length :]])


def is_bare(text: str, _file: WantedFile) -> bool:
    """Tell whether nothing is left in ``text`` but an empty list."""
    return text.strip() in ("", _EMPTY)


def is_foreign_server(_text: str, _file: WantedFile) -> bool:
    """Tell whether another server has the name that gitmem's would have: such rows have ids of gitmem's own."""
    return False


def iter_own(_text: str, _file: WantedFile) -> Iterator[Any]:
    """Yield nothing: the command stands in a file of its own."""
    return iter(())


def _split(text: str) -> tuple[list[str], int, int]:
    """Return the lines, and at which of them gitmem's block begins and how many it has.

    Where there is none it is where one would go: the one line of an empty list, or behind the last.
    """
    lines = text.splitlines(keepends=True)
    bare = [line.rstrip("\r\n") for line in lines]
    if bare.count(BEGIN) > 1 or bare.count(BEGIN) != bare.count(END):
        raise NotBlockError("gitmem's own block in it has no beginning or no end")
    if BEGIN in bare:
        at = bare.index(BEGIN)
        length = bare.index(END) + 1 - at
        if length < 1:
            raise NotBlockError("gitmem's own block in it ends before it begins")
        return lines, at, length
    roots = [i for i, line in enumerate(bare) if line.strip() and not line.startswith((" ", "#"))]
    if len(roots) == 1 and bare[roots[0]].rstrip() == _EMPTY:
        return lines, roots[0], 1
    odd = next((i for i in roots if not f"{bare[i]}\n".startswith(_ITEM)), None)
    if odd is not None or (not roots and any(line.startswith(" ") and line.strip() for line in bare)):
        raise NotBlockError(f"line {(odd or 0) + 1}: it is no list whose entries begin at the start of a line")
    return lines, len(lines), 0
