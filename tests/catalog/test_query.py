from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalog_ground import IDS, Ground
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.catalog import search as search_module
from gitmem.catalog.filters import Filters
from gitmem.catalog.query import (
    Row,
    find_by_key,
    find_by_prefix,
    find_row,
    list_rows,
)
from gitmem.catalog.search import Page, Query, search
from gitmem.catalog.vocabulary import count_tags
from gitmem.errors import InputError
from gitmem.model.question import Question, Word
from gitmem.model.record import Kind, State
from gitmem.relevance.question import parse_question

NOTES = {
    # path: (body, properties)
    "promoted/cache.md": (
        "The client keeps answers for five minutes.\n",
        {"title": "Cache lifetime", "key": "cache-ttl", "tags": "[tool/redis, domain/booking]", "kind": "fact"},
    ),
    "promoted/caches.md": ("Of cache-ttl and of other things, at length.\n", {"title": "Caching in general"}),
    "promoted/retry.md": (
        "A failed call is retried three times; retries back off.\n",
        {"title": "Retry policy", "aliases": "[Backoff]", "tags": "[tool/http]", "authority": "workspace_evidence"},
    ),
    "promoted/store.md": ("See src/app/session_store.py and getUserSession in it.\n", {"title": "Sessions"}),
    "promoted/cpp.md": ("The engine is written in C++, the tool in C#.\n", {"title": "Languages"}),
    "promoted/zh.md": ("缓存失效以后，重新加载三次。\n", {"title": "缓存策略", "tags": "[领域/缓存]"}),
    "promoted/ja.md": ("サーバーの設定は東京にある。\n", {"title": "設定"}),
    "promoted/accent.md": ("Le café de la gare.\n", {"title": "Café"}),
    "promoted/shell.md": ("Never run rm -rf on the share.\n", {"title": "Careful", "tags": "[Tool/Shell]"}),
    "baseline/goal.md": ("Ship the boat booking.\n", {"title": "Goal", "kind": "goal", "authority": "user_declared"}),
    "observations/2026-11/crlf.md": ("One line\r\nzebra line\r\n", {"title": "Line ends", "kind": "finding"}),
    "retired/2026-11/old.md": ("The old cache was a boat.\n", {"title": "Old cache", "key": "old"}),
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with Ground(tmp_path_factory.mktemp("query"), ":memory:") as made:
        for number, (path, (body, properties)) in enumerate(NOTES.items()):
            made.note(path, number, body, **properties)
        assert made.refresh().problems == ()
        yield made


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("cache-ttl", "cache"),
        ("CACHE-TTL", "cache"),
        ("what is the cache-ttl of the client", "cache"),
        ("Cache lifetime", "cache"),
        ("cache lifetime", "cache"),
        ("backoff", "retry"),
        ("C++", "cpp"),
        ("c#", "cpp"),
        ("rm -rf", "shell"),
        ("session_store.py", "store"),
        ("session_store", "store"),
        ("sessionStore", "store"),
        ("src/app/session_store.py", "store"),
        ("getUserSession", "store"),
        ("user session", "store"),
        ("失效", "zh"),
        ("重新加载", "zh"),
        ("缓存失效后怎么办", "zh"),
        ("缓", "zh"),
        ("東京", "ja"),
        ("サーバー", "ja"),
        ("cafe", "accent"),
        ("CAFÉ", "accent"),
        ("redis", "cache"),
        ("tool/redis", "cache"),
        ("retrying", "retry"),
        ("how often do we retry a call that failed", "retry"),
        ("failed call unicorn backs", "retry"),
        ("zebra", "crlf"),
        ("what's \"up (zebra", "crlf"),
    ],
)
def test_the_wanted_record_comes_first(ground: Ground, question: str, first: str) -> None:
    assert Path(ground.find(question)[0]).stem == first


@pytest.mark.parametrize(
    "question",
    ["", " ", '"', "*", "^", "NEAR(", "title:", "unicorn", "NOT", "\0", "\ud800", "'; DROP TABLE records; --"],
)
def test_nothing_fits(ground: Ground, question: str) -> None:
    assert ground.find(question) == []


@pytest.mark.parametrize(
    "term",
    ['"', '""', '" OR "zebra', "zebra*", "^zebra", "title:zebra", "a AND b", "NEAR(a b)", "-", "{title}: a", "\0"],
)
def test_terms_are_never_syntax(ground: Ground, term: str) -> None:
    for words in ((Word(term, (term,)),), (Word(term, (term,), term, (term,)), Word("unicorn", ("unicorn",)))):
        found = {match.row.path for match in search(ground.database, Query(Question("", words))).page}
        assert found <= {"observations/2026-11/crlf.md"}


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_any_text_can_be_searched_for(ground: Ground, text: str) -> None:
    paths = ground.find(text)
    assert len(set(paths)) == len(paths)
    assert set(paths) <= set(NOTES)


def test_those_with_every_word_come_before_those_with_some(ground: Ground) -> None:
    assert ground.find("cache client") == ["promoted/cache.md", "promoted/caches.md"]
    assert ground.find("cache client", limit=1) == ["promoted/cache.md"]


def test_an_exact_word_beats_another_form_of_it(ground: Ground, tmp_path: Path) -> None:
    with Ground(tmp_path, ":memory:") as other:
        for number, word in enumerate(["locks", "locked", "lock", "locking"]):
            other.note(f"promoted/{number}.md", number, f"{word} the file\n", title="Same")
        for word, first in (("lock", 2), ("locked", 1), ("locks", 0), ("locking", 3)):
            assert other.find(f"{word} file")[0] == f"promoted/{first}.md"


def test_a_search_is_of_one_moment_whoever_writes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "catalog.sqlite")
    with Ground(tmp_path, file) as ground, Ground(tmp_path, file) as other:
        for number in range(3):
            ground.note(f"promoted/{number}.md", number, title=f"Two workers {number}")
        ground.refresh()
        real = search_module.rank

        def slow(*args: Any) -> Any:
            for number in range(3):  # another process moves the records between two questions of this one
                (ground.root / "promoted" / f"{number}.md").rename(ground.root / "promoted" / f"moved {number}.md")
            other.refresh()
            return real(*args)

        monkeypatch.setattr(search_module, "rank", slow)
        assert sorted(ground.find("two workers")) == [f"promoted/{number}.md" for number in range(3)]
        monkeypatch.undo()
        assert len(other.find("two workers")) == 3


def test_a_match_says_why(ground: Ground) -> None:
    assert [match.matched for match in ground.search("retry calls")] == [
        ("title: retry", "body: call retried retries"),
    ]
    assert ground.search("cache-ttl")[0].matched == ("key: cache-ttl", "title: cache")
    assert ground.search("Cache Lifetime")[0].matched == ("title: cache lifetime", "key: Cache")
    assert ground.search("缓存失效")[0].matched == ("title: 缓存", "tags: 缓存", "body: 缓存 存失 失效")
    assert ground.search("retry")[0].words == ("retry", "retried", "retries")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"cache", "caches"}),
        ({"states": (State.RETIRED,)}, {"old"}),
        ({"states": tuple(State)}, {"cache", "caches", "old"}),
        ({"kinds": (Kind.FACT, Kind.FINDING)}, {"cache"}),
        ({"tags": ("tool",)}, {"cache"}),
        ({"tags": ("TOOL/redis", "domain")}, {"cache"}),
        ({"tags": ("#tool/redis/",)}, {"cache"}),
        ({"tags": ("tool/re",)}, set()),
        ({"tags": ("tool", "领域")}, set()),
    ],
)
def test_filters_narrow_a_search(ground: Ground, filters: dict[str, Any], found: set[str]) -> None:
    assert {Path(path).stem for path in ground.find("cache", filters=Filters(**filters))} == found


def test_filters_hold_for_exact_names_too(ground: Ground) -> None:
    assert ground.find("old") == []
    assert ground.find("old", filters=Filters(states=(State.RETIRED,))) == ["retired/2026-11/old.md"]
    assert ground.find("cache-ttl", filters=Filters(kinds=(Kind.GOAL,))) == []


@pytest.mark.parametrize("limit", [0, -1, 10**9, float("nan"), "10", True, None, 1.0])
def test_a_bad_limit_is_refused(ground: Ground, limit: Any) -> None:
    with pytest.raises(InputError) as caught:
        search(ground.database, Query(parse_question("cache")), Page(limit))
    assert caught.value.code == "bad-limit"


def test_a_row_holds_the_properties(ground: Ground) -> None:
    row = find_row(ground.database, IDS[0])
    assert row is not None
    assert row == Row(
        id=row.id,
        path=row.path,
        fingerprint=row.fingerprint,
        state=State.PROMOTED,
        kind=Kind.FACT,
        authority=None,
        title="Cache lifetime",
        key="cache-ttl",
        aliases=(),
        tags=("tool/redis", "domain/booking"),
        summary="",
        created=None,
        updated=None,
        verified=None,
        valid_from=None,
        valid_until=None,
        review_after=None,
    )
    assert (row.id, row.path) == (IDS[0], "promoted/cache.md")


def test_records_are_found_by_id_prefix_and_key(ground: Ground) -> None:
    assert find_row(ground.database, "zzzzzzzzzzzz") is None
    assert [row.id for row in find_by_prefix(ground.database, IDS[11])] == [IDS[11]]
    assert [row.id for row in find_by_prefix(ground.database, "0" * 11)] == IDS[:10]
    assert [row.id for row in find_by_prefix(ground.database, "0", limit=2)] == IDS[:2]
    assert [row.id for row in find_by_prefix(ground.database, "0", limit=-1)] == IDS[:12]
    assert find_by_prefix(ground.database, "") == []
    assert find_by_prefix(ground.database, "%") == []
    by_key = find_by_key(ground.database, "Cache-TTL")
    assert by_key is not None
    assert by_key.path == "promoted/cache.md"
    assert find_by_key(ground.database, "Cache lifetime") is None


def test_rows_are_listed_by_path(ground: Ground) -> None:
    delivered = sorted(path for path in NOTES if not path.startswith("retired/"))
    assert [row.path for row in list_rows(ground.database)] == delivered
    assert [row.path for row in list_rows(ground.database, limit=2)] == delivered[:2]
    assert [row.path for row in list_rows(ground.database, Filters(tags=("tool",)))] == [
        "promoted/cache.md",
        "promoted/retry.md",
        "promoted/shell.md",
    ]


DELIVERED = Filters()


def list_tags(ground: Ground, namespace: str = "", filters: Filters = DELIVERED) -> list[tuple[str, int]]:
    return [(one.tag, one.own) for one in count_tags(ground.database, filters, namespace) if one.own]


def test_tags_are_counted_whatever_their_case(ground: Ground) -> None:
    assert list_tags(ground) == [
        ("domain/booking", 1),
        ("tool/http", 1),
        ("tool/redis", 1),
        ("Tool/Shell", 1),
        ("领域/缓存", 1),
    ]
    assert list_tags(ground, "tool") == [("tool/http", 1), ("tool/redis", 1), ("Tool/Shell", 1)]
    assert list_tags(ground, "tool", Filters(states=(State.RETIRED,))) == []
    assert [(one.tag, one.own, one.total) for one in count_tags(ground.database, Filters(), "#tool/")] == [
        ("tool", 0, 3),
        ("tool/http", 1, 1),
        ("tool/redis", 1, 1),
        ("Tool/Shell", 1, 1),
    ]


def test_a_tag_in_the_body_is_a_tag(tmp_path: Path) -> None:
    with Ground(tmp_path, ":memory:") as other:
        other.note("promoted/a.md", 1, "Text with #tool/pytest and `#code`.\n\n# Heading\n", tags="[Client/acme]")
        other.note("promoted/b.md", 2, "#client/ACME again, #client/acme\n", tags="[client/acme]")
        other.refresh()
        assert list_tags(other) == [("Client/acme", 2), ("tool/pytest", 1)]
        assert [row.path for row in list_rows(other.database, Filters(tags=("tool",)))] == ["promoted/a.md"]
        other.note("promoted/a.md", 1, "No tag any more.\n")
        other.refresh()
        assert list_tags(other) == [("client/acme", 1)]


def test_a_word_in_nearly_all_records_does_not_decide(tmp_path: Path) -> None:
    with Ground(tmp_path, ":memory:") as other:
        for number in range(40):
            other.note(f"promoted/{number:02}.md", number, f"common filler number{number}\n")
        other.note("promoted/x.md", 50, "rare\n")
        assert other.find("common rare")[0] == "promoted/x.md"
