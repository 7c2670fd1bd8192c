import pytest

from gitmem.relevance.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH


def test_lists_have_the_form_in_which_terms_meet_them() -> None:
    assert all(word.isascii() and word.isalpha() and word == word.lower() for word in ENGLISH)
    assert {len(word) for word in CHINESE_WORDS} == {2}
    assert {len(char) for char in CHINESE_CHARACTERS} == {1}


@pytest.mark.parametrize("word", ["test", "run", "use", "new", "key", "up", "down", "first", "state", "no-match"])
def test_words_that_carry_a_subject_are_kept(word: str) -> None:
    assert word not in ENGLISH
