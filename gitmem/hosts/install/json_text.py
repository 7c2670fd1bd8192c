"""JSON as people write it into configuration files: with comments, commas behind the last, and any spacing. Pure.

Text becomes a tree that knows where each value stands, so that an edit replaces some characters and leaves the rest.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 200
"""How deeply a file may be nested. Real ones are a dozen levels deep."""
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_BARE = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BARE_ENDS = re.compile(r"[\w.+-]")
_BLANKS = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class NotJsonError(ValueError):
    """The text is no JSON, not even with comments; the message says where, and quotes nothing of it."""


@dataclass(slots=True)
class Node:
    """One value and where it stands: ``text[start:end]``.

    Of an object ``names`` are the names of its members, in order, with ``children`` their values; of a list
    ``children`` are its items. ``starts`` is where each begins, with its name; ``commas`` where the comma behind each
    is, ``None`` for the last without one.
    """

    kind: str
    start: int
    end: int = 0
    value: Any = None
    names: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    commas: list[int | None] = field(default_factory=list)

    def find(self, name: str) -> Node | None:
        """Return the member ``name`` of an object, ``None`` for none.

        Raises ``NotJsonError`` where it stands twice: programs differ in which of them counts.
        """
        if self.names.count(name) > 1:
            raise NotJsonError(f"the name {json.dumps(name)} stands twice in one object")
        return self.children[self.names.index(name)] if name in self.names else None

    def get_item(self, at: int) -> Node | None:
        """Return the item of a list at the position ``at`` (from 0), ``None`` behind its end."""
        return self.children[at] if at < len(self.children) else None

    def to_value(self) -> Any:
        """Return the plain value, as ``json.loads`` would."""
        if self.kind == "object":
            return {name: child.to_value() for name, child in zip(self.names, self.children, strict=True)}
        if self.kind == "list":
            return [child.to_value() for child in self.children]
        return self.value


@functools.lru_cache(maxsize=4)
def parse_json(text: str) -> Node:
    """Return the tree of ``text``; it is shared, so nobody changes it. Raises ``NotJsonError``."""
    reader = _Reader(text)
    root = reader.read_value(reader.skip(0), 0)
    end = reader.skip(root.end)
    if end != len(text):
        raise reader.wrong("something follows its end", end)
    return root


def skip_blanks(text: str, at: int) -> int:
    """Return the first position from ``at`` on that is neither blank space nor in a comment. May raise."""
    return _Reader(text).skip(at)


def has_comments(text: str) -> bool:
    """Tell whether there is a comment in ``text``, which is JSON."""
    return _COMMENT.search(_STRING.sub("", text)) is not None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, reason: str, at: int) -> NotJsonError:
        return NotJsonError(f"line {self.text.count(chr(10), 0, at) + 1}: {reason}")

    def skip(self, at: int) -> int:
        while True:
            match = _BLANKS.match(self.text, at)
            at = match.end() if match else at
            if not self.text.startswith("/", at):
                return at
            comment = _COMMENT.match(self.text, at)
            if comment is None:
                raise self.wrong("a comment has no end", at)
            at = comment.end()

    def read_value(self, at: int, depth: int) -> Node:
        char = self.text[at : at + 1]
        if char in ("{", "["):
            if depth >= MAX_DEPTH:
                raise self.wrong(f"it is nested more than {MAX_DEPTH} deep", at)
            return self._read_members(at, depth)
        if char == '"':
            return self._read_string(at)
        match = _BARE.match(self.text, at)
        if match is None or _BARE_ENDS.match(self.text, match.end()):
            raise self.wrong("a value is missing or is none of JSON's", at)
        return Node("bare", at, match.end(), json.loads(match[0]))

    def _read_string(self, at: int) -> Node:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self.wrong("a text is not well formed or has no end", at)
        return Node("text", at, match.end(), json.loads(match[0]))

    def _read_members(self, at: int, depth: int) -> Node:
        is_object = self.text[at] == "{"
        node = Node("object" if is_object else "list", at)
        close = "}" if is_object else "]"
        at = self.skip(at + 1)
        while not self.text.startswith(close, at):
            node.starts.append(at)
            if is_object:
                if not self.text.startswith('"', at):
                    raise self.wrong("a name in quotes is missing", at)
                name = self._read_string(at)
                node.names.append(name.value)
                at = self.skip(name.end)
                if not self.text.startswith(":", at):
                    raise self.wrong("a colon is missing", at)
                at = self.skip(at + 1)
            child = self.read_value(at, depth + 1)
            node.children.append(child)
            at = self.skip(child.end)
            has_comma = self.text.startswith(",", at)
            node.commas.append(at if has_comma else None)
            if not has_comma and not self.text.startswith(close, at):
                raise self.wrong("a comma or a bracket is missing", at)
            at = self.skip(at + 1) if has_comma else at
        node.end = at + 1
        return node
