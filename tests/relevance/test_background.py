"""How much a word says about a subject."""

from gitmem.relevance.background import _COMMON, LEAST_WEIGHT, UNCOMMON_WEIGHT, weigh
from gitmem.relevance.stem import stem


def test_the_rarer_a_word_the_more_it_weighs() -> None:
    words = ["the", "people", "company", "server", "postgresql"]
    weights = [weigh(stem(word)) for word in words]

    assert weights == sorted(weights)
    assert weights[0] == LEAST_WEIGHT
    assert weights[-1] == UNCOMMON_WEIGHT


def test_each_stem_stands_in_one_step() -> None:
    forms = [form for step in _COMMON.values() for form in step.split()]

    assert len(forms) == len(set(forms))
    assert all(form.isascii() and form.isalpha() and form.islower() for form in forms)
    assert 1500 < len(forms) < 3000
