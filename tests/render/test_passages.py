"""Parts of a note: whole blocks and whole sentences, whatever the Markdown is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.render.passages import find_passage, split_blocks, take_beginning

NOTE = """# Workers

The database allows 20 connections. Each worker takes 5.

- first item
  goes on
- second item

```sh
one

two
```

Last paragraph, e.g. this one. Done."""


def test_blocks_are_paragraphs_items_and_code() -> None:
    assert split_blocks(NOTE) == [
        "# Workers",
        "The database allows 20 connections. Each worker takes 5.",
        "- first item\n  goes on",
        "- second item",
        "```sh\none\n\ntwo\n```",
        "Last paragraph, e.g. this one. Done.",
    ]


@pytest.mark.parametrize(
    ("text", "max_chars", "taken"),
    [
        (NOTE, 80, "# Workers\n\nThe database allows 20 connections. Each worker takes 5."),
        ("One. Two three. Four", 15, "One. Two three."),
        ("See e.g. this one. Then stop.", 20, "See e.g. this one."),
        ("缓存是五分钟。不是三十秒。", 8, "缓存是五分钟。"),
        ("No end in sight", 5, ""),
        ("```\na. B. C.\n```", 8, ""),
        ("", 5, ""),
    ],
)
def test_a_beginning_is_never_cut_inside(text: str, max_chars: int, taken: str) -> None:
    assert take_beginning(text, max_chars) == taken


@pytest.mark.parametrize(
    ("words", "max_chars", "passage"),
    [
        (("connections", "WORKER"), 100, "The database allows 20 connections. Each worker takes 5."),
        (("worker",), 30, "# Workers"),
        (("takes",), 30, "Each worker takes 5."),
        (("two",), 100, "```sh\none\n\ntwo\n```"),
        (("absent",), 100, ""),
        ((), 100, ""),
    ],
)
def test_a_passage_is_the_part_with_most_of_the_words(words: tuple[str, ...], max_chars: int, passage: str) -> None:
    assert find_passage(NOTE, words, max_chars) == passage


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text("ab.! \n`-~>。A1"), st.integers(1, 60))
def test_parts_are_bounded_and_stand_in_the_text(text: str, max_chars: int) -> None:
    squeezed = "".join(text.split())
    for part in (take_beginning(text, max_chars), find_passage(text, ["a"], max_chars)):
        assert len(part) <= max_chars
        assert "".join(part.split()) in squeezed
