"""The language of search, asked of a catalog: what it finds, in which order, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from catalog_ground import Ground
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.catalog.filters import Filters
from gitmem.catalog.notes import search_notes
from gitmem.catalog.pages import Order, list_page
from gitmem.catalog.query import list_links, list_private_paths
from gitmem.catalog.search import MAX_COUNT, MAX_LIMIT, MAX_OFFSET, Matches, Page, Query, search
from gitmem.errors import InputError
from gitmem.model.answer import Sort, Strength
from gitmem.model.record import EPISODIC_KINDS, Kind, State
from gitmem.relevance.question import parse_question

NOTES: dict[str, tuple[str, dict[str, str]]] = {
    "promoted/two.md": ("Run the tests with two workers.\n", {"title": "Parallel tests", "updated": "2026-11-03"}),
    "promoted/more.md": ("Two more workers than cores: tests stall.\n", {"title": "Workers", "updated": "2026-11-01"}),
    "promoted/redis.md": ("The cache lives in Redis.\n", {"title": "Cache", "created": "2026-11-02"}),
    "promoted/memory.md": ("The cache lives in memory.\n", {"title": "cache of the client", "key": "cache-ttl"}),
    "promoted/find.md": ("Use `find . -name foo`, not ls. The name of the cache.\n", {"title": "Finding files"}),
    "promoted/rm.md": ("Never run rm -rf on the share.\n", {"title": "Careful"}),
    "promoted/zh.md": ("查询缓存时间是五分钟。\n", {"title": "缓存"}),
    "observations/2026-11/was.md": ("We moved the cache to Redis.\n", {"title": "Session", "kind": "episode"}),
    "retired/2026-11/old.md": ("Replication of the cache.\n", {"title": "Old"}),
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with Ground(tmp_path_factory.mktemp("search"), ":memory:") as made:
        for number, (path, (body, properties)) in enumerate(NOTES.items()):
            made.note(path, number, body, **properties)
        assert made.refresh().problems == ()
        yield made


def ask(ground: Ground, text: str, page: Page | None = None, **options: Any) -> Matches:
    exclude = options.pop("exclude", ())
    return search(ground.database, Query(parse_question(text, exclude), **options), page or Page())


def names(found: Matches) -> list[str]:
    return [Path(match.row.path).stem for match in found.page]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"two workers"', ["two"]),
        ('"workers two"', []),
        ('"Two  WORKERS" tests', ["two"]),
        ('"缓存时间"', ["zh"]),
        ('"存缓"', []),
        ('"cache lives" "redis"', ["redis"]),
        ("cache -redis", ["memory", "find"]),
        ("-redis cache", ["memory", "find"]),
        ('cache -"lives in"', ["find", "was"]),
        ("cache -lives -redis", ["find"]),
        ("-redis", ["redis", "was"]),
        # A minus as in a command line leaves nothing out that has it.
        ("rm -rf", ["rm"]),
        ("cache -name", ["memory", "find", "redis", "was"]),
        ("find . -name foo", ["find"]),
        ("缓存 -分钟", []),
        ('"', []),
    ],
)
def test_phrases_and_exclusions(ground: Ground, text: str, found: list[str]) -> None:
    assert sorted(names(ask(ground, text))) == sorted(found)


def test_exclusions_apart_always_count(ground: Ground) -> None:
    assert names(ask(ground, "cache", exclude=["name", "redis"])) == ["memory"]
    assert names(ask(ground, "rm", exclude=["-rf"])) == []
    assert names(ask(ground, "cache-ttl", exclude=["memory"])) != ["memory"]


def test_how_well_a_record_fits_is_said(ground: Ground) -> None:
    found = ask(ground, "cache of the client memory")
    assert [(Path(match.row.path).stem, match.strength) for match in found.page][:2] == [
        ("memory", Strength.ALL),
        ("redis", Strength.SOME),
    ]
    assert ask(ground, "Cache").page[0].strength is Strength.EXACT


@pytest.mark.parametrize(
    "text", ["cache_ttl", "cacheTtl", "cache ttl", "Cache.TTL", "cachettl", "how is cache_ttl set"]
)
def test_a_key_typed_with_other_joiners_is_the_key(tmp_path: Path, text: str) -> None:
    with Ground(tmp_path, ":memory:") as other:
        other.note("promoted/key.md", 0, "Five minutes.\n", title="How long answers live", key="cache-ttl")
        other.note("promoted/words.md", 1, f"{text} {text}\n", title="cache_ttl, cacheTtl, cachettl, cache ttl")
        other.refresh()
        first = ask(other, text).page[0]
        assert (Path(first.row.path).stem, first.strength, first.matched[0]) == (
            "key",
            Strength.EXACT,
            "key: cache-ttl",
        )
        assert ask(other, text, fields=("body",)).page[0].strength is not Strength.EXACT
        other.remove("promoted/key.md")
        other.refresh()
        assert names(ask(other, "cache-ttl")) == ["words"]


def test_a_title_is_the_same_in_full_width_letters(tmp_path: Path) -> None:
    with Ground(tmp_path, ":memory:") as other:
        other.note("promoted/wide.md", 0, title="ＡＰＩ　ｑｕｏｔａ")
        other.refresh()
        assert [ask(other, text).page[0].strength for text in ("ＡＰＩ　ｑｕｏｔａ", "api quota")] == [
            Strength.EXACT
        ] * 2


def test_only_the_fields_that_are_asked_for_are_searched(ground: Ground) -> None:
    assert names(ask(ground, "cache", fields=("title",))) == ["redis", "memory"]
    assert names(ask(ground, "cache-ttl", fields=("key",))) == ["memory"]
    assert names(ask(ground, "cache-ttl", fields=("summary",))) == []
    assert ask(ground, "cache client", fields=("title",)).page[0].matched == ("title: cache client",)
    assert names(ask(ground, '"lives in" cache', fields=("title",))) == []


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (Sort.UPDATED, ["two", "redis", "more"]),
        (Sort.CREATED, ["redis", "more", "two"]),
        (Sort.TITLE, ["redis", "two", "more"]),
        (Sort.PATH, ["more", "redis", "two"]),
    ],
)
def test_orders(ground: Ground, sort: Sort, order: list[str]) -> None:
    only = Filters(only=("promoted/two.md", "promoted/redis.md", "promoted/more.md"))
    assert names(ask(ground, "workers cache", Page(sort=sort), filters=only)) == order
    assert names(ask(ground, "workers cache", Page(limit=1, offset=1, sort=sort), filters=only)) == order[1:2]


def test_titles_are_sorted_as_in_a_list(tmp_path: Path) -> None:
    titles = ("Öb", "Äz", "äa", "zebra", "Straße", "STRASSE", "Ωmega", "b", "B")
    with Ground(tmp_path, ":memory:") as other:
        for number, title in enumerate(titles):
            other.note(f"promoted/{9 - number}.md", number, "cache\n", title=title)
        other.refresh()
        listed = [row.title for row in list_page(other.database, Filters(), Order.TITLE).rows]
        pages = [ask(other, "cache", Page(1, at, Sort.TITLE)).page[0].row.title for at in range(len(titles))]
        assert pages == listed == ["b", "B", "Straße", "STRASSE", "zebra", "äa", "Äz", "Öb", "Ωmega"]


def test_another_order_has_no_weak_matches_beside_others(ground: Ground) -> None:
    assert names(ask(ground, "two workers cores", Page(sort=Sort.PATH))) == ["more"]
    assert ask(ground, "two workers cores", Page(sort=Sort.PATH)).total == 1
    assert sorted(names(ask(ground, "two workers cores"))) == ["more", "two"]


def test_pages_follow_each_other(ground: Ground) -> None:
    every = names(ask(ground, "cache workers the"))
    assert len(every) == 6
    for size in (1, 2, 4):
        pages = [ask(ground, "cache workers the", Page(size, at)) for at in range(0, 8, size)]
        assert [name for page in pages for name in names(page)] == every
        assert {page.total for page in pages if page.page} == {6}


@pytest.mark.parametrize("text", ["retry", "retry payment", "retry payment zebra"])
def test_no_page_repeats_a_record_or_loses_one(tmp_path: Path, text: str) -> None:
    forms = ("retry", "retries", "retried", "retrying")
    bodies = [
        f"{'filler ' * (number * 7 % 53)}{forms[number % 4]} {forms[number // 4 % 4]} payment{'s' * (number % 3)}"
        for number in range(200)
    ]
    with Ground(tmp_path, ":memory:") as other:
        fill(other, [*bodies, "zebra", "payment of a zebra"])
        pages = {size: [ask(other, text, Page(size, at)) for at in range(0, 210, size)] for size in (3, 10, 20, 100)}
        orders = {size: [name for page in found for name in names(page)] for size, found in pages.items()}
        whole = names(ask(other, text, Page(MAX_LIMIT)))
        assert len(set(whole)) == len(whole) == pages[10][0].total
        assert orders == dict.fromkeys(pages, whole)


@pytest.mark.parametrize("offset", [-1, MAX_OFFSET + 1, True, "1", 1.0])
def test_a_bad_offset_is_refused(ground: Ground, offset: Any) -> None:
    with pytest.raises(InputError) as caught:
        ask(ground, "cache", Page(offset=offset))
    assert caught.value.code == "bad-offset"


def test_kinds_apart_are_counted(ground: Ground) -> None:
    apart = tuple(kind for kind in Kind if kind in EPISODIC_KINDS)
    found = ask(ground, "cache redis", apart=apart)
    assert ("was" in names(found), found.total, found.apart) == (False, 3, 1)
    assert ask(ground, "Session", apart=apart).page == ()
    assert ask(ground, "cache redis").apart == 0


def fill(ground: Ground, bodies: list[str], state: str = "promoted") -> None:
    """Store records with these bodies, which would take long as files."""
    with ground.database.writing() as connection:
        (first,) = connection.execute("SELECT coalesce(max(rowid), 0) + 1 FROM records").fetchone()
        connection.executemany(
            "INSERT INTO records VALUES (?, ?, ?, 'f', ?, NULL, NULL, 't', NULL, '', '', '', NULL, NULL,"
            " NULL, NULL, NULL, NULL, 0)",
            [(row, f"{state}/{row}.md", f"{row}", state) for row in range(first, first + len(bodies))],
        )
        connection.executemany("INSERT INTO terms VALUES ('', '', '', '', ?)", [(body,) for body in bodies])


def test_counting_has_an_end(tmp_path: Path) -> None:
    with Ground(tmp_path, ":memory:") as other:
        fill(other, ["cache"] * (MAX_COUNT + 50))
        found = ask(other, "cache")
        assert (found.total, found.is_capped) == (MAX_COUNT, True)


@pytest.mark.parametrize("text", ["booking cancellation", "how do we cancel a booking", "retired booking"])
def test_a_word_that_most_records_have_is_found_where_the_other_words_are_not(tmp_path: Path, text: str) -> None:
    with Ground(tmp_path, ":memory:") as other:
        fill(other, ["booking"] * 1050)
        fill(other, ["only retired"], "retired")
        assert (len(ask(other, text).page), ask(other, text).total) == (10, MAX_COUNT)
        fill(other, ["cancellation, cancelled, retired"])
        assert ask(other, text).total == 1


class TestSpelling:
    @pytest.mark.parametrize(
        ("text", "near"),
        [
            ("wrokers", {"wrokers": "workers"}),
            ("worekrs stal", {"worekrs": "workers", "stal": "stall"}),
            ("two wokrers", {"wokrers": "workers"}),
            ("paralel tests", {"paralel": "parallel"}),
            ("mmory", {"mmory": "memory"}),
            ("cahce wrokers", {"cahce": "cache", "wrokers": "workers"}),
            ("workers", {}),
            ("worker", {}),
            ("zzzzzz", {}),
            ("xyz", {}),
            ("缓在", {}),
            ("wor1ers", {}),
        ],
    )
    def test_a_word_that_no_record_has(self, ground: Ground, text: str, near: dict[str, str]) -> None:
        assert ask(ground, text).near == near

    @pytest.mark.parametrize(
        ("text", "near"),
        [
            ("pytst", {"pytst": "pytest"}),
            ("acmee", {"acmee": "acme"}),
            ("rollbck-window", {"rollbck-window": "rollback-window"}),
            ("parse_utl", {"parse_utl": "parse_url"}),
            ("parseUtl", {"parseUtl": "parseUrl"}),
            ("pasre.url", {"pasre.url": "parse.url"}),
            ("parse_urxl", {"parse_urxl": "parse_url"}),
            ("HTTPServre2", {"HTTPServre2": "HTTPServer2"}),
            ("HTPTServer2", {"HTPTServer2": "HTTPServer2"}),
            ("HTTPServer3", {}),
            ("ERR_2042", {}),
        ],
    )
    def test_tags_keys_and_identifiers_are_offered(self, tmp_path: Path, text: str, near: dict[str, str]) -> None:
        with Ground(tmp_path, ":memory:") as other:
            other.note("promoted/a.md", 1, "x\n", title="x", tags="[tool/pytest, client/acme]", key="rollback-window")
            other.note("promoted/b.md", 2, "Use parse_url and HTTPServer2; ERR_2041.\n", title="x")
            other.refresh()
            assert ask(other, text).near == near

    def test_only_what_would_answer_is_offered(self, ground: Ground) -> None:
        assert ask(ground, "replicaton").near == {}
        every = Filters(states=tuple(State))
        assert ask(ground, "replicaton", filters=every).near == {"replicaton": "replication"}

    def test_nothing_of_private_records_is_offered(self, tmp_path: Path) -> None:
        with Ground(tmp_path, ":memory:") as other:
            other.note("promoted/a.md", 1, "About confidentiality.\n")
            other.refresh()
            assert ask(other, "confidentialty").near == {"confidentialty": "confidentiality"}
            other.note("promoted/a.md", 1, "About confidentiality.\n", private="true")
            other.refresh()
            assert ask(other, "confidentialty").near == {}

    def test_a_large_vocabulary_is_not_read_whole(self, tmp_path: Path) -> None:
        with Ground(tmp_path, ":memory:") as other:
            with other.database.writing() as connection:
                connection.executemany(
                    "INSERT INTO terms VALUES ('', '', '', '', ?)",
                    [(" ".join(f"wo{row:x}q{i:x}" for i in range(100)),) for row in range(1, 200)],
                )
            assert ask(other, "wokrers").near == {}


class TestNotes:
    @pytest.fixture
    def ground(self, tmp_path: Path) -> Iterator[Ground]:
        with Ground(tmp_path, ":memory:") as made:
            yield made

    def find(self, ground: Ground, text: str, *, takes_some: bool = True, **filters: Any) -> list[tuple[str, str]]:
        found = search_notes(ground.database, parse_question(text), Filters(**filters), takes_some=takes_some, limit=5)
        return [(note.path, note.why) for note in found]

    def test_files_that_are_no_records_are_found(self, ground: Ground) -> None:
        ground.write("promoted/plain.md", "Zebras graze.\n")
        ground.write("promoted/broken.md", "---\ngitmem_id: [\n---\n\nZebras and unicorns.\n")
        ground.write("promoted/conflict.md", "---\na: 1\n---\n<<<<<<< HEAD\nZebra\n=======\nHorse\n>>>>>>> other\n")
        ground.write("retired/old.md", "An old zebra.\n")
        ground.refresh()
        assert {path for path, _why in self.find(ground, "zebra")} == {
            "promoted/plain.md",
            "promoted/broken.md",
            "promoted/conflict.md",
        }
        assert self.find(ground, "graze") == [("promoted/plain.md", "it has no gitmem_id")]
        assert self.find(ground, "zebra -unicorns", paths=("promoted/b*",)) == []
        assert self.find(ground, '"zebras graze" unicorns', takes_some=False) == []
        assert len(self.find(ground, '"zebras graze" unicorns')) == 1
        assert self.find(ground, "zebra", states=(State.RETIRED,)) == [("retired/old.md", "it has no gitmem_id")]
        ground.remove("promoted/plain.md")
        ground.note("promoted/broken.md", 1, "Mended.\n")
        ground.refresh()
        assert self.find(ground, "graze") == self.find(ground, "unicorns") == []

    @pytest.mark.parametrize(
        "text",
        [
            "---\nprivate: true\n---\nZebra\n",
            "---\nprivate: false\n---\nZebra\n",
            "\ufeff---\r\nprivate: yes\r\n---\r\nZebra\r\n",
            "---\nPrivate : true\n---\nZebra\n",
            '---\n"private": true\n---\nZebra\n',
            "---\nрrivate: true\n---\nZebra\n",
            "---\ngitmem_id: [\nprivate: true\n---\nZebra\n",
            "---\nprivate: true\nZebra\n",
            "<<<<<<< HEAD\n---\nprivate: true\n=======\n---\n>>>>>>> x\n---\nZebra\n",
            '---\n{"title": "x", "private": true}\n---\nZebra\n',
            "---\n  private: true\nx: [\n---\nZebra\n",
        ],
    )
    def test_what_may_be_private_is_not(self, ground: Ground, text: str) -> None:
        ground.write("promoted/a.md", "Zebra [[Cache]]\n")
        ground.refresh()
        assert len(self.find(ground, "zebra")) == 1
        ground.write("promoted/a.md", text)
        ground.refresh()
        assert self.find(ground, "zebra") == []
        assert (list_links(ground.database, "cache"), list_private_paths(ground.database)) == ([], ["promoted/a.md"])

    def test_a_word_private_elsewhere_hides_nothing(self, ground: Ground) -> None:
        ground.write("promoted/a.md", "Zebra\n\nprivate: true\n")
        ground.write("promoted/b.md", "---\ntitle: private zebras\n---\nprivate: no\n")
        ground.refresh()
        assert len(self.find(ground, "zebra")) == 2

    def test_secrets_are_not_kept(self, ground: Ground) -> None:
        ground.write("promoted/a.md", "Zebra hunter2 [[hunter2]]\n")
        ground.refresh()
        assert self.find(ground, "hunter2") == []


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.text(st.sampled_from("aB -\"*^():{}+缓存\0'AND OR NOT NEAR"), max_size=60),
    st.lists(st.text(max_size=10), max_size=2),
    st.sampled_from([(), ("title",), ("title", "body")]),
)
def test_no_question_breaks_the_engine(ground: Ground, text: str, exclude: list[str], fields: tuple[str, ...]) -> None:
    found = ask(ground, text, exclude=exclude, fields=fields)
    assert len(set(names(found))) == len(found.page) <= found.total <= len(NOTES)
    search_notes(ground.database, parse_question(text, exclude), Filters(), takes_some=True, limit=3)
    for sort in Sort:
        ask(ground, text, replace(Page(), sort=sort), exclude=exclude)
