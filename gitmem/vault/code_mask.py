"""Blanks out the parts of a note in which Obsidian looks for nothing: fenced code, inline code, HTML comments.

What is returned has the same length and lines, so that a place in it is the same place in the note. Time is linear in
the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from gitmem.fences import BLANK, mask_fences
from gitmem.patterns import late

_OPENER = late(r"\\[\\`<]|`+|<!--")
_BLANK_LINE = late(r"\n[ \t\r]*+\n")


def mask_code(text: str) -> str:
    """Return ``text`` with fenced code, inline code and HTML comments blanked."""
    masked = mask_fences(text)
    if "`" not in masked and "<!--" not in masked:
        return masked
    pieces = []
    ticks = _TickRuns(masked)
    done = position = 0
    while opener := _OPENER.search(masked, position):
        start, position = opener.span()
        if opener[0][0] == "\\":
            continue
        end = _end_of_comment(masked, start) if opener[0][0] == "<" else ticks.find_end(start, position)
        if end:
            pieces += [masked[done:start], blank(masked[start:end])]
            done = position = end
    return "".join([*pieces, masked[done:]])


def blank(text: str) -> str:
    """Return ``text`` with all but its line feeds blanked."""
    return "\n".join(BLANK * len(line) for line in text.split("\n"))


class _TickRuns:
    """Where the runs of backticks of each length stand, to find the run that closes another at once."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._starts.setdefault(len(run[0]), []).append(run.start())
        self._breaks = [match.start() for match in _BLANK_LINE.finditer(text)]

    def find_end(self, start: int, end: int) -> int:
        """Return where the code ends that the run ``start:end`` opens; 0 when no run of its length follows in the
        paragraph.
        """
        closers = self._starts.get(end - start, [])
        following = bisect_right(closers, start)
        if following == len(closers):
            return 0
        closer = closers[following]
        return 0 if bisect_right(self._breaks, closer) > bisect_right(self._breaks, start) else closer + end - start


def _end_of_comment(text: str, start: int) -> int:
    """Return where the comment ends; one that opens a line and is never closed runs to the end, others are none (0)."""
    end = text.find("-->", start)
    if end >= 0:
        return end + 3
    opens_line = not text[text.rfind("\n", 0, start) + 1 : start].strip(" ")
    return len(text) if opens_line else 0
