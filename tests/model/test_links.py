"""Links lead where Obsidian leads them."""

from __future__ import annotations

import pytest

from gitmem.model.links import LinkTargets, Resolution

TARGETS = LinkTargets(
    [
        "promoted/Cache.md",
        "promoted/deep/Notes.md",
        "observations/Notes.md",
        "observations/a/Notes.md",
        "observations/a/b/Other.md",
        "attachments/map.png",
        "Readme.md",
    ]
)


@pytest.mark.parametrize(
    ("target", "source", "path", "others"),
    [
        ("Cache", "Readme.md", "promoted/Cache.md", ()),
        ("cAchE", "Readme.md", "promoted/Cache.md", ()),
        ("Cache.md", "Readme.md", "promoted/Cache.md", ()),
        ("promoted/Cache", "observations/Notes.md", "promoted/Cache.md", ()),
        ("deep/Notes", "Readme.md", "promoted/deep/Notes.md", ()),
        ("b/Other", "observations/a/Notes.md", "observations/a/b/Other.md", ()),
        ("../Cache", "promoted/deep/Notes.md", "promoted/Cache.md", ()),
        ("map.png", "Readme.md", "attachments/map.png", ()),
        ("map", "Readme.md", None, ()),
        ("Nothing", "Readme.md", None, ()),
        ("", "Readme.md", "Readme.md", ()),
        (
            "Notes",
            "observations/a/b/Other.md",
            "observations/Notes.md",
            ("observations/a/Notes.md", "promoted/deep/Notes.md"),
        ),
        ("Notes", "promoted/deep/x.md", "promoted/deep/Notes.md", ("observations/Notes.md", "observations/a/Notes.md")),
    ],
)
def test_a_name_resolves_as_in_obsidian(target: str, source: str, path: str | None, others: tuple[str, ...]) -> None:
    assert TARGETS.resolve(target, source) == Resolution(path, others)
