"""Plain scalars in YAML 1.2's core schema."""

from __future__ import annotations

import pytest

from gitmem.errors import InputError
from gitmem.vault.yaml_core import resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("False", False),
        ("no", "no"),
        ("0", 0),
        ("-0", 0),
        ("007", 7),
        ("+12", 12),
        ("0o17", 15),
        ("0o8", "0o8"),
        ("0xfF", 255),
        ("-0x1", "-0x1"),
        ("1.", 1.0),
        ("-.5", -0.5),
        (".", "."),
        ("1e3", 1000.0),
        ("1.5E-1", 0.15),
        ("1e", "1e"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-07-21", "2024-07-21"),
        ("1.2.3", "1.2.3"),
        ("٣", "٣"),
        (".info", ".info"),
        ("9" * 308, int("9" * 308)),
        ("1" * 500 + "x", "1" * 500 + "x"),
    ],
)
def test_resolution(text: str, value: object) -> None:
    resolved = resolve_plain(text)
    assert (type(resolved), resolved) == (type(value), value)


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".nan", "1e999", "-1e999", "9" * 309, "9" * 10**6])
def test_numbers_beyond_obsidians_are_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_plain(text)
    assert caught.value.code == "yaml-number-range"
    assert len(caught.value.message) < 120
