"""Where the parts of a note lie in its text: BOM, frontmatter block, body. Knows nothing of YAML."""

from __future__ import annotations

import re

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.values import dataclass, replace

# Obsidian's own rule for blanks after a fence is not documented and no dump shows it. Jekyll, tree-sitter and YAML
# itself take such a line for a fence, and Obsidian's property editor has been seen to leave one; reading it as one is
# also the safe side: the other reading would put a second block before the first.
_OPENING = late(r"---[ \t]*(\r?\n)")
_CLOSING = late(r"---[ \t]*(?:\r?\n|\Z)")
_FIRST_BREAK = late(r"\r?\n")


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text in parts; ``joined`` puts them together again, byte for byte.

    ``opening`` and ``closing`` are the fence lines with their line ends, empty when there is no block. ``eol`` is the
    line end of the opening fence, else the note's first, else LF.
    """

    bom: str
    opening: str
    block: str
    closing: str
    body: str
    eol: str

    @property
    def has_block(self) -> bool:
        """Whether the note begins with a frontmatter block, be it empty."""
        return bool(self.opening)

    @property
    def joined(self) -> str:
        """The whole text."""
        return f"{self.bom}{self.opening}{self.block}{self.closing}{self.body}"

    def with_block(self, block: str) -> NoteText:
        """Return the note with other lines in its block; a note without a block gets one."""
        fence = "---" + self.eol
        return replace(self, opening=self.opening or fence, block=block, closing=self.closing or fence)

    def without_block(self) -> NoteText:
        """Return the note without its block and fences."""
        return replace(self, opening="", block="", closing="")


def decode(data: bytes) -> str:
    """Return the text of ``data``, BOM included. Raises ``InputError``: ``not-text`` (UTF-16, NUL), ``not-utf8``."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise InputError("not-text", "the file is UTF-16 or holds NUL bytes; save it as UTF-8")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not-utf8", "the file is not valid UTF-8; save it as UTF-8", line=line) from None


def split_note(text: str) -> NoteText:
    """Return the parts of ``text``. A block begins at the very start; a blank line before ``---`` makes it a rule.

    Raises ``InputError`` (``frontmatter-unclosed``) when the first line is ``---`` and no later line is.
    """
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    opening = _OPENING.match(text, len(bom))
    if not opening:
        first_break = _FIRST_BREAK.search(text)
        return NoteText(bom, "", "", "", text[len(bom) :], first_break[0] if first_break else "\n")
    closing = _find_closing(text, opening.end())
    if not closing:
        raise InputError("frontmatter-unclosed", "the first line is --- but no later line closes the block", line=1)
    block = text[opening.end() : closing.start()]
    return NoteText(bom, opening[0], block, closing[0], text[closing.end() :], opening[1])


def _find_closing(text: str, start: int) -> re.Match[str] | None:
    line = start
    while line:
        closing = _CLOSING.match(text, line)
        if closing:
            return closing
        line = text.find("\n---", line) + 1
    return None
