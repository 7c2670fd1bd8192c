"""Properties as gitmem writes them: in Obsidian's style, and read the same by it and by readers of YAML 1.1."""

from __future__ import annotations

import datetime
import math
from typing import Any

import frontmatter as python_frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.vault.frontmatter import format_note, parse_note
from gitmem.vault.yaml_parse import parse_block
from gitmem.vault.yaml_write import check_value, format_property, is_date

WRITTEN = [
    ("title", "Run tests with two workers", "title: Run tests with two workers\n"),
    ("title", "A: colon", 'title: "A: colon"\n'),
    ("title", "C# and a #tag", 'title: "C# and a #tag"\n'),
    ("title", 'Say "hi": now', "title: 'Say \"hi\": now'\n"),
    ("title", "it's: \"both\"", 'title: "it\'s: \\"both\\""\n'),
    ("link", "[[Note]]", 'link: "[[Note]]"\n'),
    ("tag", "#t", 'tag: "#t"\n'),
    ("x", "123", 'x: "123"\n'),
    ("x", "true", 'x: "true"\n'),
    ("x", "yes", 'x: "yes"\n'),
    ("x", "12:30", 'x: "12:30"\n'),
    ("x", "1_000", 'x: "1_000"\n'),
    ("x", "", 'x: ""\n'),
    ("x", " x", 'x: " x"\n'),
    ("x", "x:", 'x: "x:"\n'),
    ("x", "-x :y ?z", "x: -x :y ?z\n"),
    ("x", "- x", 'x: "- x"\n'),
    ("x", "---", 'x: "---"\n'),
    ("x", "a\tb", 'x: "a\\tb"\n'),
    ("x", "\x1b[2J\u2028", 'x: "\\x1b[2J\\u2028"\n'),
    ("x", "日本語 😀", "x: 日本語 😀\n"),
    ("day", "2026-11-30", "day: 2026-11-30\n"),
    ("day", "2026-11-30T14:00:00Z", "day: 2026-11-30T14:00:00Z\n"),
    ("day", "2024-13-45", 'day: "2024-13-45"\n'),
    ("day", "2024-1-5", 'day: "2024-1-5"\n'),
    ("x", None, "x:\n"),
    ("x", 5, "x: 5\n"),
    ("x", -0.5, "x: -0.5\n"),
    ("x", 1e20, "x: 1.0e+20\n"),
    ("x", True, "x: true\n"),
    ("x", [], "x: []\n"),
    ("x", {}, "x: {}\n"),
    ("x", ["x", None, 1, "[[y]]", ["a", "b"], {"c": 1, "d": ["e"]}, {}],
     'x:\n  - x\n  - null\n  - 1\n  - "[[y]]"\n  - - a\n    - b\n  - c: 1\n    d:\n      - e\n  - {}\n'),
    ("x", {"a": 1, "b": {"c": None}}, "x:\n  a: 1\n  b:\n    c:\n"),
    ("x", "one\ntwo", "x: |-\n  one\n  two\n"),
    ("x", "one\n\n  two\n", "x: |\n  one\n\n    two\n"),
    ("x", "one\n\n", 'x: "one\\n\\n"\n'),
    ("x", " one\ntwo", 'x: " one\\ntwo"\n'),
    ("x", ["a\nb"], "x:\n  - |-\n    a\n    b\n"),
    ("a: b", 1, '"a: b": 1\n'),
    ("content", "x", "content: x\n"),
]  # fmt: skip

_TEXT = st.text(max_size=25) | st.text(
    st.sampled_from("ab01 :-#'\"\n\t[]{}.,_&*!|>%@`?=~\\eyno\x85\u2028"), max_size=12
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=6
)
_PROPERTIES = st.dictionaries(_TEXT, _VALUES, max_size=4)


@pytest.mark.parametrize(("name", "value", "lines"), WRITTEN)
def test_style(name: str, value: Any, lines: str) -> None:
    assert format_property(name, check_value(value)) == lines
    assert repr(parse_block(lines).values) == repr({name: value})


@settings(max_examples=120, derandomize=True, deadline=None)
@given(_PROPERTIES)
def test_what_is_written_is_read_back(properties: dict[str, Any]) -> None:
    data = _written(properties)
    if data is None:
        return
    note = parse_note(data)
    assert note.problem is None
    assert repr(note.properties) == repr(properties)
    assert note.body == ("\nBody\n" if properties else "Body\n")


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), _VALUES, min_size=1, max_size=3))
def test_python_frontmatter_reads_the_same(properties: dict[str, Any]) -> None:
    properties.pop("content", None)
    data = _written(properties)
    assert data is None or _plain(python_frontmatter.loads(data.decode()).metadata) == _plain(properties)


def test_dates_are_dates_to_readers_of_yaml_1_1() -> None:
    data = format_note({"day": "2026-11-30", "at": "2026-11-30T14:00:00Z", "odd": "2024-13-45"}, "")
    assert python_frontmatter.loads(data.decode()).metadata == {
        "day": datetime.date(2026, 11, 30),
        "at": datetime.datetime(2026, 11, 30, 14, tzinfo=datetime.UTC),
        "odd": "2024-13-45",
    }


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 10**400, "a\0b", "\ud800", b"x", {1}, object(), {1: "x"}, {"a\nb": 1}, {" ": 1}],
)
def test_what_can_not_be_read_back_is_refused(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        check_value({"ok": [value]})
    assert caught.value.code == "bad-property"


def test_depth_is_bounded_where_reading_is() -> None:
    deep: Any = "x"
    for _ in range(48):
        deep = [deep]
    assert parse_block(format_property("a", check_value(deep))).values == {"a": deep}
    with pytest.raises(InputError, match="nested"):
        check_value([deep])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2026-11-30", True),
        ("2026-02-30", False),
        ("2026-11-30T14:00", True),
        ("2026-11-30T14:00:00.123Z", True),
        ("2026-11-30 14:00:00+02:00", True),
        ("20261130", False),
        ("2026-W01-1", False),
        ("2026-11-30T25:00", False),
        ("٢٠٢٦-11-30", False),
    ],
)
def test_dates(text: str, answer: bool) -> None:
    assert is_date(text) is answer


def _written(properties: dict[str, Any]) -> bytes | None:
    """The note, or nothing where a name or value was refused."""
    try:
        return format_note(properties, "Body")
    except InputError:
        return None


def _plain(value: Any) -> Any:
    """Dates as text, so that what a reader of YAML 1.1 makes of them can be compared."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bool | None):
        return repr(value)
    return value.isoformat() if isinstance(value, datetime.date) else value
