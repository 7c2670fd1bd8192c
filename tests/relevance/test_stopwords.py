import pytest

from gitmem.relevance.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH
from gitmem.relevance.terms import parse_query


def test_lists_have_the_form_in_which_terms_meet_them() -> None:
    assert all(word.isascii() and word.isalpha() and word == word.lower() for word in ENGLISH)
    assert {len(word) for word in CHINESE_WORDS} == {2}
    assert {len(char) for char in CHINESE_CHARACTERS} == {1}


@pytest.mark.parametrize("word", ["test", "run", "use", "new", "key", "up", "down", "first", "state"])
def test_words_that_carry_a_subject_are_kept(word: str) -> None:
    assert [token.term for token in parse_query(f"what is the {word}")] == [word]


def test_a_stop_word_in_a_compound_goes_and_the_compound_stays() -> None:
    assert [token.term for token in parse_query("when is there a no-match")] == ["nomatch", "match"]
    assert [token.term for token in parse_query("is there a")] == ["is", "there", "a"]
