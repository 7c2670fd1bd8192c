"""Patterns that are compiled late find what compiled ones find."""

from __future__ import annotations

import re

import pytest

from gitmem.patterns import NEVER, late

TEXTS = ("", "one two-three", "größe 23", "密码 and ascii", "a\nb")


@pytest.mark.parametrize("plain", [None, r"[A-Za-z0-9]+"])
def test_a_late_pattern_finds_what_a_compiled_one_finds(plain: str | None) -> None:
    ready, waiting = re.compile(r"[^\W_]+"), late(r"[^\W_]+", plain=plain)
    for text in TEXTS:
        assert waiting.findall(text) == ready.findall(text)
        assert [one.span() for one in waiting.finditer(text)] == [one.span() for one in ready.finditer(text)]
        assert waiting.sub("x", text) == ready.sub("x", text)
        for name in ("match", "search", "fullmatch"):
            found, wanted = (getattr(one, name)(text) for one in (waiting, ready))
            assert (found and found.span()) == (wanted and wanted.span())
        assert (waiting.search(text, 3) is None) == (ready.search(text, 3) is None)
    assert waiting.pattern == ready.pattern


def test_flags_and_bytes_count() -> None:
    assert late("^b", re.MULTILINE).search("a\nb")
    assert late(rb"b+").split(b"abbc") == [b"a", b"c"]


def test_never_matches_nowhere() -> None:
    assert late("é", plain=NEVER).search("e") is None
    assert late("é", plain=NEVER).search("é")
