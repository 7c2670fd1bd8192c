"""The quick reader answers like the exact one, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.vault.yaml_fast import find_values
from gitmem.vault.yaml_parse import parse_block

# Pieces that meet at the edges of the simple shapes: indicators beside blanks, ends of lines, list marks, words.
_PIECES = st.sampled_from(
    ["a", "b1", "k", "é", "0", "12", "1e3", "1e999", "-1", ".5", "0x1", "null", "~", "true", "yes", "12:30",
     "2024-01-02", ": ", ":", " ", "  ", "-", "- ", "#", " #", '"', "'", "[", "]", "[]", "{", "}", ",", "|", ">", "&",
     "*", "!", "?", "%", "@", "`", "\\", "=", "/", ".", "<<", "...", "\t", "\x7f", "\x85", "\u00a0", "\u2028", "\ufeff",
     "\ue000", "😀", "\n", "\na: ", "\nb:", "\n- ", "\n  - ", "\n  ", "\nc d: ", "\n    - ", "\n  - x", "\n#"]
)  # fmt: skip
_BLOCKS = st.lists(_PIECES, max_size=12).map(lambda pieces: "a: " + "".join(pieces) + "\n")


@settings(max_examples=600, derandomize=True, deadline=None)
@given(_BLOCKS)
def test_fast_equals_exact_wherever_it_answers(block: str) -> None:
    fast = _outcome(find_values, block)
    if fast is not None:
        assert fast == _outcome(lambda text: parse_block(text).values, block)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.text(st.sampled_from("ab:-# '\"\n01[]"), max_size=25))
def test_fast_equals_exact_on_few_characters(text: str) -> None:
    fast = _outcome(find_values, text + "\n")
    if fast is not None:
        assert fast == _outcome(lambda block: parse_block(block).values, text + "\n")


def test_what_gitmem_and_obsidian_write_is_simple() -> None:
    block = (
        "gitmem_id: m7k2q9abcdef\n"
        "title: Run tests, with two workers (C++)\n"
        'summary: "Use -n 2: more is slower"\n'
        "tags:\n  - tool/pytest\n  - 1st\n"
        "aliases: []\n"
        "created: 2026-11-30T14:00:00Z\n"
        "rating: 7\n"
        "done: true\n"
        "via:\n"
        "\n"
        "creation date: '2024'\n"
        'evidence:\n- file:pyproject.toml#L70\n- "[[Note]]"\n'
    )
    assert find_values(block) == {
        "gitmem_id": "m7k2q9abcdef",
        "title": "Run tests, with two workers (C++)",
        "summary": "Use -n 2: more is slower",
        "tags": ["tool/pytest", "1st"],
        "aliases": [],
        "created": "2026-11-30T14:00:00Z",
        "rating": 7,
        "done": True,
        "via": None,
        "creation date": "2024",
        "evidence": ["file:pyproject.toml#L70", "[[Note]]"],
    }


def test_what_is_not_simple_is_left_to_the_exact_reader() -> None:
    blocks = ["a: b: c\n", "a: 1\na: 2\n", "- x\n", "a: b\n- c\n", "a: b\n  c\n", "a: |\n  b\n", "a: {}\n", "a: b \n"]
    blocks += ["a:\n  - b\n - c\n", "a: # c\n", "# c\n", "a: &x\n", "a: x\ty\n", 'a: "\\n"\n', "a:\n  - b: c\n"]
    blocks += ["a: " + "x" * 10_000 + "\n", "a:\n" + "- b\n" * 5000]
    assert [block for block in blocks if find_values(block) is not None] == []


def _outcome(read: Callable[[str], Any], text: str) -> str | None:
    try:
        values = read(text)
    except InputError as error:
        return error.code
    return None if values is None else repr(values)
