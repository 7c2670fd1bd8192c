"""A quick way to read the simple frontmatter that gitmem and Obsidian write; a catalog reads many thousand such blocks.

It answers only where every line has one of a few shapes, and then exactly as ``yaml_core`` would; for all else it
returns ``None``.
"""

from __future__ import annotations

import re

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.vault.yaml_core import MAX_VALUES, resolve_plain

# White space other than the blank, and what ruamel.yaml takes for a line break or refuses.
ODD = "\x00-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\ufffe\uffff"
_NAME = r"[^\W\d][\w./-]{0,60}+(?: [\w./-]{1,60}+){0,8}+"
_PLAIN_ODD = "\x00-\x1f\x7f"  # those of them that are ASCII


def _form_rest(odd: str) -> str:
    return rf"[^{odd}:#]*+(?:(?::(?=[^\s])|(?<=[^\s])#)[^{odd}:#]*+)*+(?<! )"


def _form_value(odd: str) -> str:
    return rf"[^{odd} \-?:,\[\]{{}}#&*!|>'\"%@`]{_form_rest(odd)}|\"[^\"\\{odd}]*+\"|'[^'{odd}]*+'|\[\]"


def _form_line(odd: str) -> str:
    value = _form_value(odd)
    return rf"^(?:({_NAME}):(?: ({value}))?|( {{0,8}}+- )({value})|(.+))$"


REST = _form_rest(ODD)
"""How a plain scalar goes on after its first character."""
VALUE = _form_value(ODD)
_LINE = late(_form_line(ODD), re.MULTILINE, plain=_form_line(_PLAIN_ODD))
MAY_NOT_BE_ITSELF = frozenset("0123456789+-.~nNtTfF\"'[")
"""With what a value begins that may not be the text that it looks like."""


def find_values(block: str) -> dict[str, Any] | None:
    """Return the properties of ``block`` (LF line ends) by name, in order, or ``None`` where it is not simple."""
    if len(block) > 2 * MAX_VALUES:  # long enough to hold too many
        return None
    try:
        return _find_values(block)
    except InputError:
        return None  # a number out of range; the exact reader knows its line


def _find_values(block: str) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    names = 0
    awaits_list = ""
    items: list[Any] = []
    indent = ""
    for name, value, dash, item, other in _LINE.findall(block):
        if name:
            names += 1
            awaits_list, indent = ("", "") if value else (name, "")
            values[name] = (value if value[0] not in MAY_NOT_BE_ITSELF else resolve(value)) if value else None
        elif dash:
            if not awaits_list or dash != (indent or dash):
                return None
            if not indent:
                items = values[awaits_list] = []
                indent = dash
            items.append(item if item[0] not in MAY_NOT_BE_ITSELF else resolve(item))
        elif other:
            return None
    return values if len(values) == names else None


def resolve(text: str) -> Any:
    """Return what the scalar ``text`` of the form ``VALUE`` means. Raises ``InputError`` (``yaml-number-range``)."""
    if text[0] in "\"'":
        return text[1:-1]
    return [] if text == "[]" else resolve_plain(text)
