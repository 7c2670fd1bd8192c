"""``policy.yaml``: the vault's policy as people write it. Read strictly, and never written but whole.

Reading takes nothing that ``schema/policy.schema.json`` refuses; that one is compiled only where a policy is written,
because compiling it takes as long as a small command. What it can't say in a line a person can find, this does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from gitmem.errors import InputError
from gitmem.model.authority import Action
from gitmem.model.policy import (
    EVIDENCE_FORMS,
    MAX_FILE_BYTES,
    MAX_RULES,
    MODEL_ACTIONS,
    Bounds,
    EvidenceRule,
    Origin,
    Policy,
)
from gitmem.model.record import EPISODIC_KINDS, KNOWLEDGE_KINDS, Kind
from gitmem.patterns import late
from gitmem.resources import read_text
from gitmem.text import fold_tag, make_visible, shorten
from gitmem.typed import Any, NoReturn
from gitmem.vault.layout import POLICY
from gitmem.vault.schema import validate
from gitmem.vault.yaml_core import Block, Entry, Node

MAX_WORDS = 64
MAX_SESSIONS = 32
_HINT = "See docs/policy.md for what may stand there; `gitmem policy check` tries the file."
_RULE_MEMBERS = ("id", "kinds", "tags", "evidence", "sessions")
_NUMBERS: dict[str, tuple[int, int]] = dict.fromkeys(
    (
        *("observations_per_session", "observations_per_day", "candidates_per_session"),
        *("candidates_waiting", "decided_kept"),
    ),
    (0, 1_000_000),
) | {"candidate_days": (1, 3650), "body_chars": (0, 262_144)}
_KINDS = sorted(KNOWLEDGE_KINDS | EPISODIC_KINDS)
_RULE_ID = late(r"[a-z0-9][a-z0-9-]{0,63}")
_NAMESPACE = late(r"[^\W_][\w-]{0,99}")
_FIRST_PART = "first part of a tag"
_TAG = late(r"(?=.{1,100}\Z)[^\W_][\w-]*(/[^\W_][\w-]*)*")


def parse_policy(data: bytes) -> Policy:
    """Return the policy in ``data``, with the defaults for what it leaves out.

    Raises ``InputError`` (``bad-policy``) with the ``line``, from 1, where one is known.
    """
    text = _decode(data)
    return _Reader(text).read(_parse(text))


def check_policy_schema(data: bytes) -> None:
    """Check against the schema what ``parse_policy`` read already. Raises ``InputError`` (``schema``)."""
    validate("policy", _parse(_decode(data)).values)


def default_policy() -> bytes:
    """Return the file that says what holds where there is none, every member with what it means."""
    return read_text("templates", f"vault/{POLICY}").encode()


def _decode(data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise _bad(f"the file is larger than {MAX_FILE_BYTES >> 10} KiB", None)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad("the file is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _parse(text: str) -> Block:
    from gitmem.vault.yaml_parse import parse_block

    try:
        return parse_block(text)
    except InputError as error:
        raise _bad(error.message.replace("the frontmatter", "the file"), error.fields.get("line")) from None


def _bad(message: str, line: int | None) -> InputError:
    where = f"{POLICY}, line {line}" if line else POLICY
    fields = {"line": line} if line else {}
    return InputError("bad-policy", f"{where}: {shorten(make_visible(message), 300)}", _HINT, **fields)


class _Reader:
    """Makes a policy of the members of one file, and says in which line something is wrong."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ids: set[str] = set()

    def read(self, block: Block) -> Policy:
        readers: dict[str, Callable[[Entry], Any]] = {
            "model_may": lambda entry: frozenset(map(Action, self._known(entry, sorted(MODEL_ACTIONS)))),
            "kinds": lambda entry: frozenset(self._kinds(entry)),
            "namespaces": lambda entry: self._tags(entry, _NAMESPACE),
            "evidence": lambda entry: self._known(entry, EVIDENCE_FORMS, least=1),
            "bounds": self._bounds,
            "accept": self._rules,
            "promote": self._rules,
        }
        found = self._by_name(block.entries, readers)
        return Policy(**{name: readers[name](entry) for name, entry in found.items()}, origin=Origin.FILE)

    def _bounds(self, entry: Entry) -> Bounds:
        found = self._mapping(entry.node, "bounds", _NUMBERS)
        return Bounds(**{name: self._number(entry, *_NUMBERS[name]) for name, entry in found.items()})

    def _rules(self, entry: Entry) -> tuple[EvidenceRule, ...]:
        return tuple(self._rule(item, f"a rule of {entry.name}") for item in self._items(entry, 0, MAX_RULES))

    def _rule(self, node: Node, what: str) -> EvidenceRule:
        found = self._mapping(node, what, _RULE_MEMBERS)
        for name in ("id", "evidence"):
            if name not in found:
                self._fail(f"{what} needs {name}", node.start)
        return EvidenceRule(
            id=self._rule_id(found["id"]),
            kinds=self._kinds(found["kinds"]) if "kinds" in found else (),
            tags=self._tags(found["tags"], _TAG, least=1) if "tags" in found else (),
            evidence=self._known(found["evidence"], EVIDENCE_FORMS, least=1),
            sessions=self._number(found["sessions"], 1, MAX_SESSIONS) if "sessions" in found else 1,
        )

    def _rule_id(self, entry: Entry) -> str:
        value = entry.node.value
        if not isinstance(value, str) or not _RULE_ID.fullmatch(value):
            self._fail("an id is made of small letters, digits and -, at most 64; quote a number", entry.start)
        if value in self._ids:
            self._fail(f"the id {value} occurs twice", entry.start)
        self._ids.add(value)
        return value

    def _kinds(self, entry: Entry) -> tuple[Kind, ...]:
        return tuple(map(Kind, self._known(entry, _KINDS, least=1)))

    def _known(self, entry: Entry, known: Iterable[str], *, least: int = 0) -> tuple[str, ...]:
        words = self._words(entry, least)
        for word, node in words.items():
            if word not in known:
                self._fail(f"{word!r} can't stand in {entry.name}; it takes {', '.join(known)}", node.start)
        return tuple(words)

    def _tags(self, entry: Entry, form: re.Pattern[str], *, least: int = 0) -> tuple[str, ...]:
        words = self._words(entry, least)
        for word, node in words.items():
            if not form.fullmatch(word):
                self._fail(f"{word!r} in {entry.name} is no {'tag' if form is _TAG else _FIRST_PART}", node.start)
        return tuple(dict.fromkeys(map(fold_tag, words)))

    def _words(self, entry: Entry, least: int) -> dict[str, Node]:
        words: dict[str, Node] = {}
        for node in self._items(entry, least, MAX_WORDS):
            if not isinstance(node.value, str):
                self._fail(f"{entry.name} is a list of words; quote what only looks like something else", node.start)
            if node.value in words:
                self._fail(f"{entry.name} names {node.value!r} twice", node.start)
            words[node.value] = node
        return words

    def _items(self, entry: Entry, least: int, most: int) -> tuple[Node, ...]:
        node = entry.node
        if not isinstance(node.value, list):
            self._fail(f"{entry.name} is a list: [one, two], or one a line behind -", entry.start)
        if not least <= len(node.items) <= most:
            self._fail(f"{entry.name} has {len(node.items)} items; it takes {least} to {most}", entry.start)
        return node.items

    def _number(self, entry: Entry, least: int, most: int) -> int:
        value = entry.node.value
        if type(value) is not int or not least <= value <= most:
            self._fail(f"{entry.name} is a whole number from {least} to {most}", entry.start)
        return int(value)

    def _mapping(self, node: Node, what: str, known: Iterable[str]) -> dict[str, Entry]:
        if not isinstance(node.value, dict):
            self._fail(f"{what} is made of names and values, each on a line of its own", node.start)
        return self._by_name(node.entries, known)

    def _by_name(self, entries: Iterable[Entry], known: Iterable[str]) -> dict[str, Entry]:
        names = tuple(known)
        for entry in entries:
            if entry.name not in names:
                near = get_close_matches(entry.name, names, 1)
                told = f"did you mean {near[0]}?" if near else f"it takes {', '.join(names)}"
                self._fail(f"{entry.name!r} means nothing here; {told}", entry.start)
        return {entry.name: entry for entry in entries}

    def _fail(self, message: str, place: int) -> NoReturn:
        raise _bad(message, self._text.count("\n", 0, place) + 1)
