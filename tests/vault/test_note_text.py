"""Where a note's block and body lie, whatever its fences, line ends and BOM."""

from __future__ import annotations

import pytest

from gitmem.errors import InputError
from gitmem.vault.note_text import decode, split_note


@pytest.mark.parametrize(
    ("text", "opening", "block", "closing", "body"),
    [
        ("", "", "", "", ""),
        ("Text\n", "", "", "", "Text\n"),
        ("---\na: 1\n---\nBody", "---\n", "a: 1\n", "---\n", "Body"),
        ("---\n---\n", "---\n", "", "---\n", ""),
        ("---\na: 1\n---", "---\n", "a: 1\n", "---", ""),
        ("---\r\na: 1\r\n---\r\nBody\n", "---\r\n", "a: 1\r\n", "---\r\n", "Body\n"),
        ("--- \t\na: 1\n---  \nBody", "--- \t\n", "a: 1\n", "---  \n", "Body"),
        ("---\na: |\n  ---\n---\n", "---\n", "a: |\n  ---\n", "---\n", ""),
        ("---\na: 1\n----\n---x\n---\n", "---\n", "a: 1\n----\n---x\n", "---\n", ""),
        ("---\na: 1\n---\n\n---\nb: 2\n---\n", "---\n", "a: 1\n", "---\n", "\n---\nb: 2\n---\n"),
        ("\n---\na: 1\n---\n", "", "", "", "\n---\na: 1\n---\n"),
        (" ---\na: 1\n---\n", "", "", "", " ---\na: 1\n---\n"),
        ("----\na: 1\n----\n", "", "", "", "----\na: 1\n----\n"),
        ("---\ra: 1\r---\r", "", "", "", "---\ra: 1\r---\r"),
        ("Text\n---\na: 1\n---\n", "", "", "", "Text\n---\na: 1\n---\n"),
    ],
)
def test_parts(text: str, opening: str, block: str, closing: str, body: str) -> None:
    for bom in ("", "\ufeff"):
        parts = split_note(bom + text)
        assert (parts.bom, parts.opening, parts.block, parts.closing, parts.body) == (
            bom,
            opening,
            block,
            closing,
            body,
        )
        assert parts.joined == bom + text
        assert parts.has_block is bool(opening)


def test_line_end_is_that_of_the_block_else_of_the_first_line() -> None:
    assert [split_note(text).eol for text in ("---\r\n---\nx\n", "x\r\ny\n", "x\ny\r\n", "x")] == [
        "\r\n",
        "\r\n",
        "\n",
        "\n",
    ]


@pytest.mark.parametrize("text", ["---\n", "---\na: 1\n", "---\na: 1\n ---\n", "\ufeff---\r\nText\r\n"])
def test_a_block_that_nothing_closes_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        split_note(text)
    assert (caught.value.code, caught.value.fields) == ("frontmatter-unclosed", {"line": 1})


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("---\na: 1\n---\n".encode("utf-16"), "not-text"),
        ("---\na: 1\n---\n".encode("utf-16-be"), "not-text"),
        (b"a\0b", "not-text"),
        (b"one\ntwo \xe9\n", "not-utf8"),
        (b"\xed\xa0\x80", "not-utf8"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(data)
    assert caught.value.code == code
