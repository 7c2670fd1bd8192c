import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.relevance.terms import MAX_QUERY_BYTES, MAX_QUERY_WORDS, extract_terms, make_snippet, parse_query

STORED = [
    ("", ""),
    ("Two workers, no more.", "two workers, no more."),
    ("set cache-ttl now", "set cache-ttl now cachettl"),
    ("cache_ttl cacheTtl", "cache_ttl cachettl cachettl cache ttl"),
    ("a.b x@y foo::bar", "a.b x@y foo::bar ab xy foobar"),
    ("end. Next", "end. next"),
    ("- item\n- other", "- item\n- other"),
    ("in src/app/session_store.py", "in src/app/session_store.py srcappsessionstorepy sessionstorepy sessionstore"),
    ("getUserSession", "getusersession get user session"),
    ("HTTPServer utf8Decoder", "httpserver utf8decoder http server utf8 decoder"),
    ("APIs of the API", "apis of the api"),
    ("C++ and C#, not a+b or #1", "c++ and c#, not a+b or #1 cplusplus csharp"),
    ("缓存失效", " 缓 存 失 效 缓存 存失 失效 "),
    ("用pytest测", " 用 pytest 测 "),
    ("サーバー", " サ ー バ ー サー ーバ バー "),
    ("ＡＰＩ Straße", "api strasse"),
    ("café_bar sessionStore", "café_bar sessionstore session store"),
]

ASKED = [
    # question, terms
    ("two workers", ["two", "workers"]),
    ("Two two TWO", ["two"]),
    ("how do I run the tests?", ["run", "tests"]),
    ("the who", ["the", "who"]),
    ("cache-ttl", ["cachettl", "cache", "ttl"]),
    ("cacheTtl", ["cachettl", "cache", "ttl"]),
    ("getUserSession()", ["getusersession", "user", "session"]),
    ("src/session_store.py", ["srcsessionstorepy", "sessionstorepy", "sessionstore", "src", "session", "store", "py"]),
    ("C++ or C#", ["cplusplus", "csharp"]),
    ("缓存的锁", ["缓存", "缓", "存", "锁"]),
    ("如何配置", ["何配", "配置", "如", "何", "配", "置"]),
    ("的", ["的"]),
    ("使用pytest", ["使用", "使", "用", "pytest"]),
    ("ＡＰＩ", ["api"]),
    ("naïve_case", ["naïve", "case"]),
]

PLAIN_DATA = [
    # question, terms: nothing in it is syntax
    ('"', []),
    ("*", []),
    ("^", []),
    ("   \n", []),
    ("\ud800", []),
    ("AND", ["and"]),
    ("NOT x", ["x"]),
    ("NEAR(", ["near"]),
    ("title:two", ["titletwo", "title", "two"]),
    ("foo-bar", ["foobar", "foo", "bar"]),
    ("C++", ["cplusplus"]),
    ("a.b", ["ab"]),
    ("x@y", ["xy"]),
    ("rm -rf", ["rm", "rf"]),
    ("'; DROP TABLE", ["drop", "table"]),
    ("a\0b", ["b"]),
]


@pytest.mark.parametrize(("text", "terms"), STORED)
def test_terms_of_a_text(text: str, terms: str) -> None:
    assert extract_terms(text) == terms


@pytest.mark.parametrize(("question", "terms"), ASKED + PLAIN_DATA)
def test_terms_of_a_question(question: str, terms: list[str]) -> None:
    assert [token.term for token in parse_query(question)] == terms


def test_a_term_knows_its_word() -> None:
    assert [token.word for token in parse_query("Set cache-ttl 缓存")] == [
        "Set",
        *["cache-ttl"] * 3,
        "缓存",
        "缓",
        "存",
    ]


@pytest.mark.parametrize(
    "question",
    ["word " * 10_000, "x" * 1_000_000, "e" + "\u0301" * 10_000, "w " * (MAX_QUERY_WORDS + 1), "锁" * 130],
)
def test_a_question_that_is_too_long_is_refused(question: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_query(question)
    assert caught.value.code == "query-too-long"


def test_the_longest_question_is_taken() -> None:
    words = [f"w{i}" for i in range(MAX_QUERY_WORDS)]
    assert [token.term for token in parse_query(" ".join(words))] == words
    assert len(parse_query("x" * MAX_QUERY_BYTES)) == 1


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_asked_and_stored(text: str) -> None:
    tokens = parse_query(text[:60])
    assert all(token.term and not token.term.isspace() for token in tokens)
    assert not set(extract_terms(text)) & set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(st.sampled_from("aB9_-./:@+#é缓存サ 한"), max_size=24))
def test_every_term_of_a_question_is_stored_for_the_same_text(text: str) -> None:
    # The engine splits what is stored at everything but letters and digits.
    stored = "".join(char if char.isalnum() else " " for char in extract_terms(text)).split()
    # Beside letters that are not ASCII the two may differ in what they take as one identifier.
    asked = [token.term for token in parse_query(text) if token.word.isascii() and "é" not in text]
    assert [term for term in asked if term not in stored] == []


class TestSnippet:
    TEXT = (
        "The quick brown fox jumps over the lazy dog. " * 5
        + "Retries stop at three: the\ncache-ttl is short. "
        + "x " * 99
    )

    def test_shows_where_the_terms_are(self) -> None:
        snippet = make_snippet(self.TEXT, ["retry", "cache-ttl"], 60)
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
