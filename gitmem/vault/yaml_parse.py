"""Reads a frontmatter block exactly: ruamel.yaml scans and parses, ``yaml_core`` resolves, every place is kept.

What a memory has no use for and an attacker has is refused: aliases, tags, depth, duplicate names, bad characters.
Importing this costs tens of milliseconds, so it is imported where a block is not simple or is about to be edited.
"""

from __future__ import annotations

from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.scanner import Scanner

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.vault.yaml_core import MAX_DEPTH, MAX_VALUES, Block, Entry, Node, resolve_plain

_COLON = late(r"(?:[ \t]*+:)?")
# Printable to Obsidian, but a line break or forbidden to ruamel.yaml: DEL, C1, NEL, LS, PS, a BOM within the text.
_ODD = late("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_CONTROL = late("[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")


def parse_block(text: str) -> Block:
    """Return the properties in ``text``, the lines between two ``---``. Line ends may be LF or CRLF.

    Raises ``InputError`` whose field ``line`` counts from 1 within ``text``: ``yaml-syntax``, ``yaml-duplicate-key``,
    ``yaml-alias``, ``yaml-tag``, ``yaml-number-range``, ``yaml-depth``, ``yaml-too-large``, ``yaml-not-a-mapping``,
    ``yaml-character``.
    """
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise InputError("yaml-character", f"the frontmatter holds the control character {control[0]!r}", line=line)
    shielded, restore = _shield(text)
    try:
        return _Builder(shielded, restore).build()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "not YAML"
        raise InputError("yaml-syntax", what, line=mark.line + 1 if mark else 1) from None
    except (YAMLError, ValueError, OverflowError) as error:  # escapes beyond Unicode end in the last two
        raise InputError("yaml-syntax", f"not YAML: {error}".splitlines()[0], line=1) from None


def _shield(text: str) -> tuple[str, dict[int, str]]:
    """Put private-use characters that ``text`` lacks in the place of odd ones, and return the way back."""
    odd = sorted(set(_ODD.findall(text)))
    free = (char for char in map(chr, range(0xE000, 0xF900)) if char not in text)
    table = dict(zip(odd, free, strict=False))
    return text.translate(str.maketrans(table)) if table else text, {ord(new): old for old, new in table.items()}


def _iter_events(text: str) -> Iterator[Event]:
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    events: Iterator[Event] = yaml.parse(text)
    return events


class _Scanner(Scanner):
    """ruamel.yaml's scanner with a bound on flow depth (its time is cubic in it) and with tabs inside lines.

    A tab between tokens or words of one line is white space in YAML 1.2; only as indentation it is an error.
    """

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803 - the base names it
        if len(self.flow_context) >= MAX_DEPTH:
            raise _too_deep(self.reader.get_mark().line + 1)
        super().fetch_flow_collection_start(TokenClass, to_push)

    def scan_to_next_token(self) -> Any:
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and not self._indents():
            self.reader.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:
        length = 0
        while self.reader.peek(length) in " \t":
            length += 1
        blanks = self.reader.prefix(length)
        if "\t" not in blanks:
            return super().scan_plain_spaces(indent, start_mark)
        self.reader.forward(length)
        return super().scan_plain_spaces(indent, start_mark) if self.reader.peek() in "\0\r\n" else [blanks]

    def _indents(self) -> bool:
        reader = self.reader
        length = 1
        while reader.peek(length) in " \t":
            length += 1
        before = reader.buffer[reader.pointer - reader.column : reader.pointer]
        return not before.strip() and reader.peek(length) not in "\0\r\n"


class _Builder:
    """Makes a block from parsing events, one document that is a mapping or nothing."""

    def __init__(self, text: str, restore: dict[int, str]) -> None:
        self._text = text
        self._events = _iter_events(text)
        self._restore = restore
        self._values = 0

    def build(self) -> Block:
        next(self._events)
        start = next(self._events)
        if isinstance(start, StreamEndEvent):
            return Block()
        first = next(self._events)
        if not isinstance(first, MappingStartEvent):
            raise InputError("yaml-not-a-mapping", "the frontmatter is not a set of properties", line=_line(first))
        self._check_plain_node(first)
        entries, _end = self._entries(depth=1)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, StreamEndEvent):
            raise InputError("yaml-syntax", "more than one YAML document in the frontmatter", line=_line(after))
        values = {entry.name: entry.node.value for entry in entries}
        return Block(tuple(entries), first.start_mark.column, bool(first.flow_style), values)

    def _node(self, event: Event, depth: int) -> Node:
        self._check_plain_node(event)
        if depth > MAX_DEPTH:
            raise _too_deep(_line(event))
        self._values += 1
        if self._values > MAX_VALUES:
            raise InputError("yaml-too-large", f"more than {MAX_VALUES} values in the frontmatter", line=_line(event))
        start = event.start_mark.index
        if isinstance(event, ScalarEvent):
            return Node(self._scalar(event), start, event.end_mark.index, event.style or "")
        style = "flow" if getattr(event, "flow_style", False) else "block"
        if isinstance(event, MappingStartEvent):
            entries, end = self._entries(depth)
            values = {entry.name: entry.node.value for entry in entries}
            end = end if style == "flow" else entries[-1].node.end
            return Node(values, start, end, style, entries=tuple(entries))
        items, end = self._items(depth)
        return Node([item.value for item in items], start, end if style == "flow" else items[-1].end, style, items)

    def _items(self, depth: int) -> tuple[tuple[Node, ...], int]:
        items = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return tuple(items), event.end_mark.index

    def _entries(self, depth: int) -> tuple[list[Entry], int]:
        entries: list[Entry] = []
        names = set()
        while not isinstance(key := next(self._events), MappingEndEvent):
            name = self._name(key)
            if name in names:
                message = f"the property {name!r} occurs twice"
                raise InputError("yaml-duplicate-key", message, line=_line(key))
            names.add(name)
            start, end = key.start_mark.index, key.end_mark.index
            node = self._node(next(self._events), depth + 1)
            if node.start == node.end:  # ruamel.yaml places an absent value at the next token, lines further down
                place = end + len(_COLON.match(self._text, end)[0])  # type: ignore[index]
                node = Node(None, place, place, "")
            entries.append(Entry(name, start, end, node))
        return entries, key.end_mark.index

    def _name(self, event: Event) -> str:
        self._check_plain_node(event)
        if not isinstance(event, ScalarEvent):
            message = "a list or mapping stands where a property name should; quote {{…}}"
            raise InputError("yaml-syntax", message, line=_line(event))
        return self._decode(event)

    def _scalar(self, event: ScalarEvent) -> Any:
        text = self._decode(event)
        if event.style:
            return text
        try:
            return resolve_plain(text)
        except InputError as error:
            raise InputError(error.code, error.message, line=_line(event)) from None

    def _decode(self, event: ScalarEvent) -> str:
        text: str = event.value.translate(self._restore) if self._restore else event.value
        if not text.isascii():
            try:  # JSON writes a character beyond the basic plane as two escapes; together they are one character
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
            except UnicodeDecodeError:
                raise InputError("yaml-character", "half of a surrogate pair in a value", line=_line(event)) from None
        if "\0" in text:
            raise InputError("yaml-character", "a NUL character in a value", line=_line(event))
        return text

    @staticmethod
    def _check_plain_node(event: Event) -> None:
        if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor):
            raise InputError(
                "yaml-alias", "YAML anchors and aliases are not read; write the value out", line=_line(event)
            )
        if isinstance(event, (ScalarEvent, MappingStartEvent, SequenceStartEvent)) and event.tag:
            raise InputError("yaml-tag", "YAML tags (!…) are not read; quote the value", line=_line(event))


def _line(event: Event) -> int:
    line: int = event.start_mark.line
    return line + 1


def _too_deep(line: int) -> InputError:
    return InputError("yaml-depth", f"values are nested more than {MAX_DEPTH} deep", line=line)
