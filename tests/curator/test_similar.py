"""How alike two drafts are: a share that behaves, and differences that keep like texts apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.similar import NEAR, SAME, find_difference, is_contained, list_words, may_say_same, says_same, share
from gitmem.model.record import Draft

TEXTS = st.text(st.sampled_from("ab cD 1.2/_-é漢字かな한국\n"), max_size=60)
DRAFTS = st.builds(Draft, title=TEXTS, body=TEXTS, key=st.none() | TEXTS)


def test_equal_ones_share_all_and_others_their_words() -> None:
    one = Draft("Run tests with two workers", "More workers exhaust the database.")
    assert share(one, one) == 1
    assert share(one, Draft("Run the tests with 2 workers", "More workers exhaust a database")) == 1
    assert share(one, Draft("Deploy on Fridays", "Nobody minds.")) == 0
    assert share(Draft(""), Draft("")) == 0
    assert share(Draft("the of a"), Draft("the of a")) == 0


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Run tests with two workers", "Run the tests with 2 workers", True),
        ("Run tests with two workers", "Run tests with four workers", False),
        ("测试要用两个工作进程运行否则数据库的连接会耗尽", "测试要用两个工作进程运行，否则数据库的连接会耗尽。", True),
        ("缓存在三十秒后过期", "部署在星期五进行", False),
        ("データベースのテストは二つのワーカーで実行", "データベースのテストは二つのワーカーで実行する", True),
        ("Never push to main", "Always push to main", False),
        (
            "Look at src/a.py for the retry policy of the client",
            "Look at src/b.py for the retry policy of the client",
            False,
        ),
        (
            "Service A keeps its retry policy in the config file",
            "Service B keeps its retry policy in the config file",
            False,
        ),
        (
            "The deploy script for staging reads its settings from the env file",
            "The deploy script for production reads its settings from the env file",
            False,
        ),
        ("Don't use tabs in Makefiles", "Use tabs in Makefiles", False),
        ("The cache keeps 30 s", "The cache keeps 60 s", False),
        ("The cache keeps 30 s", "The caches keep 30 s", True),
    ],
)
def test_the_same_in_other_words_and_another_in_nearly_the_same(a: str, b: str, same: bool) -> None:
    assert says_same(list_words(Draft(a)), list_words(Draft(b))) is same


def test_what_sets_apart_is_named() -> None:
    def difference(a: str, b: str) -> str:
        return find_difference(list_words(Draft(a)), list_words(Draft(b)))

    assert difference("Wait 30 s", "Wait 60 s") == "values"
    assert difference("Wait 30 s", "Wait 30 s, since v1.2") == ""
    assert difference("Don't squash commits", "Squash commits") == "denial"
    assert difference("See a/b.c", "See a/b.d") == "names"
    assert difference("Deploy to staging", "Deploy to production") == "titles"
    assert difference("Deploy on Fridays", "Deploy on Fridays at noon, never eat soup") == ""


def test_a_denial_in_long_texts_that_differ_is_no_difference() -> None:
    a = Draft("Tests need two workers", "More of them do not help.")
    b = Draft("Tests need two workers", "The database is slow, and each of them opens nine connections to it.")
    assert find_difference(list_words(a), list_words(b)) == ""


def test_a_short_text_is_contained_in_a_longer_one() -> None:
    short, long = Draft("Two workers"), Draft("Run tests with two workers", "More exhaust it.")
    assert is_contained(list_words(short), list_words(long))
    assert not is_contained(list_words(long), list_words(short))
    assert not is_contained(list_words(Draft("")), list_words(long))


@settings(derandomize=True, max_examples=300)
@given(DRAFTS, DRAFTS)
def test_a_share_is_between_0_and_1_symmetric_and_decides_as_told(a: Draft, b: Draft) -> None:
    found = share(a, b)
    assert 0 <= found <= 1
    assert found == share(b, a)
    assert share(a, a) == (1 if list_words(a).every else 0)
    words = list_words(a), list_words(b)
    assert says_same(*words) == says_same(words[1], words[0])
    assert find_difference(*words) == find_difference(words[1], words[0])
    assert says_same(*words) == (found >= SAME and not find_difference(*words))
    assert not says_same(*words) or (may_say_same(words[0], b) and may_say_same(words[1], a))
    assert NEAR < SAME


def test_only_the_beginning_of_a_long_text_counts() -> None:
    words = list_words(Draft("t", "word " * 100_000 + "end"))
    assert words.every == {"word"} | list_words(Draft("t")).every


SOME = (
    *("Runs", "tests", "two", "2", "WORKERS", "src/a.py", "数据库", "数据"),
    *("ΣΊΣΥΦΟΣ", "Straße", "exhausts", "İstanbul", "ﬁles"),
)
WORDS = st.lists(st.sampled_from(SOME), max_size=12)


@settings(derandomize=True, max_examples=500)
@given(WORDS, WORDS)
def test_nothing_that_says_the_same_is_passed_over_in_the_cheap_look(a: list[str], b: list[str]) -> None:
    one, other = Draft(" ".join(a[:3]), " ".join(a)), Draft(" ".join(b[:3]).upper(), " ".join(b).lower())
    if says_same(list_words(one), list_words(other)):
        assert may_say_same(list_words(one), other)
        assert may_say_same(list_words(other), one)
