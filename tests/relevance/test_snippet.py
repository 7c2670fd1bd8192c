import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.relevance.snippet import find_spans, make_snippet


def mark(text: str, *words: str) -> str:
    """Return ``text`` with the places of ``words`` in brackets."""
    marked, at = "", 0
    for start, end in find_spans(text, words):
        marked += f"{text[at:start]}[{text[start:end]}]"
        at = end
    return marked + text[at:]


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        (["parse_url"], "[parseUrl] [ParseURL] [parse-url] [parse_url] sparse_url parse_urls"),
        (["retries"], "[Retries], retry, retriesx"),
        (["http", "server"], "[HTTPServer]2 and [http] [server] observer"),
        (["getUserSession"], "[get_user_session] [getUserSession]ById"),
        (["two workers"], "[Two workers]; [two-workers]; two more workers"),
        (["cafe"], "[Café] [CAFE\u0301]"),
        (["api"], "[ＡＰＩ] [api]"),
        (["缓存", "存失", "失效"], "在[缓存失效]以后，[缓存]"),
        (["C++"], "[C++] and C"),
        (["src/auth/login.py"], "see [src/auth/login.py], [src auth login py]"),
        (["", "(", "+"], "( +"),
        (["ERR2041"], "[ERR_2041] and [ERR-2041]"),
        (["cachettl"], "the [cache-ttl]"),
        (["strasse"], "Die [Straße] und [STRASSE]"),
        (["file"], "one [ﬁle], profile"),
        (["istanbul"], "in [İstanbul]"),
        (["テスト"], "この[ﾃｽﾄ]は"),
        (["ελληνικος"], "[Ελληνικός]"),
        (["cafe"], f"[C{chr(0x301) * 3}afe{chr(0x301) * 12}] here"),
        (["1.2.3", "python", "abc"], "v[1.2.3], [Python]3.11, [ABC]9, abcd"),
    ],
)
def test_words_are_marked_in_all_their_forms(words: list[str], marked: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    assert mark(text, *words) == marked


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aB_-. 锁É\u0301"), max_size=60), st.lists(st.text(max_size=5), max_size=4))
def test_places_are_apart_and_in_order(text: str, words: list[str]) -> None:
    ends = [0, *(at for span in find_spans(text, words) for at in span)]
    assert ends == sorted(ends)
    assert all(start < end <= len(text) for start, end in find_spans(text, words))


def test_a_huge_text_of_matches_takes_no_time() -> None:
    before = time.process_time()
    make_snippet("aa " * 300_000, ["aa"] + [f"a{'a' * i}" for i in range(100)], 160)
    assert time.process_time() - before < 5


class TestSnippet:
    TEXT = (
        "The quick brown fox jumps over the lazy dog. " * 5
        + "Retries stop at three: the\ncache-ttl is short. "
        + "x " * 99
    )

    def test_shows_where_the_terms_are(self) -> None:
        snippet = make_snippet(self.TEXT, ["retries", "cache-ttl"], 60)
        assert snippet == "…dog. Retries stop at three: the cache-ttl is short. x x x…"

    def test_prefers_the_place_with_more_terms(self) -> None:
        text = "cache here. " + "y " * 80 + "the cache of retries, then " + "y " * 80
        assert "cache of retries" in make_snippet(text, ["cache", "retries"], 50)

    def test_finds_chinese(self) -> None:
        text = "这里没有别的内容。" * 20 + "缓存失效后重试三次。" + "这里没有别的内容。" * 20
        snippet = make_snippet(text, ["失效"], 40)
        assert "缓存失效后重试" in snippet
        assert len(snippet) <= 40

    @pytest.mark.parametrize("terms", [[], [""], ["absent"], ["("]])
    def test_begins_at_the_beginning_without_a_match(self, terms: list[str]) -> None:
        assert make_snippet("One two three four five.", terms, 12) == "One two…"

    def test_a_short_text_is_shown_whole(self) -> None:
        assert make_snippet("One\n\n two.", ["two"], 12) == "One two."

    @settings(derandomize=True, max_examples=200, deadline=None)
    @given(st.text(st.sampled_from("ab 锁\n.İß"), max_size=120), st.integers(8, 60))
    def test_is_one_line_within_its_bound(self, text: str, max_chars: int) -> None:
        snippet = make_snippet(text, ["ab", "锁", "ß"], max_chars)
        assert len(snippet) <= max_chars
        assert "\n" not in snippet
