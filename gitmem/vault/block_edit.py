"""Changes the lines of single properties in a frontmatter block and leaves every other character alone."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.typed import Any
from gitmem.vault.yaml_core import Block, Entry, Node
from gitmem.vault.yaml_write import format_item, format_property, format_scalar, format_value


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two property values read alike: equal and of the same types throughout (``1`` is not ``true``)."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same_value, one.values(), other.values()))
    return bool(one == other)


def edit_block(text: str, block: Block, changes: Mapping[str, Any], eol: str) -> str:
    """Return ``text`` with ``changes`` made; ``block`` is what ``text`` parsed to, ``None`` takes a property out.

    A property that is there keeps its place, its name as written and, where old and new value are each on one line,
    the comment behind it; items of a block list that stay keep their lines. New ones come last in the order given.
    """
    edits: list[tuple[int, int, str]] = []
    for entry in block.entries:
        value = changes.get(entry.name)
        if entry.name in changes and (value is None or not same_value(value, entry.node.value)):
            edits.append(_edit(text, entry, value, eol))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    names = {entry.name for entry in block.entries}
    added = (format_property(name, value) for name, value in changes.items() if name not in names and value is not None)
    return text + _lines("".join(added), block.column, eol)


def _edit(text: str, entry: Entry, value: Any, eol: str) -> tuple[int, int, str]:
    """Return the edit that gives ``entry`` another value: replace ``text[start:end]`` by a new piece."""
    first, end = _line_start(text, entry.start), _end_of_lines(text, entry.node)
    if value is None:
        return first, end, ""
    node, column = entry.node, entry.start - first
    if isinstance(value, list) and value and node.items and node.style == "block":
        items = _edit_items(text, node, value, eol)
        if items:
            return items
    after_name = format_value(value, 2)
    if "\n" not in after_name and "\n" not in text[entry.end : node.end]:
        gap = "" if text[node.start - 1] == " " else " "
        return node.start, node.end, gap + format_scalar(value)
    name = text[entry.start : entry.end]
    return first, end, text[first : entry.start] + _lines(f"{name}:{after_name}\n", column, eol).lstrip(" ")


def _edit_items(text: str, node: Node, values: list[Any], eol: str) -> tuple[int, int, str] | None:
    """Return the edit that makes a block list hold ``values``, old lines kept for the items that stay."""
    first = _line_start(text, node.start)
    column = node.start - first
    if text[first : node.start].strip():
        return None
    old: list[tuple[Any, str]] = []
    start = first
    for item in node.items:
        end = _end_of_lines(text, item)
        old.append((item.value, text[start:end]))
        start = end
    lines = []
    for value in values:
        kept = next((pair for pair in old if same_value(pair[0], value)), None)
        if kept:
            old.remove(kept)
        lines.append(kept[1] if kept else _lines(f"- {format_item(value, 2)}\n", column, eol))
    return first, start, "".join(lines)


def _lines(text: str, column: int, eol: str) -> str:
    """Return LF lines moved right by ``column`` and with the block's own line ends."""
    return "".join(f"{' ' * column if line else ''}{line}{eol}" for line in text.split("\n")[:-1])


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _end_of_lines(text: str, node: Node) -> int:
    """Return where the last line of ``node`` ends. Blank lines that follow are layout, not the value's."""
    end = node.end
    if end > node.start and text[end - 1] == "\n":
        end = node.start + len(text[node.start : end].rstrip())
    return text.find("\n", end) + 1 or len(text)
