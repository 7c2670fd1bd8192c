"""Code and comments are blanked, everything else stays in its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.vault.code_mask import mask_code


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a `b` c", "a ... c"),
        ("``a ` b`` c", "......... c"),
        ("`a\nb` c", "..\n.. c"),
        ("`a\n\nb`", "`a\n\nb`"),
        ("\\`a` b`", "\\`a...."),
        ("``a`", "``a`"),
        ("a <!-- b\nc --> d", "a ......\n..... d"),
        ("a <!-- b", "a <!-- b"),
        ("<!-- b\nc", "......\n."),
        ("\\<!-- b --> `c`", "\\<!-- b --> ..."),
        ("`<!--` a -->", "...... a -->"),
        ("<!-- ` --> a `", ".......... a `"),
    ],
)
def test_inline_code_and_comments(text: str, masked: str) -> None:
    assert mask_code(text).replace("\0", ".") == masked


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(["`", "``", "```", "~~~", "\n", "> ", "- ", "a", "<!--", "-->", "\\", " "]), max_size=20)
)
def test_length_and_lines_never_change(pieces: list[str]) -> None:
    text = "".join(pieces)
    masked = mask_code(text)
    assert len(masked) == len(text)
    assert all(new in (old, "\0") and (old == "\n") == (new == "\n") for old, new in zip(text, masked, strict=True))
