"""Text in columns of a terminal, where a Chinese or Japanese character takes two and a combining mark none."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO

import click

from gitmem.text import make_visible, one_line

GAP = "  "
INDENT = "    "
_BAR, _GOES_ON = "  | ", "  : "


def measure(text: str) -> int:
    """Return how many columns the one-line ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def truncate(text: str, max_columns: int | None) -> str:
    """Return ``text`` if it fits into ``max_columns`` (1 or more), else its beginning and ``…``; ``None`` fits all."""
    if max_columns is None or measure(text) <= max_columns:
        return text
    used, kept = 0, 0
    for char in text:
        used += _columns_of(char)
        if used > max_columns - 1:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def bar(text: str, max_columns: int | None = None) -> list[str]:
    """Return a text behind a bar, so that it can't pass for gitmem's own words; it is made visible.

    A line that is wider than ``max_columns`` goes on at a word's beginning behind ``:`` in place of the bar; only a
    word that is wider by itself is left for the terminal to break.
    """
    shown = []
    for line in make_visible(text).split("\n"):
        first, *rest = _wrap(line, None if max_columns is None else max(1, max_columns - len(_BAR)))
        shown += [f"{_BAR}{first}", *(f"{_GOES_ON}{one}" for one in rest)]
    return shown


def truncate_indented(text: str, max_columns: int | None) -> str:
    """Return ``text``, cut so that it fits into ``max_columns`` behind ``INDENT``."""
    return truncate(text, None if max_columns is None else max(1, max_columns - len(INDENT)))


def pad(text: str, columns: int) -> str:
    """Return ``text`` with blanks behind it until it takes ``columns``."""
    return text + " " * (columns - measure(text))


def safe_line(text: object) -> str:
    """Return any value as one line that may be shown: hidden characters are escaped, line breaks are blanks."""
    return one_line(make_visible(str(text)))


def align(rows: Sequence[Sequence[str]], max_columns: int | None = None) -> list[str]:
    """Return one line a row, its cells aligned; only the last cell is cut where a line exceeds ``max_columns``.

    All rows have the same number of cells. Cells are one line each and fit to be shown (``safe_line``).
    """
    if not rows:
        return []
    widths = [max(measure(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = (GAP.join([*map(pad, row, widths), row[-1]]).rstrip() for row in rows)
    return [truncate(line, max_columns) for line in lines]


def find_columns(stream: TextIO | None = None) -> int | None:
    """Return the width of the terminal that ``stream`` is, standard output by default.

    ``None`` when it is none, and nothing is to be cut.
    """
    size = _find_size(stream or sys.stdout)
    return (size.columns or None) if size else None


def fits_terminal(stream: TextIO, text: str) -> bool:
    """Tell whether ``text``, with its long lines wrapped, fits into the terminal; always where ``stream`` is none."""
    size = _find_size(stream)
    if size is None or not size.columns or not size.lines:
        return True
    rows = (max(1, -(-measure(line) // size.columns)) for line in click.unstyle(text).split("\n"))
    return sum(rows) < size.lines


def _wrap(line: str, max_columns: int | None) -> list[str]:
    if max_columns is None or measure(line) <= max_columns:
        return [line]
    lines, kept = [], ""
    for word in re.findall(r"\s*\S+", line):
        if kept.strip() and measure(kept + word) > max_columns:
            lines.append(kept)
            kept = word.lstrip()
        else:
            kept += word
    return [*lines, kept]


def _find_size(stream: TextIO) -> os.terminal_size | None:
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return None


def _columns_of(char: str) -> int:
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
