import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.relevance.terms import extract_terms, split_parts, split_word

STORED = [
    ("", ""),
    ("Two workers, no more.", "two workers, no more."),
    ("set cache-ttl now", "set cache-ttl now cachettl"),
    ("cache_ttl cacheTtl", "cache_ttl cachettl cachettl cache ttl"),
    ("a.b x@y foo::bar", "a.b x@y foo::bar ab xy foobar"),
    ("end. Next", "end. next"),
    ("- item\n- other --- -> -5", "- item\n- other --- -> -5"),
    (
        "`rm -rf`, --no-verify (-std=c++17)",
        "`rm -rf`, --no-verify (-std=c++17) optionrf noverify optionnoverify optionstd",
    ),
    ("HTTPServer2 ERR_2041", "httpserver2 err_2041 err2041 http server2 server httpserver"),
    ("numpy2, Web3, ABC123 and x86: a1b2c3", "numpy2, web3, abc123 and x86: a1b2c3 numpy web abc"),
    ("Python3 2 python3.11", "python3 2 python3.11 python311 311 3.11 python python"),
    ("since v1.2.3 (lib-v2.0)", "since v1.2.3 (lib-v2.0) v123 123 1.2.3 libv20 libv2 20 2.0"),
    ("Schlüssel12 Key12", "schlüssel12 key12 key"),
    ("in src/app/session_store.py", "in src/app/session_store.py srcappsessionstorepy sessionstorepy sessionstore"),
    ("getUserSession", "getusersession get user session"),
    ("HTTPServer utf8Decoder", "httpserver utf8decoder http server utf8 decoder utf"),
    ("APIs of the API", "apis of the api"),
    ("C++ and C#, not a+b or #1", "c++ and c#, not a+b or #1 cplusplus csharp"),
    ("缓存失效", " 缓 存 失 效 缓存 存失 失效 "),
    ("用pytest测", " 用 pytest 测 "),
    ("サーバー", " サ ー バ ー サー ーバ バー "),
    ("ＡＰＩ Straße", "api strasse"),
    ("Ελληνικά, ёлка; Čeština", "ελληνικα, елка; čeština"),
    ("שָׁלוֹם مُحَمَّد ガラス 한글", "שלום محمد  ガ ラ ス ガラ ラス   한 글 한글 "),
    ("café_bar sessionStore", "café_bar sessionstore session store"),
]


@pytest.mark.parametrize(("text", "terms"), STORED)
def test_terms_of_a_text(text: str, terms: str) -> None:
    assert extract_terms(text) == terms


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("parse_url", ["parse", "url"]),
        ("getUserID", ["get", "user", "id"]),
        ("two words", ["two", "words"]),
        ("缓存", ["缓存"]),
    ],
)
def test_parts_of_a_word(word: str, parts: list[str]) -> None:
    assert split_word(word) == parts


@pytest.mark.parametrize(
    ("word", "parts"),
    [("cacheTtl", ["cache", "ttl"]), ("CaféBar-Tür", ["cafébar", "tür"]), ("ΚΑΙΡΌΣ", ["καιροσ"])],
)
def test_the_parts_of_a_word_as_terms_lose_no_letter(word: str, parts: list[str]) -> None:
    assert split_parts(word) == parts


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_stored(text: str) -> None:
    assert not set(extract_terms(text)) & set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
