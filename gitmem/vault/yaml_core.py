"""YAML 1.2 core: what a plain scalar means to Obsidian, and the form in which parsed blocks are handed round.

No Python library resolves the core schema as Obsidian's does (``yes``, ``12:30``, ``1_000`` and dates are strings,
``0123`` is 123; facts, A.1), so that is done here. ``yaml_parse`` and ``yaml_fast`` read whole blocks.
"""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.values import dataclass, field

MAX_DEPTH = 50
MAX_VALUES = 4096
"""More values in one block cost seconds to read and are no person's properties."""
MAX_NUMBER = 1.7976931348623157e308
"""The largest number that Obsidian can hold; what is written larger it reads as infinite."""

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = late(r"[-+]?[0-9]+")
_OCTAL = late(r"0o[0-7]+")
_HEXADECIMAL = late(r"0x[0-9a-fA-F]+")
_FLOAT = late(
    r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+",
)
_NOT_FINITE = late(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands: ``text[start:end]``, comments and line end not included.

    ``style`` is ``"block"`` or ``"flow"`` for a list or mapping, else the scalar's mark: empty when plain, ``"``,
    ``'``, ``|`` or ``>``; the text of the last two runs on to the start of a line. ``items`` holds a list's nodes,
    ``entries`` what a mapping has.
    """

    value: Any
    start: int
    end: int
    style: str
    items: tuple[Node, ...] = ()
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One property: its name as written (``2024`` and ``true`` too are names), the name's place, and its value."""

    name: str
    start: int
    end: int
    node: Node


@dataclass(frozen=True, slots=True)
class Block:
    """The properties of one block in order. ``column`` is where their names start; ``is_flow`` marks ``{…}`` form."""

    entries: tuple[Entry, ...] = ()
    column: int = 0
    is_flow: bool = False
    values: dict[str, Any] = field(default_factory=dict)


def resolve_plain(text: str) -> Any:
    """Return what the plain scalar ``text`` means in YAML 1.2's core schema: None, bool, int, float or ``text``.

    Raises ``InputError`` (``yaml-number-range``) for a number that is not finite.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if text[4:5] == "-" and text[:4].isdigit():  # a date; no number goes on like that
        return text
    if len(text) > _MAX_DIGITS and _is_number(text):
        raise _out_of_range(text)
    number: int | float
    if _INTEGER.fullmatch(text):
        number = int(text)
    elif _OCTAL.fullmatch(text):
        number = int(text, 8)
    elif _HEXADECIMAL.fullmatch(text):
        number = int(text, 16)
    elif _FLOAT.fullmatch(text):
        number = float(text)
    elif _NOT_FINITE.fullmatch(text):
        raise _out_of_range(text)
    else:
        return text
    if abs(number) > MAX_NUMBER:
        raise _out_of_range(text)
    return number


def _is_number(text: str) -> bool:
    return any(form.fullmatch(text) for form in (_INTEGER, _OCTAL, _HEXADECIMAL, _FLOAT))


def _out_of_range(text: str) -> InputError:
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return InputError("yaml-number-range", f"the number {shown} is not finite; quote it if it is text")
