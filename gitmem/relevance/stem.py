"""English words without their endings, as the full-text engine's ``porter`` tokenizer leaves them.

The engine stems what it stores; what is measured in a text beside it must meet in the same forms. M. F. Porter, "An
algorithm for suffix stripping", Program 14 (1980). Pure.
"""

from __future__ import annotations

import functools
import re

_MAX_CHARS = 64
_VOWELS = "aeiou"
_STEP_2 = (
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize"
    " ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log"
)
_STEP_3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
_STEP_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"


def _longest_first(rules: str) -> tuple[tuple[str, str], ...]:
    pairs = [(rule.partition(":")[0], rule.partition(":")[2]) for rule in rules.split(" ")]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


_RULES_2, _RULES_3, _RULES_4 = (_longest_first(rules) for rules in (_STEP_2, _STEP_3, _STEP_4))
_ENDINGS_2, _ENDINGS_3, _ENDINGS_4 = (
    tuple(ending for ending, _to in rules) for rules in (_RULES_2, _RULES_3, _RULES_4)
)


@functools.lru_cache(maxsize=16384)  # a language has few words, and every record is made of them
def stem(word: str) -> str:
    """Return ``word``, in small letters, without its endings; unchanged where it is no English word."""
    if not 2 < len(word) <= _MAX_CHARS or not (word.isascii() and word.isalpha()):
        return word
    word = _strip_plural(word)
    word = _strip_past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    # Most words have none of these endings: one look tells.
    if word.endswith(_ENDINGS_2):
        word = _replace(word, _RULES_2)
    if word.endswith(_ENDINGS_3):
        word = _replace(word, _RULES_3)
    if word.endswith(_ENDINGS_4):
        word = _strip_suffix(word)
    return _tidy(word)


def _shape(word: str) -> str:
    """Return ``word`` as ``v`` for vowels and ``c`` for consonants; a ``y`` after a consonant is a vowel."""
    shape = ""
    for char in word:
        is_vowel = char in _VOWELS or (char == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem_: str) -> int:
    return len(re.findall("vc", re.sub(r"(.)\1+", r"\1", _shape(stem_))))


def _has_vowel(stem_: str) -> bool:
    return "v" in _shape(stem_)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _strip_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word:
            return _mend(rest) if _has_vowel(rest) else word
    return word


def _mend(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, other in rules:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _strip_suffix(word: str) -> str:
    for ending, _none in _RULES_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if ending == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest if _measure(rest) > 1 else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
