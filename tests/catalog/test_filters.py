from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from catalog_ground import Ground

from gitmem.catalog.filters import Filters
from gitmem.catalog.query import list_links, list_rows
from gitmem.model.authority import Authority
from gitmem.model.links import link_name

NOTES: dict[str, dict[str, str]] = {
    "promoted/day.md": {"updated": "2026-11-20", "tags": "[tool/git, area/ci]"},
    "promoted/moment.md": {"created": "2026-11-20T23:30:00Z", "tags": "[tool/git/worktree]"},
    "promoted/zone.md": {"updated": "2026-11-21T00:30:00+02:00", "created": "2020-01-01", "verified": "2026-11-21"},
    "promoted/undated.md": {"tags": "[area/docs]", "authority": "user_declared"},
    "promoted/[x]/odd.md": {"created": "2026-01-01", "authority": "model_inferred"},
    "observations/2026-11/deep/in.md": {"created": "2026-11-21", "authority": "workspace_evidence"},
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with Ground(tmp_path_factory.mktemp("filters"), ":memory:") as made:
        for number, (path, properties) in enumerate(NOTES.items()):
            made.note(path, number, **properties)
        assert made.refresh().problems == ()
        yield made


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"any_tags": ("tool/git", "area/docs")}, {"day", "moment", "undated"}),
        ({"any_tags": ("tool", "area"), "tags": ("area",)}, {"day", "undated"}),
        ({"any_tags": ("Area/CI", "nothing")}, {"day"}),
        ({"any_tags": ("nothing",)}, set()),
        ({"authorities": (Authority.USER_DECLARED, Authority.MODEL_INFERRED)}, {"undated", "odd"}),
        ({"since": at(20)}, {"day", "moment", "zone", "in"}),
        ({"since": at(20, 1)}, {"moment", "zone", "in"}),
        ({"since": at(21)}, {"in"}),
        ({"until": at(20)}, {"odd"}),
        ({"until": at(20, 23)}, {"odd", "day", "zone"}),
        ({"since": at(20), "until": at(21)}, {"day", "moment", "zone"}),
        ({"paths": ("observations",)}, {"in"}),
        ({"paths": ("observations/2026-11/deep/in.md", "promoted/day.md")}, {"in", "day"}),
        ({"paths": ("promo",)}, set()),
        ({"paths": ("promo*",)}, {"day", "moment", "zone", "undated", "odd"}),
        ({"paths": ("*/in.md",)}, {"in"}),
        ({"paths": ("promoted/[x]",)}, {"odd"}),
        ({"paths": ("promoted/[uz]*.md",)}, {"undated", "zone"}),
        ({"verified": True}, {"zone"}),
        ({"verified": False, "paths": ("promoted/*o*.md",)}, {"moment", "odd"}),
        ({"only": ("promoted/day.md", "promoted/zone.md"), "verified": True}, {"zone"}),
        ({"only": ()}, set()),
    ],
)
def test_filters_admit(ground: Ground, filters: dict[str, Any], found: set[str]) -> None:
    assert {Path(row.path).stem for row in list_rows(ground.database, Filters(**filters))} == found
    assert {Path(path).stem for path in ground.find("body", 100, Filters(**filters))} == found


def test_a_pattern_of_many_stars_takes_no_time(ground: Ground) -> None:
    assert list_rows(ground.database, Filters(paths=("*a" * 400 + "*b",))) == []


class TestLinks:
    @pytest.fixture
    def ground(self, tmp_path: Path) -> Iterator[Ground]:
        with Ground(tmp_path, ":memory:") as made:
            yield made

    def test_are_found_by_the_name_of_what_they_lead_to(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "See [[Cache#Size|x]], [y](../Folder/Cache.md), `[[Cache]]`, [[#here]].\n")
        ground.note("promoted/b.md", 2, up='"[[folder/CACHE]]"', other="[[Cache]]", more="text")
        ground.note("promoted/c.md", 3, "[[Cache notes]] [w](https://example.org/Cache.md)\n")
        ground.refresh()
        assert link_name("notes/Cache.md") == "cache"
        assert list_links(ground.database, "cache") == [
            ("promoted/a.md", "../Folder/Cache.md"),
            ("promoted/a.md", "Cache"),
            ("promoted/b.md", "folder/CACHE"),
        ]
        ground.note("promoted/a.md", 1, "Nothing any more.\n")
        ground.remove("promoted/b.md")
        ground.refresh()
        assert list_links(ground.database, "cache") == []

    def test_of_a_private_record_are_not_kept(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "[[Cache]]\n", private="true")
        ground.note("promoted/b.md", 2, "[[Cache]]\n")
        ground.refresh()
        assert list_links(ground.database, "cache") == [("promoted/b.md", "Cache")]
        ground.note("promoted/b.md", 2, "[[Cache]]\n", private="true")
        ground.refresh()
        assert list_links(ground.database, "cache") == []

    def test_are_kept_without_secrets(self, ground: Ground) -> None:
        ground.note("promoted/a.md", 1, "[x](the%20hunter2.md)\n", up='"[[hunter2]]"')
        ground.refresh()
        with ground.database.reading() as connection:
            assert connection.execute("SELECT path, target, name FROM links").fetchall() == [
                ("promoted/a.md", "[secret]", "[secret]"),
                ("promoted/a.md", "the [secret].md", "the [secret]"),
            ]
