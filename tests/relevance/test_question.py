import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.question import Exclusion, Phrase, Question, Word
from gitmem.relevance.question import MAX_QUERY_BYTES, MAX_QUERY_WORDS, parse_question, take_apart
from gitmem.relevance.terms import extract_terms

WORDS = [
    # question, for each word: whole, terms, further
    ("two workers", ["two", "workers"]),
    ("Two two TWO", ["two"]),
    ("how do I run the tests?", ["run", "tests"]),
    ("the who", ["the", "who"]),
    ("cache-ttl", ["cachettl=cache ttl"]),
    ("cacheTtl", ["cachettl=cache ttl"]),
    ("getUserSession()", ["getusersession=user session"]),
    ("src/session_store.py", ["srcsessionstorepy=src session store py+sessionstorepy sessionstore"]),
    ("src/sessionStore", ["srcsessionstore=src session store+sessionstore"]),
    ("HTTPServer2 ERR_2041", ["httpserver2=http server2", "err2041=err 2041"]),
    ("C++ or C#", ["cplusplus", "csharp"]),
    ("缓存的锁", ["缓存 锁+缓 存"]),
    ("锁", ["锁"]),
    ("的", ["的"]),
    ("使用pytest", ["使用+使 用", "pytest"]),
    ("ＡＰＩ", ["api"]),
    ("naïve_case", ["naïve case"]),
    ("1.2.3 or v1.2", ["123=1.2.3", "v12=v1+12"]),
    ("a.b x@y to-do", ["ab=", "xy=", "todo="]),
    # Nothing in these is syntax.
    ('"', []),
    ("*", []),
    ("^", []),
    ("   \n", []),
    ("\ud800", []),
    ("AND", ["and"]),
    ("NOT x", ["x"]),
    ("NEAR(", ["near"]),
    ("title:two", ["titletwo=title two"]),
    ("'; DROP TABLE", ["drop", "table"]),
    ("a\0b", ["b"]),
    ('5" what\'s "up (', ["5", "up"]),
    ('say "two workers', ["say", "two", "workers"]),
    # A minus in a command line is none of the language's.
    ("rm -rf", ["rm", "rf+optionrf"]),
    ("grep -n x", ["grep", "n+optionn", "x"]),
    ("git commit --no-verify", ["git", "commit", "noverify=verify+optionnoverify"]),
    ("C++ -std=c++17", ["cplusplus", "std+optionstd", "c", "17"]),
    ("head -20 - -- ---", ["head", "20"]),
    ("-redis", ["redis+optionredis"]),
    ("-redis -cache", ["redis+optionredis", "cache+optioncache"]),
    ("x -> y", ["x", "y"]),
]


def show(word: Word) -> str:
    whole = f"{word.whole}=" if word.whole else ""
    return whole + " ".join(word.terms) + (f"+{' '.join(word.further)}" if word.further else "")


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words(text: str, words: list[str]) -> None:
    question = parse_question(text)
    assert ([show(word) for word in question.words], question.phrases, question.exclusions) == (words, (), ())


def test_a_word_is_as_it_was_typed() -> None:
    assert [word.text for word in parse_question("Set Cache-TTL -rf 缓存").words] == ["Set", "Cache-TTL", "-rf", "缓存"]


@pytest.mark.parametrize(
    ("text", "words", "phrases"),
    [
        ('"two workers"', [], [("two workers", ("two workers",))]),
        ('run "Two  Workers", slowly', ["run", "slowly"], [("Two  Workers", ("two workers",))]),
        ('"the" who', [], [("the", ("the",))]),
        ('"parse_url fails"', [], [("parse_url fails", ("parse_url fails",))]),
        ('"C++"', [], [("C++", ("cplusplus",))]),
        ('"缓存时间"', [], [("缓存时间", ("缓 存 时 间",))]),
        ('"缓存 pytest"', [], [("缓存 pytest", ("缓 存", "pytest"))]),
        ('"a" "a"', [], [("a", ("a",))]),
        ('"" "!" x', ["x"], []),
        ('say"yes"', ["say", "yes"], []),
    ],
)
def test_phrases(text: str, words: list[str], phrases: list[tuple[str, tuple[str, ...]]]) -> None:
    question = parse_question(text)
    assert [show(word) for word in question.words] == words
    assert question.phrases == tuple(Phrase(*phrase) for phrase in phrases)


REDIS = Word("redis", ("redis",))


@pytest.mark.parametrize(
    ("text", "exclusions"),
    [
        ("cache -redis", [Exclusion("redis", REDIS, "optionredis")]),
        ("-redis, cache", [Exclusion("redis", REDIS, "optionredis")]),
        ('cache -"two workers"', [Exclusion("two workers", Phrase("two workers", ("two workers",)))]),
        ('"cache" -"redis"', [Exclusion("redis", Phrase("redis", ("redis",)))]),
        ("缓存 -过期", [Exclusion("过期", Word("过期", ("过期",), "", ("过", "期")))]),
        (
            "cache -parse_url",
            [Exclusion("parse_url", Word("parse_url", ("parse", "url"), "parseurl"), "optionparseurl")],
        ),
    ],
)
def test_exclusions(text: str, exclusions: list[Exclusion]) -> None:
    question = parse_question(text)
    assert question.exclusions == tuple(exclusions)
    assert "redis" not in question.name


def test_what_is_excluded_apart_is_excluded_whatever_it_looks_like() -> None:
    question = parse_question("rm", ["-rf", "two workers", " ! ", "redis"])
    assert question.exclusions == (
        Exclusion("-rf", Word("rf", ("rf",))),
        Exclusion("two workers", Phrase("two workers", ("two workers",))),
        Exclusion("redis", REDIS),
    )


def test_a_question_is_named_without_marks_and_exclusions() -> None:
    assert parse_question('"Cache  lifetime" of -redis X').name == "Cache lifetime of X"


def test_phrases_come_apart() -> None:
    question = parse_question('read "Nothing is impossible" -redis')
    assert take_apart(question) == Question(
        question.name,
        (Word("read", ("read",)), Word("Nothing", ("nothing",)), Word("impossible", ("impossible",))),
        exclusions=question.exclusions,
    )


@pytest.mark.parametrize(
    "text",
    ["word " * 10_000, "x" * 1_000_000, "e" + "\u0301" * 10_000, "w " * (MAX_QUERY_WORDS + 1), "锁" * 130, '"' * 2000],
)
def test_a_question_that_is_too_long_is_refused(text: str) -> None:
    for question, exclude in ((text, []), ("x", [text])):
        with pytest.raises(InputError) as caught:
            parse_question(question, exclude)
        assert caught.value.code == "query-too-long"


def test_the_longest_question_is_taken() -> None:
    words = [f"w{i}" for i in range(MAX_QUERY_WORDS)]
    assert [show(word) for word in parse_question(" ".join(words)).words] == words
    assert len(parse_question("x" * MAX_QUERY_BYTES).words) == 1


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.text(st.sampled_from("aB9_-./:@+#é缓存サ 한\"'(*=\0\ud800"), max_size=40), st.text(max_size=8))
def test_any_text_can_be_asked(text: str, exclude: str) -> None:
    question = parse_question(text, [exclude])
    for word in question.words:
        assert word.terms or word.whole
        assert all(term and not term.isspace() for term in (*word.terms, *word.further))
    assert all(phrase.parts for phrase in question.phrases)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(st.sampled_from("aB9_-./:@+#é缓存サ 한"), max_size=24))
def test_a_text_has_every_word_of_the_same_question(text: str) -> None:
    # The engine splits what is stored at everything but letters and digits.
    stored = "".join(char if char.isalnum() else " " for char in extract_terms(text)).split()
    # Beside letters that are not ASCII the two may differ in what they take as one identifier.
    words = [word for word in parse_question(text).words if word.text.isascii() and "é" not in text]
    words = [word for word in words if word.text[-1] not in "+#"]
    missing = [word for word in words if word.whole not in stored and not set(word.terms) <= set(stored)]
    assert missing == []
