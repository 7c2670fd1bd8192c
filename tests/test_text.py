"""Text made safe to show, names made from titles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.text import find_hidden, fold, make_visible, one_line, shorten, slug


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
    ],
)
def test_hidden_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text())
def test_shown_text_hides_nothing(text: str) -> None:
    assert find_hidden(make_visible(text)) == []
    assert make_visible(make_visible(text)) == make_visible(text)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text())
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


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
