"""Text made safe to show, names made from titles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.text import (
    find_hidden,
    fold,
    fold_tag,
    has_lookalikes,
    is_hidden,
    make_visible,
    one_line,
    quote,
    shorten,
    slug,
)


def test_a_quotation_escapes_once_and_is_one_line() -> None:
    assert quote("\x1b[31mred\nand\tblue") == r"'\u{1b}[31mred\nand\tblue'"
    assert (quote("it's"), quote('say "it\'s"'), quote("a\\b")) == ('"it\'s"', "'say \"it's\"'", r"'a\b'")
    assert quote("word " * 50, 10) == "'word word '"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\twith tab\n", "plain text\twith tab\n"),
        ("a\x1b[31mred", "a\\u{1b}[31mred"),
        ("bell\x07", "bell\\u{7}"),
        ("abc\u202edef", "abc\\u{202e}def"),
        ("zero\u200bwidth", "zero\\u{200b}width"),
        ("tag\U000e0041", "tag\\u{e0041}"),
        ("line\u2028two\x85three\rfour\r\nfive", "line\ntwo\nthree\nfour\nfive"),
        ("👨‍👩‍👧 ❤️ ok", "👨‍👩‍👧 ❤️ ok"),
        ("می‌خواهم", "می‌خواهم"),
        ("join\u200dlatin", "join\\u{200d}latin"),
        ("half\ud800", "half\\u{d800}"),
        ("private\ue000", "private\\u{e000}"),
        ("1\ufe0f\u20e3 \u2764\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3 \u2764\ufe0f\u200d\U0001f525"),
        ("a\ufe0fb\ufe0f", "a\\u{fe0f}b\\u{fe0f}"),
        ("\u2764\ufe0f\ufe0f", "\u2764\ufe0f\\u{fe0f}"),
        ("\u845b\u200d\ufe0f", "\u845b\\u{200d}\\u{fe0f}"),
        ("payload\ufe01\U000e0100", "payload\\u{fe01}\\u{e0100}"),
        ("unassigned\U000e0fff\u2065\ufff0", "unassigned\\u{e0fff}\\u{2065}\\u{fff0}"),
        ("no character\ufffe", "no character\\u{fffe}"),
        ("Khmer\u17b4", "Khmer\\u{17b4}"),
        ("e" + "\u0301" * 10, "e" + "\u0301" * 10),
        ("e" + "\u0301" * 11, "e" + "\u0301" * 10 + "\\u{301}"),
        ("e" + "\u0301" * 10_010, "e" + "\u0301" * 10 + "\\u{301}" * 16 + "\\u{9984 more}"),
        ("x" + "\U000e0041" * 5_000, "x" + "\\u{e0041}" * 16 + "\\u{4984 more}"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text())
def test_shown_text_hides_nothing(text: str) -> None:
    assert find_hidden(make_visible(text)) == []
    assert make_visible(make_visible(text)) == make_visible(text)


ODD = "ab \u200c\u200d\ufe0f\ufe01\u0301\u202e\u2764\U0001f525\u845b\U000e0041\u2028\r\n1"


@settings(derandomize=True, max_examples=500, deadline=None)
@given(st.text(ODD, max_size=30))
def test_what_stands_around_a_hidden_character_is_looked_at_again(text: str) -> None:
    assert find_hidden(make_visible(text)) == []


def test_no_code_point_of_a_hidden_kind_is_forgotten() -> None:
    kinds = [*range(0xFE00, 0xFE0F), *range(0xE0000, 0xE1000), 0xAD, 0x61C, 0x180E, 0xFEFF]
    kinds += [*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), *range(0xFFF0, 0xFFFC)]
    kinds += [*range(0x20), *range(0x7F, 0xA0)]
    shown = [point for point in kinds if not is_hidden(chr(point))]
    assert shown == [0x09, 0x0A]


@pytest.mark.parametrize(
    ("title", "is_mixed"),
    [
        ("Ask before you touch p\u0430ypal", True),
        ("\u0410dmin rule", True),
        ("g\u03bfogle", True),
        ("\u0394t and \u03bcm", False),
        ("\u041f\u0440\u0438\u0432\u0435\u0442 world", False),
        ("caf\u00e9 \u7f13\u5b58 api", False),
        ("plain", False),
    ],
)
def test_words_of_two_alphabets_are_told(title: str, *, is_mixed: bool) -> None:
    assert has_lookalikes(title) is is_mixed


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text())
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("typed", ["tool/pytest", "#Tool/PyTest", " tool/pytest/ ", "##TOOL/PYTEST"])
def test_a_tag_is_known_however_it_is_typed(typed: str) -> None:
    assert fold_tag(typed) == "tool/pytest"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Run tests with two workers", "run-tests-with-two-workers"),
        ("  Use `pytest -n 2`!  ", "use-pytest-n-2"),
        ("缓存时间是五分钟", "缓存时间是五分钟"),
        ("Straße & Café", "strasse-café"),
        ("snake_case_name", "snake-case-name"),
        ("../../etc/passwd", "etc-passwd"),
        ("🚀", ""),
        ("", ""),
        ("a" * 100, "a" * 60),
        ("word " * 30, "-".join(["word"] * 12)),
    ],
)
def test_a_title_becomes_a_file_name(title: str, name: str) -> None:
    assert slug(title) == name


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text())
def test_file_names_are_short_and_safe(title: str) -> None:
    name = slug(title)
    assert len(name.encode()) <= 60
    assert not set(name) & set('/\\:*?"<>|. \n')


def test_lines_are_shortened_at_a_word() -> None:
    assert shorten("one two three four", 12) == "one two…"
    assert shorten("short", 12) == "short"
    assert shorten("x" * 30, 10) == "x" * 9 + "…"
    assert one_line(" a\n\n b\tc ") == "a b c"
