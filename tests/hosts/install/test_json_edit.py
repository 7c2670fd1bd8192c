"""Edits of JSON with comments: what they are about changes, and no other character."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.hosts.install.json_edit import Place, find_node, remove_value, set_value
from gitmem.hosts.install.json_text import MAX_DEPTH, NotJsonError, parse_json


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        ("{}", ("a",), '{\n  "a": 1\n}'),
        ("", ("a",), '{\n  "a": 1\n}\n'),
        ("// only words", ("a",), '// only words\n{\n  "a": 1\n}\n'),
        ('{"b": 2}\n', ("a",), '{"b": 2, "a": 1}\n'),
        ('{\n\t"b": 2\n}\n', ("a",), '{\n\t"b": 2,\n\t"a": 1\n}\n'),
        ('{\n    "b": 2, // why\n}\n', ("a",), '{\n    "b": 2, // why\n    "a": 1,\n}\n'),
        ('{\n    "b": 2 // why\n}\n', ("a",), '{\n    "b": 2, // why\n    "a": 1\n}\n'),
        ('{\r\n  "b": 2\r\n}\r\n', ("a",), '{\r\n  "b": 2,\r\n  "a": 1\r\n}\r\n'),
        ('{\n  "b": 2 }', ("a",), '{\n  "b": 2,\n  "a": 1\n}'),
        ("{ /* c */ }", ("a",), '{ /* c */\n  "a": 1\n}'),
        ('{\n  "l": [\n    1\n  ]\n}', ("l", 1), '{\n  "l": [\n    1,\n    1\n  ]\n}'),
        ('{\n  "l": {}\n}', ("l", "m", 0), '{\n  "l": {\n    "m": [\n      1\n    ]\n  }\n}'),
        ('{\n  "a": [2, /* two */ 3] // c\n}', ("a",), '{\n  "a": 1 // c\n}'),
    ],
)
def test_setting_a_value(before: str, place: Place, after: str) -> None:
    assert set_value(before, place, 1) == after


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        ('{\n  "a": 1\n}', ("a",), "{}"),
        ('{"b": 2, "a": 1}', ("a",), '{"b": 2}'),
        ('{"a": 1, "b": 2}', ("a",), '{ "b": 2}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
        ('{\n  "b": 2, // why\n  "a": 1\n}', ("a",), '{\n  "b": 2 // why\n}'),
        ('{\n  "b": 2, // why\n  "a": 1,\n}', ("a",), '{\n  "b": 2, // why\n}'),
        ('{\n  // mine\n  "a": 1\n}', ("a",), "{\n  // mine\n}"),
        ('{"x": {"y": {"a": 1}}, "b": 2}', ("x", "y", "a"), '{ "b": 2}'),
        ('{"x": {"y": {"a": 1 /* c */}}}', ("x", "y", "a"), '{"x": {"y": { /* c */}}}'),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (5,), "[1, 2, 3]"),
    ],
)
def test_removing_a_value(before: str, place: Place, after: str) -> None:
    assert remove_value(before, place) == after


def test_objects_on_the_way_can_be_kept() -> None:
    assert remove_value('{"x": {"y": {"a": 1}}}', ("x", "y", "a"), keeps=2) == '{"x": {"y": {}}}'


@pytest.mark.parametrize(
    "text",
    [
        *("{", "}", "{'a': 1}", "{a: 1}", '{"a" 1}', '{"a": 1 "b": 2}', "[1 2]", "[,]", "{,}", '{"a": }', "1 2", "01"),
        *("NaN", "Infinity", "+1", "0x1", "truex", '"a', '"\\x"', '"a\nb"', "/* a", "[1]]", "", "/", '{"a": 1}}'),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        parse_json(text)


def test_depth_is_bounded() -> None:
    parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(NotJsonError):
        parse_json("[" * 100_000)


def test_a_name_that_stands_twice_is_refused_where_it_matters() -> None:
    text = '{"a": {"x": 1}, "b": 1, "b": 2}'
    assert set_value(text, ("a", "y"), 1) == '{"a": {"x": 1, "y": 1}, "b": 1, "b": 2}'
    with pytest.raises(NotJsonError, match='the name "b" stands twice'):
        set_value(text, ("b", "y"), 1)


@pytest.mark.parametrize("place", [("a", "b"), ("a", 0), (0,), ("l", "x")])
def test_another_kind_of_value_on_the_way_is_refused(place: Place) -> None:
    with pytest.raises(NotJsonError):
        set_value('{"a": 1, "l": []}', place, 1)


BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n", " // c\n", ' /* c, } ] " */ ', "\n// a: {\n\t"])
NAMES = st.text(max_size=6)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)


@st.composite
def spell(draw: st.DrawFn, value: Any) -> str:
    """JSON for ``value`` as anybody may write it."""
    blank = lambda: draw(BLANKS)  # noqa: E731
    if isinstance(value, dict):
        parts = [
            f"{blank()}{json.dumps(name)}{blank()}:{blank()}{draw(spell(one))}{blank()}" for name, one in value.items()
        ]
    elif isinstance(value, list):
        parts = [f"{blank()}{draw(spell(one))}{blank()}" for one in value]
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    comma = "," + blank() if parts and draw(st.booleans()) else ""
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{','.join(parts) or blank()}{comma}{closing}"


VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.data(), OBJECTS)
def test_any_spelling_reads_as_what_it_says(data: st.DataObject, value: dict[str, Any]) -> None:
    text = data.draw(BLANKS) + data.draw(spell(value)) + data.draw(BLANKS)
    assert parse_json(text).to_value() == value


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data(), OBJECTS, VALUES)
def test_what_is_set_and_removed_leaves_the_rest(data: st.DataObject, value: dict[str, Any], new: Any) -> None:
    text = data.draw(BLANKS) + data.draw(spell(value)) + data.draw(BLANKS)
    value.pop("ours", None)
    value.pop("deep", None)
    for place, wanted in ((("ours",), {"ours": new}), (("deep", "x", 0, "y"), {"deep": {"x": [{"y": new}]}})):
        edited = set_value(text, place, new)
        assert parse_json(edited).to_value() == value | wanted
        assert comments_of(edited, text)
        left = remove_value(edited, place)
        assert parse_json(left).to_value() == value
        assert find_node(left, place) is None
        assert squeeze(left) == squeeze(text)


def comments_of(edited: str, text: str) -> bool:
    """Whether every character of ``text`` but blank space stands in ``edited``, in the same order."""
    rest = iter(edited)
    return all(char in rest for char in text if not char.isspace())


def squeeze(text: str) -> str:
    return "".join(text.split())
