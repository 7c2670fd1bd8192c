"""Words without their endings, as the full-text engine leaves them."""

import sqlite3

import pytest

from gitmem.relevance.background import _COMMON
from gitmem.relevance.stem import stem

TEXT = """
caresses ponies ties cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned falling
hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci digitizer conformabli
radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness hopefulness
callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical hopeful goodness
revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption
homologou communism activate angulariti homologous effective bowdlerize probate rate cease controll roll yesterday
toying syzygy abilities configuration migrations retries caching workers deployed releases is as by oed ing
"""


def test_every_word_is_stemmed_as_the_engine_stems_it() -> None:
    words = sorted({*TEXT.split(), *(word for forms in _COMMON.values() for word in forms.split())})
    engine = sqlite3.connect(":memory:")
    engine.execute("CREATE VIRTUAL TABLE terms USING fts5(word, tokenize = 'porter unicode61 remove_diacritics 2')")
    engine.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(terms, 'instance')")
    engine.executemany("INSERT INTO terms(rowid, word) VALUES (?, ?)", enumerate(words))

    expected = {words[row]: term for term, row in engine.execute("SELECT term, doc FROM stems")}
    engine.close()

    assert {word: stem(word) for word in words} == expected


@pytest.mark.parametrize("word", ["", "a", "is", "naïve", "x2", "缓存", "a" * 65])
def test_what_is_no_english_word_stays(word: str) -> None:
    assert stem(word) == word
