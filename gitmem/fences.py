"""Fenced code in Markdown, and the conflict markers of a merge that stand outside it. Pure."""

from __future__ import annotations

import re

from gitmem.patterns import late

BLANK = "\0"
"""What stands in the place of masked text: no letter, no white space, no mark."""

_CONTAINER = r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+"
_FENCE = late(rf"{_CONTAINER}(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_MEMORY = late(r"^[ \t>]*(`{3,})gitmem-[a-z]{1,20}[ \t]*\r?$.*?(?:^[ \t>]*\1[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
_MEMORY_LINE = late(r"^[ \t>]*gitmem(?:: | remembers this about ).*$", re.MULTILINE)
_QUOTE = late(r"[ \t]*+>")
_TOP_LEVEL = late(" {0,3}[`~]")  # indented further, a line of code only looks like a fence
_MARKER = late(r"^(?:(<)<{6}|(=)={6}|(>)>{6})(?: |\r?$)", re.MULTILINE)


def mask_fences(text: str) -> str:
    """Return ``text`` with the lines of fenced code, fences included, blanked. Fences in lists and quotes count.

    A fence that nothing closes runs to the end of its quotation, else of the text.
    """
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    quoted = indented = False
    for number, line in enumerate(lines):
        if not fence:
            opening = _FENCE.match(line)
            if not opening:
                continue
            fence, quoted = opening["fence"], _QUOTE.match(line) is not None
            indented = _TOP_LEVEL.match(line) is None
        elif quoted and not _QUOTE.match(line):
            fence = ""
            continue
        elif _closes(line, fence) and (indented or _TOP_LEVEL.match(line)):
            fence = ""
        lines[number] = BLANK * len(line)
    return "\n".join(lines)


def remove_memory(text: str) -> str:
    """Return ``text`` without what gitmem gave a model before: its fenced pages, and the lines in front of them.

    So remembered text that comes back in a prompt is not taken for what the prompt is about. A page that nothing closes
    runs to the end.
    """
    return _MEMORY_LINE.sub("", _MEMORY.sub("", text)) if "gitmem" in text else text


def find_conflict(text: str) -> int | None:
    """Return the line, from 1, of the first conflict marker that stands outside fenced code, or ``None``.

    An opening marker is enough, and so is a closing one after a dividing one: half a conflict is no note either.
    """
    if "<<<<<<<" not in text and ">>>>>>>" not in text:
        return None
    masked = mask_fences(text)
    seen_middle = False
    for marker in _MARKER.finditer(masked):
        start, middle, end = marker.groups()
        if start or (end and seen_middle):  # ">>>>>>> x" alone is a quotation, "=======" alone underlines a heading
            return text.count("\n", 0, marker.start()) + 1
        seen_middle = seen_middle or bool(middle)
    return None


def _closes(line: str, fence: str) -> bool:
    mark = line.strip(" \t>\r")
    return len(mark) >= len(fence) and not mark.strip(fence[0])
