"""The places in a note that a link may name: its headings and its blocks. As in Obsidian (facts, A.4)."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.patterns import late
from gitmem.text import fold
from gitmem.values import dataclass
from gitmem.vault.code_mask import mask_code

_HEADING = late(r" {0,3}(?P<marks>#{1,6})(?=[ \t]|$)(?P<text>.*)")
_CLOSING = late(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE = late(r" {0,3}(?:(?P<first>=+)|-+)[ \t]*")
_NO_PARAGRAPH = late(r" {4}|\t| {0,3}(?:[>#|]|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|[-*_](?:[ \t]*[-*_])+[ \t]*$)")
_BLOCK = late(r"(?:^|[ \t])\^(?P<name>[A-Za-z0-9-]+)[ \t]*$")
_PUNCTUATION = late(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading: its text as written, its level from 1 to 6, and its line from 1."""

    text: str
    level: int
    line: int


def find_headings(body: str) -> tuple[Heading, ...]:
    """Return the headings of ``body`` in order, those underlined with ``=`` or ``-`` too; none within code."""
    if "#" not in body and "==" not in body and "--" not in body:
        return ()
    lines, masked = _lines(body)
    found = []
    for number, line in enumerate(masked):
        match = _HEADING.fullmatch(line)
        if match:
            text = lines[number][match.start("text") :].strip()
            found.append(Heading(_CLOSING.sub("", text).strip(), len(match["marks"]), number + 1))
        elif number and (under := _UNDERLINE.fullmatch(line)) and _is_paragraph(masked, number - 1):
            found.append(Heading(lines[number - 1].strip(), 1 if under["first"] else 2, number))
    return tuple(found)


def find_blocks(body: str) -> tuple[str, ...]:
    """Return the ids of the blocks of ``body`` in order: ``^id`` at the end of a line, without the ``^``."""
    if "^" not in body:
        return ()
    return tuple(match["name"] for line in _lines(body)[1] if (match := _BLOCK.search(line)))


def has_place(subpath: str, headings: Iterable[Heading], blocks: Iterable[str]) -> bool:
    """Tell whether ``subpath`` (``#Heading``, ``#Heading#Sub``, ``#^block``) leads to one of them; an empty one does.

    Case, blanks and punctuation don't count. Of several headings each has to come somewhere behind the one before.
    """
    parts = [part for part in subpath.split("#") if part.strip()]
    if parts and parts[-1].startswith("^"):
        return fold(parts[-1][1:].strip()) in map(fold, blocks)
    rest = iter(headings)
    return all(any(_key(one.text) == _key(part) for one in rest) for part in parts)


def _lines(body: str) -> tuple[list[str], list[str]]:
    return body.replace("\r\n", "\n").split("\n"), mask_code(body).replace("\r\n", "\n").split("\n")


def _is_paragraph(masked: list[str], number: int) -> bool:
    """Tell whether the line is text that an underline below makes a heading; of a paragraph, its only line."""
    line = masked[number]
    if not line.strip() or _NO_PARAGRAPH.match(line):
        return False
    return number == 0 or not masked[number - 1].strip() or _HEADING.fullmatch(masked[number - 1]) is not None


def _key(text: str) -> str:
    return _PUNCTUATION.sub("", fold(text)) or text.strip()
