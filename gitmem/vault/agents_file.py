"""A section of gitmem's in a file of instructions for agents (AGENTS.md, CLAUDE.md), between two marks. Pure.

Everything around the section is kept byte for byte: line ends, a byte order mark, a last line without an end. The
opening mark has a digest of what stands between the two, so that an edit by hand is seen.
"""

from __future__ import annotations

import codecs
import hashlib
import re

from gitmem.errors import InputError, StateError
from gitmem.model.ids import VaultId
from gitmem.patterns import late
from gitmem.values import dataclass

BEGIN = "<!-- gitmem:begin agents-md"
END = "<!-- gitmem:end agents-md -->"
SHORT_COMMIT_CHARS = 12
_DIGEST_CHARS = 16
_OPENING = late(
    rf"{BEGIN} vault=(?P<vault>[0-9a-hjkmnp-tv-z]{{12}}) revision=(?P<revision>[0-9a-f]{{12}})"
    rf" sha256=(?P<digest>[0-9a-f]{{16}}) chars=(?P<chars>[1-9][0-9]{{0,8}}) gap=(?P<gap>[0-2]) -->[ \t]*".encode()
)
_CLOSING = late(re.escape(END).encode() + rb"[ \t]*")
_ANY_MARK = late(rb"<!--\s*gitmem:(?:begin|end)\s+agents-md", re.IGNORECASE)
_HINT = "Mend the marks, or take them out with what stands between them, and run it again."


@dataclass(frozen=True)
class Section:
    """What stands between the marks: its ``text``, with plain line feeds and no blank lines around, and what the
    opening mark says of it.

    ``max_chars`` is how long the text was allowed to be, ``gap`` how many line breaks were put before the section.
    ``is_edited`` says that the text is not the one that was written.
    """

    text: str
    vault: VaultId
    revision: str
    max_chars: int
    gap: int = 0
    is_edited: bool = False


@dataclass(frozen=True)
class AgentsFile:
    """A file in three parts: the bytes before the section, the section if there is one, the bytes behind it.

    ``before`` and ``after`` hold everything else there is; ``eol`` ends the lines of the section, or else of the file.
    """

    before: bytes
    section: Section | None = None
    after: bytes = b""
    eol: bytes = b"\n"


def parse_agents_file(data: bytes) -> AgentsFile:
    """Return the parts of a file. Marks count wherever they stand, in code blocks, too.

    Raises ``InputError`` (``not-text`` for UTF-16 and other bytes that are no text of one-byte line ends) and
    ``StateError`` (``bad-marks``, with the line) where the marks are not exactly one well-formed pair, or none.
    """
    if b"\0" in data:
        raise InputError("not-text", "the file is no UTF-8 text", "Save it as UTF-8, or name another file.")
    eol = b"\r\n" if 2 * data.count(b"\r\n") > data.count(b"\n") else b"\n"
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    lines = data[len(bom) :].split(b"\n")
    marks = [number for number, line in enumerate(lines) if _ANY_MARK.search(line)]
    if not marks:
        return AgentsFile(data, eol=eol)
    opening, first, last = _check_marks(lines, marks)
    before = bom + b"".join(line + b"\n" for line in lines[:first])
    inside = b"\n".join(line.removesuffix(b"\r") for line in lines[first + 1 : last])
    text = inside.decode("utf-8", "surrogateescape").strip("\n")
    section = Section(
        text=text,
        vault=VaultId(opening["vault"].decode()),
        revision=opening["revision"].decode(),
        max_chars=int(opening["chars"]),
        gap=int(opening["gap"]),
        is_edited=digest_of(text) != opening["digest"].decode(),
    )
    eol = b"\r\n" if lines[first].endswith(b"\r") else b"\n"
    behind = lines[last].removesuffix(b"\r")
    after = lines[last][len(behind) :] + b"".join(b"\n" + line for line in lines[last + 1 :])
    return AgentsFile(before, section, after, eol)


def put_section(file: AgentsFile, made: Section) -> bytes:
    """Return the bytes of ``file`` with ``made`` as its section, whose text has no mark in it.

    It takes the place of the one that is there. A new one goes to the end, behind a blank line where there is something
    before it.
    """
    before, after, gap = file.before, file.after, file.section.gap if file.section else 0
    if file.section is None:
        gap = _find_gap(before)
        before, after = before + file.eol * gap, file.eol
    said = f"sha256={digest_of(made.text)} chars={made.max_chars} gap={gap}"
    opening = f"{BEGIN} vault={made.vault} revision={made.revision[:SHORT_COMMIT_CHARS]} {said} -->"
    lines = [opening, "", *made.text.split("\n"), "", END]
    return before + file.eol.join(line.encode("utf-8", "surrogateescape") for line in lines) + after


def take_section_out(file: AgentsFile) -> bytes:
    """Return the bytes of ``file`` without its section, and without what came with it: as before it was put in."""
    if file.section is None:
        return file.before
    after = file.after.removeprefix(b"\r").removeprefix(b"\n")
    before = file.before
    for _number in range(0 if after else file.section.gap):
        before = before.removesuffix(file.eol)
    return before + after


def digest_of(text: str) -> str:
    """Return the digest of a section's text, as the opening mark has it."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_CHARS]


def _check_marks(lines: list[bytes], marks: list[int]) -> tuple[re.Match[bytes], int, int]:
    first = marks[0]
    opening = _OPENING.fullmatch(lines[first].removesuffix(b"\r"))
    if opening is None:
        raise _bad_marks(first, "is no opening mark as gitmem writes it")
    if len(marks) == 1:
        raise _bad_marks(first, "opens a section that nothing closes")
    last = marks[1]
    if _CLOSING.fullmatch(lines[last].removesuffix(b"\r")) is None:
        raise _bad_marks(last, "is no closing mark as gitmem writes it")
    if len(marks) > 2:
        raise _bad_marks(marks[2], "is one mark too many; a file has one section")
    return opening, first, last


def _bad_marks(number: int, what: str) -> StateError:
    return StateError("bad-marks", f"line {number + 1} {what}", _HINT, line=number + 1)


def _find_gap(before: bytes) -> int:
    content = before.removeprefix(codecs.BOM_UTF8)
    if not content or content.replace(b"\r", b"").endswith(b"\n\n"):
        return 0
    return 1 if content.endswith(b"\n") else 2
