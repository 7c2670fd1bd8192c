"""The exact reader of frontmatter blocks: values as Obsidian's own library gives them, and clean refusals."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.vault.yaml_parse import parse_block

# Each value was checked against npm yaml 2.7, the library in Obsidian.
READ = [
    ("a:\nb: ~\nc: null\nd: NULL\n", {"a": None, "b": None, "c": None, "d": None}),
    (
        "a: yes\nb: on\nc: 12:30\nd: 1_000\ne: 2024-13-45\n",
        {"a": "yes", "b": "on", "c": "12:30", "d": "1_000", "e": "2024-13-45"},
    ),
    ("a: 2020-08-21\nb: 2001-12-14T21:59:43.000Z\n", {"a": "2020-08-21", "b": "2001-12-14T21:59:43.000Z"}),
    ("a: 0123\nb: 0o17\nc: 0x1F\nd: +1\ne: 0b1\n", {"a": 123, "b": 15, "c": 31, "d": 1, "e": "0b1"}),
    ("a: 1e3\nb: .5\nc: 5.\nd: 12e03\n", {"a": 1000.0, "b": 0.5, "c": 5.0, "d": 12000.0}),
    ("a: True\nb: FALSE\nc: tRue\n", {"a": True, "b": False, "c": "tRue"}),
    ("2024: x\ntrue: y\ncreation date: z\n", {"2024": "x", "true": "y", "creation date": "z"}),
    ("<<: x\na: =\n", {"<<": "x", "a": "="}),
    ("content: x\nhandler: y\n", {"content": "x", "handler": "y"}),
    ("a: [[x]]\nb: [c, d:e, 'f']\n", {"a": [["x"]], "b": ["c", "d:e", "f"]}),
    ("a:\n- b\n-\n- #tag\n- Name: text\n", {"a": ["b", None, None, {"Name": "text"}]}),
    ("a: b#c\nb: c #d\n# e\n", {"a": "b#c", "b": "c"}),
    ("a: |\n  x\n  ---\n   y\n\nb: >-\n x\n y\n", {"a": "x\n---\n y\n", "b": "x y"}),
    ("a: \"x\n  y\"\nb: 'it''s'\nc: \"\\/\"\n", {"a": "x y", "b": "it's", "c": "/"}),
    ('a: "\\ud83d\\ude00"\n', {"a": "😀"}),
    ("a: b\tc\nb:\tc\t# d\nc: [1,\t2]\n\t\n", {"a": "b\tc", "b": "c", "c": [1, 2]}),
    (
        "a: x\u2028y\nb: \x7f\nc: \x85\nd: \u00a0e\ufeff\n",
        {"a": "x\u2028y", "b": "\x7f", "c": "\x85", "d": "\u00a0e\ufeff"},
    ),
    ("a: \ue000\u2028\n", {"a": "\ue000\u2028"}),
    ("a: 1\r\nb: |\r\n  x\r\n  y\r\n", {"a": 1, "b": "x\ny\n"}),
    ("  a: 1\n  b: 2\n", {"a": 1, "b": 2}),
    ("? a\n: b\n", {"a": "b"}),
    ('{\n  "tags": "journal",\n  "publish": false\n}\n', {"tags": "journal", "publish": False}),
    ("", {}),
    ("# only a comment\n\n", {}),
    ("a: 1\n...\n", {"a": 1}),
    ("nested:\n  a:\n    - b: c\n      d:\n", {"nested": {"a": [{"b": "c", "d": None}]}}),
]

REFUSED = [
    ("a: b: c\n", "yaml-syntax", 1),
    ("a: @handle\n", "yaml-syntax", 1),
    ("a: 1\nb: `x`\n", "yaml-syntax", 2),
    ("a: %x\n", "yaml-syntax", 1),
    ("a:\n\tb: c\n", "yaml-syntax", 2),
    ('abstract: "\\langle x"\n', "yaml-syntax", 1),
    ('a: "\\UFFFFFFFF"\n', "yaml-syntax", 1),
    ("created: {{date}}\n", "yaml-syntax", 1),
    ("a: 1\n...\nb: 2\n", "yaml-syntax", 3),
    ("a: 1\nb: 2\na: 3\n", "yaml-duplicate-key", 3),
    ("a:\n  b: 1\n  b: 2\n", "yaml-duplicate-key", 3),
    ("a: &x [*x]\n", "yaml-alias", 1),
    ("a: &x 1\n", "yaml-alias", 1),
    ("a: !!binary aGk=\n", "yaml-tag", 1),
    ("a: !x\n", "yaml-tag", 1),
    ("a: .inf\n", "yaml-number-range", 1),
    ("a: 1\nb: .NaN\n", "yaml-number-range", 2),
    ("a: 1e999\n", "yaml-number-range", 1),
    ("a: " + "9" * 309 + "\n", "yaml-number-range", 1),
    ("a: " + "9" * 60_000 + "\n", "yaml-number-range", 1),
    ("a: 0x" + "f" * 60_000 + "\n", "yaml-number-range", 1),
    ("a: " + "[" * 3000 + "]" * 3000 + "\n", "yaml-depth", 1),
    ("a: " + "[" * 60_000 + "\n", "yaml-depth", 1),
    ("a:\n  " + "- " * 60 + "x\n", "yaml-depth", 2),
    ("a: [" + "1," * 5000 + "]\n", "yaml-too-large", 1),
    ("- a\n", "yaml-not-a-mapping", 1),
    ("just words\n", "yaml-not-a-mapping", 1),
    ('a: "\\ud800"\n', "yaml-character", 1),
    ('a: "\\0"\n', "yaml-character", 1),
    ("a: 1\nb: \x1b[2J\n", "yaml-character", 2),
    ("a: over\rwritten\n", "yaml-character", 1),
]


@pytest.mark.parametrize(("text", "values"), READ)
def test_values_are_what_obsidian_reads(text: str, values: dict[str, Any]) -> None:
    block = parse_block(text)
    assert repr(block.values) == repr(values)
    assert [entry.name for entry in block.entries] == list(values)


@pytest.mark.parametrize(("text", "code", "line"), REFUSED)
def test_bad_blocks_are_refused_with_code_and_line(text: str, code: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_block(text)
    assert (caught.value.code, caught.value.fields) == (code, {"line": line})
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200


def test_alias_bomb_costs_nothing() -> None:
    levels = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    with pytest.raises(InputError, match="anchors"):
        parse_block("\n".join(levels))


def test_places_name_the_text_of_each_value() -> None:
    text = "a: one # two\nb:\nc: # three\n  - x\n  -  'y z'\nd: |\n  e\n\nf: [g,\n  h]\n"
    block = parse_block(text)
    places = {entry.name: text[entry.node.start : entry.node.end] for entry in block.entries}
    assert places == {"a": "one", "b": "", "c": "- x\n  -  'y z'", "d": "|\n  e\n\n", "f": "[g,\n  h]"}
    assert [text[item.start : item.end] for item in block.entries[2].node.items] == ["x", "'y z'"]
    assert text[block.entries[1].node.start - 2 :].startswith("b:\n")


def test_flow_blocks_and_indented_blocks_are_told() -> None:
    assert parse_block('{"a": 1}\n').is_flow
    assert not parse_block("a: {b: 1}\n").is_flow
    assert parse_block("  a: 1\n").column == 2
