"""Names drawn like a protected property are told from it, names of people's own are left alone."""

from __future__ import annotations

import pytest

from gitmem.vault.lookalike import find_lookalike


@pytest.mark.parametrize(
    ("name", "protected"),
    [
        ("authority", None),
        ("Authority", "authority"),
        ("authority ", "authority"),
        ("аuthority", "authority"),
        ("ａｕｔｈｏｒｉｔｙ", "authority"),
        ("auth\u200bority", "authority"),
        ("authоritу", "authority"),
        ("aúthority", "authority"),
        ("author-ity", "authority"),
        ("gitmem_id", None),
        ("gitmem-id", "gitmem_id"),
        ("Gitmem ID", "gitmem_id"),
        ("gitmern_id", None),
        ("private", None),
        ("PRIVATE", "private"),
        ("prіvate", "private"),
        ("Tags", None),
        ("Title", None),
        ("author", None),
        ("authorities", None),
        ("id", None),
        ("", None),
    ],
)
def test_lookalikes(name: str, protected: str | None) -> None:
    assert find_lookalike(name) == protected
