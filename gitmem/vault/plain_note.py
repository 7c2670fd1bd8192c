"""Notes that are no records: a person's notes without ``gitmem_id``, and files whose frontmatter can't be trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from gitmem.errors import InputError
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.lookalike import find_lookalike
from gitmem.vault.markdown import find_links, find_property_links
from gitmem.vault.note_text import decode

_FENCE = re.compile(r"---[ \t]*\r?$", re.MULTILINE)
_MAX_NAME_CHARS = 80
PRIVATE = "private"


@dataclass(frozen=True)
class PlainNote:
    """What can be said of such a note: its name, all of its text, where its links lead.

    ``is_private`` says that its frontmatter has a line ``private``, whatever its value, or may have one.
    """

    title: str
    text: str
    links: tuple[str, ...]
    is_private: bool


def parse_plain_note(path: str, data: bytes) -> PlainNote | None:
    """Return the note in ``data``, ``None`` where it is no text. Pure. Links are found only where all of it reads well.

    A frontmatter that can't be read is looked through line by line, and so is the whole file where it may have no end:
    what somebody meant to hold back must not be shown because of a slip beside it.
    """
    try:
        text = decode(data).removeprefix("\ufeff")
    except InputError:
        return None
    note = parse_note(data)
    block = _find_block(text, is_whole=note.problem is not None and not note.has_block)
    is_private = any(_is_private(line) for line in block.splitlines())
    links = () if note.problem else (*find_property_links(note.properties), *find_links(note.body))
    targets = dict.fromkeys(link.target for link in links if link.target)
    return PlainNote(PurePosixPath(path).name.removesuffix(".md"), text, tuple(targets), is_private)


def _find_block(text: str, *, is_whole: bool) -> str:
    """Return the part of ``text`` that may be frontmatter."""
    if is_whole:
        return text
    fences = [match.end() for match in _FENCE.finditer(text)][:2]
    return text[: fences[1]] if text.startswith("---") and len(fences) == 2 else ""


def _is_private(line: str) -> bool:
    names = (piece.partition(":")[0].strip(" \t\"'?-") for piece in line.replace("{", ",").split(",") if ":" in piece)
    return any(name == PRIVATE or find_lookalike(name[:_MAX_NAME_CHARS]) == PRIVATE for name in names)
