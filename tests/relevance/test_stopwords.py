import pytest

from gitmem.relevance.question import parse_question
from gitmem.relevance.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH


def test_lists_have_the_form_in_which_terms_meet_them() -> None:
    assert all(word.isascii() and word.isalpha() and word == word.lower() for word in ENGLISH)
    assert {len(word) for word in CHINESE_WORDS} == {2}
    assert {len(char) for char in CHINESE_CHARACTERS} == {1}


@pytest.mark.parametrize("word", ["test", "run", "use", "new", "key", "up", "down", "first", "state"])
def test_words_that_carry_a_subject_are_kept(word: str) -> None:
    assert [one.terms for one in parse_question(f"what is the {word}").words] == [(word,)]


def test_a_stop_word_in_a_compound_goes_and_the_compound_stays() -> None:
    (word,) = parse_question("when is there a no-match").words
    assert (word.whole, word.terms) == ("nomatch", ("match",))
    assert [word.terms for word in parse_question("is there a").words] == [("is",), ("there",), ("a",)]
