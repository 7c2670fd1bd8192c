"""Whether a note is private: the one rule for records, for a person's plain notes and for what can't be read. Pure.

INV-PRIVATE: it fails closed; what somebody meant to hold back must not be shown because of a slip beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.errors import InputError
from gitmem.fences import find_conflict
from gitmem.model.ids import ALPHABET, ID_CHARS, RecordId
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.lookalike import find_lookalike
from gitmem.vault.note_text import decode

PRIVATE = "private"
_MAX_NAME_CHARS = 80
_ESCAPE = late(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U000([0-9A-Fa-f]{5}))")
_TAG_OR_ANCHOR = late(r"(?:[!&]\S*\s+)+")
_ID = late(rb"gitmem_id\W{0,8}([%b]{%d})(?![0-9A-Za-z])" % (ALPHABET.encode(), ID_CHARS))


def says_private(properties: Mapping[str, Any]) -> bool:
    """Tell whether a record's properties hold it back in a place that is not theirs for it, such as ``<<``."""
    return any(name == PRIVATE and value not in (None, False) for name, value in _iter_inner(list(properties.values())))


def may_be_private(data: bytes) -> bool:
    """Tell whether a note that is no record has a property ``private``, whatever its value, or may have one.

    The properties are asked where they can be read, at any depth. Else each line of what may be frontmatter is: the
    whole text where no end of it is found. What is no text may be anything.
    """
    try:
        text = decode(data)
    except InputError:
        return True
    note = parse_note(data)
    if note.properties or (note.has_block and note.problem is None):
        return any(_is_name(name) for name, _value in _iter_inner(note.properties))
    return any(_is_said(line) for line in _list_lines(text))


def find_ids(data: bytes) -> frozenset[RecordId]:
    """Return what stands as ``gitmem_id`` anywhere in a file that can't be read as a record."""
    return frozenset(RecordId(found.decode()) for found in _ID.findall(data))


def _iter_inner(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            if isinstance(item, (Mapping, list)):
                yield from _iter_inner(item)


def _list_lines(text: str) -> list[str]:
    """Return the lines that may be frontmatter, whatever blanks stand before it; all where it has no end.

    All lines of a note in conflict may be: either side may have begun with its block.
    """
    if find_conflict(text) is not None:
        return text.splitlines()
    lines = text.lstrip("\ufeff \t\r\n").splitlines()
    if not lines or lines[0].rstrip() != "---":
        return []
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), len(lines))
    unescaped = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), "\n".join(lines[1:end]))
    return unescaped.splitlines()


def _is_said(line: str) -> bool:
    """Tell whether a line has ``private`` where the name of a property may stand."""
    for piece in line.replace("{", ",").replace("[", ",").split(","):
        name = _TAG_OR_ANCHOR.sub("", piece.partition(":")[0].lstrip(" \t?-<>|+="))
        if _is_name(name.strip(" \t\"'")):
            return True
    return False


def _is_name(name: str) -> bool:
    return name == PRIVATE or find_lookalike(name[:_MAX_NAME_CHARS]) == PRIVATE
