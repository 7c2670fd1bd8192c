"""Columns hold for wide, combining and hidden characters."""

from __future__ import annotations

import pytest

from gitmem.hosts.cli.columns import align, bar, measure, pad, safe_line, truncate


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("plain", 5), ("退款", 4), ("ﾊﾝ", 2), ("Ｆ", 2), ("e\u0301", 1), ("👩\u200d💻", 4), ("Ω", 1)],
)
def test_width_is_counted_in_columns(text: str, columns: int) -> None:
    assert measure(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("fits", 4, "fits"),
        ("too long", 4, "too…"),
        ("too long", 5, "too…"),
        ("退款手续费", 10, "退款手续费"),
        ("退款手续费", 9, "退款手续…"),
        ("退款手续费", 8, "退款手…"),
        ("ab", 1, "…"),
    ],
)
def test_a_cut_never_exceeds_its_columns(text: str, columns: int, shown: str) -> None:
    assert truncate(text, columns) == shown
    assert measure(shown) <= columns


def test_padding_counts_columns() -> None:
    assert pad("退款", 6) == "退款  "


def test_cells_are_aligned_and_only_the_last_is_cut() -> None:
    rows = [("a", "退款", "refund of a booking"), ("bcd", "x", "short")]
    assert align(rows) == ["a    退款  refund of a booking", "bcd  x     short"]
    assert align(rows, 18) == ["a    退款  refund…", "bcd  x     short"]
    assert align([]) == []


def test_what_is_shown_is_one_line_without_hidden_characters() -> None:
    assert safe_line("a\x1b[31mred\nline\u202e") == "a\\u{1b}[31mred line\\u{202e}"


def test_a_text_goes_on_at_words_behind_another_bar_and_loses_none() -> None:
    text = (
        "More workers exhaust the database.\n\n  - an item that is indented\n"
        "https://example.com/a-long-name x\n\x1b退款 手续费"
    )
    assert bar(text) == [f"  | {line}" for line in text.replace("\x1b", "\\u{1b}").split("\n")]
    assert bar(text, 20) == [
        "  | More workers",
        "  : exhaust the",
        "  : database.",
        "  | ",
        "  |   - an item that",
        "  : is indented",
        "  | https://example.com/a-long-name",
        "  : x",
        "  | \\u{1b}退款",
        "  : 手续费",
    ]
