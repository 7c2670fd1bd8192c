"""Edits of JSON text that change what they are about and leave every other character. Pure.

A place is a tuple of names and positions that leads from the root to a value.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gitmem.hosts.install.json_text import Node, NotJsonError, parse_json, skip_blanks

Place = tuple[str | int, ...]
_INDENT = re.compile(r"\n([ \t]+)(?=\S)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def find_node(text: str, place: Place) -> Node | None:
    """Return the value at ``place``, ``None`` where there is none. Raises ``NotJsonError``.

    So it does for a value on the way that is of another kind than the place has it.
    """
    node: Node | None = parse_json(text)
    for step in place:
        if node is None:
            return None
        wanted = "object" if isinstance(step, str) else "list"
        if node.kind != wanted:
            raise NotJsonError(f"where {_say(place)} leads, something else stands than {_KINDS[wanted]}")
        node = node.find(step) if isinstance(step, str) else node.get_item(step)
    return node


def is_blank(text: str) -> bool:
    """Tell whether there is nothing in ``text`` but blank space and comments. Raises ``NotJsonError``."""
    return skip_blanks(text, 0) == len(text)


def set_value(text: str, place: Place, value: Any) -> str:
    """Return ``text`` with ``value`` at ``place``; what is missing on the way is made, objects and lists.

    A position one behind a list's last adds to the list. An empty text is one without members. A value that is there
    is replaced where it stands; what is new comes last. Raises ``NotJsonError``.
    """
    if is_blank(text):
        text += f"{'' if text.endswith(chr(10)) or not text else chr(10)}{{}}{_find_line_end(text)}"
    there = find_node(text, place)
    if there is not None:
        return text[: there.start] + _format(value, text, _indent_at(text, there.start)) + text[there.end :]
    depth = len(place) - 1
    while (around := find_node(text, place[:depth])) is None:
        depth -= 1
    for step in reversed(place[depth + 1 :]):
        value = {step: value} if isinstance(step, str) else [value]
    return _add(text, around, place[depth], value)


def remove_value(text: str, place: Place, *, keeps: int = 0) -> str:
    """Return ``text`` without the value at ``place``, and without objects and lists on the way that it leaves empty.

    The first ``keeps`` of these stay, and the root always does. Comments that stand before the value stay, too.
    Nothing changes where there is no such value. Raises ``NotJsonError``.
    """
    if find_node(text, place) is None:
        return text
    while True:
        around = find_node(text, place[:-1])
        assert around is not None
        at = around.names.index(str(place[-1])) if around.kind == "object" else int(place[-1])
        text = _take(text, around, at)
        place = place[:-1]
        left = find_node(text, place)
        assert left is not None
        if left.children or len(place) <= keeps or _COMMENT.search(text, left.start, left.end):
            return text
        if not place:
            return text


def _add(text: str, around: Node, step: str | int, value: Any) -> str:
    if (around.kind == "object") != isinstance(step, str):
        raise NotJsonError("something else stands there than what would take the entry")
    name = f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(step, str) else ""
    close = around.end - 1
    is_one_line = bool(around.children) and "\n" not in text[around.start : around.end]
    if is_one_line:
        last = around.children[-1].end
        return f"{text[:last]}, {name}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    end = _find_line_end(text)
    outer = _indent_at(text, around.start)
    inner = _indent_at(text, around.starts[-1]) if around.children else outer + _find_indent(text)
    entry = f"{end}{inner}{name}{_format(value, text, inner)}"
    behind = _behind_last_word(text, around)  # comments after the last stay with it
    rest = text[behind:close]
    if "\n" not in rest:
        rest = f"{end}{outer}"
    if not around.children:
        return f"{text[:behind]}{entry}{rest}{text[close:]}"
    if around.commas[-1] is not None:
        return f"{text[:behind]}{entry},{rest}{text[close:]}"
    last = around.children[-1].end
    return f"{text[:last]},{text[last:behind]}{entry}{rest}{text[close:]}"


def _take(text: str, around: Node, at: int) -> str:
    child, comma = around.children[at], around.commas[at]
    start = _before_words(text, around, at)
    if comma is not None:
        text = text[:start] + text[comma + 1 :]
    else:
        text = text[:start] + text[child.end :]
        before = around.commas[at - 1] if at else None
        if before is not None:
            text = text[:before] + text[before + 1 :]
    close = around.start + 1
    blank = re.compile(r"[ \t\r\n]*").match(text, close)
    if len(around.children) == 1 and blank is not None and text[blank.end() : blank.end() + 1] in ("}", "]"):
        return text[:close] + text[blank.end() :]  # nothing is left in it but blank space
    return text


def _before_words(text: str, around: Node, at: int) -> int:
    """Return where the blank space before a member begins: behind the bracket, comma or comment before it."""
    begin = around.start + 1
    if at:
        comma = around.commas[at - 1]
        assert comma is not None
        begin = comma + 1
    return _behind_comments(text, begin, around.starts[at])


def _behind_last_word(text: str, around: Node) -> int:
    begin = around.start + 1
    if around.children:
        comma = around.commas[-1]
        begin = around.children[-1].end if comma is None else comma + 1
    return _behind_comments(text, begin, around.end - 1)


def _behind_comments(text: str, begin: int, end: int) -> int:
    for comment in _COMMENT.finditer(text, begin, end):
        begin = comment.end()
    return begin


def _format(value: Any, text: str, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_find_indent(text)).split("\n")
    return f"{_find_line_end(text)}{indent}".join(lines)


def _find_indent(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _find_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _say(place: Place) -> str:
    return " > ".join(map(str, place)) or "the whole"


_KINDS = {"object": "an object", "list": "a list"}
