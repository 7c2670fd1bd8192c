"""How much two drafts have in common: the share of their words, and what sets them apart all the same. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from gitmem.model.record import Draft
from gitmem.patterns import late
from gitmem.values import dataclass

SAME = 0.75
"""From which share on two drafts say the same, unless something sets them apart."""
NEAR = 0.45
"""From which share on two drafts are shown beside each other."""
CONTAINED = 0.9
"""From which part of its words on, one text is contained in another."""
_ALIKE = 0.5
_REWORDED = 0.9
MAX_CHARS = 4000
"""How much of a text counts: its beginning."""

_CJK = (
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003134f"
)
_WORD = late(rf"[{_CJK}]+|(?:[^\W_{_CJK}]|[_\-./](?=[^\W_{_CJK}]))+")
_CJK_RUN = late(rf"[{_CJK}]+")
_NEGATION = late(
    r"(?i)\b(?:not|never|no|none|without|cannot|nothing|neither|avoid|stop)\b|n[’']t\b|\b(?:nicht|kein\w*|nie|ohne)\b|不(?![然同过仅但])|[没無未勿别]|ません|ない"
)
_STOP = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have how i if in into is it its must need
    needs of on or our shall should so than that the their them then there these they this those to up us use uses used
    was we were what when where which while who will with would you your always
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}


_DIGITS = frozenset(_NUMBERS.values())


@dataclass(frozen=True)
class Words:
    """The words of a draft: those of its title, and all; which of them are values; whether it denies something.

    ``values`` are words with a digit, numbers among them, ``names`` other words with parts (``src/a.py``) and single
    capitals: what tells two texts apart that are otherwise alike. ``denies`` says it of title and text together.
    """

    title: frozenset[str]
    every: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]
    title_denies: bool
    denies: bool


def share(a: Draft, b: Draft) -> float:
    """Return how much of the words of ``a`` and ``b`` both have, 0 to 1; of equal ones 1, of ones without words 0.

    Words of title, text and key count, once each, without case, stop words and plurals; Chinese, Japanese and Korean
    in pairs of characters. The words of the titles weigh as much as all others together at most. Symmetric.
    """
    return share_words(list_words(a), list_words(b))


def share_words(a: Words, b: Words) -> float:
    """Return ``share`` of the drafts that have these words."""
    every = _common(a.every, b.every)
    title = _common(a.title, b.title)
    return round(max(every, (every + title) / 2), 4)


def says_same(a: Words, b: Words) -> bool:
    """Tell whether two drafts say the same: they share most words, and nothing sets them apart."""
    both = len(a.every & b.every)
    # Most are far apart, and seen to be so by this alone: half of the share comes from the titles at most.
    if 2 * both < len(a.every) + len(b.every) - both:
        return False
    return share_words(a, b) >= SAME and not find_difference(a, b)


def may_say_same(words: Words, other: Draft) -> bool:
    """Tell cheaply whether ``other`` could say the same as what has ``words``: ``False`` means that it does not.

    What says the same shares half of the words at least, and a word stands in the text that it is found in, unless it
    is a number. To look for some of them takes a fiftieth of finding all words of ``other``.
    """
    text = _join_text(other).casefold()
    wanted = words.every - _DIGITS
    misses_left = len(words.every) // 2
    for word in wanted:
        if word not in text:
            misses_left -= 1
            if misses_left < 0:
                return False
    return True


def is_contained(inner: Words, outer: Words) -> bool:
    """Tell whether nearly all that ``inner`` says is in ``outer``; ``False`` for one that says nothing."""
    return bool(inner.every) and len(inner.every & outer.every) >= CONTAINED * len(inner.every)


def find_difference(a: Words, b: Words) -> str:
    """Return what sets two alike texts apart: ``values``, ``denial``, ``names``, ``titles``, or an empty text.

    Values, names and titles tell apart only where each has one, or a word, that the other lacks: more detail is no
    difference. The first two are contradictions, the others another subject: whether a word of the title stands for
    the same (``starve``, ``exhaust``) or not (``staging``, ``production``) nobody can tell by the words, and what is
    taken for known is lost. Where nearly all of the text is the same, its title was only worded anew.
    """
    if a.values - b.values and b.values - a.values:
        return "values"
    if a.title_denies != b.title_denies and _common(a.title, b.title) >= _ALIKE:
        return "denial"
    if a.denies != b.denies and _common(a.every, b.every) >= SAME:
        return "denial"
    if a.names - b.names and b.names - a.names:
        return "names"
    if a.title - b.title and b.title - a.title and _common(a.every, b.every) < _REWORDED:
        return "titles"
    return ""


@functools.lru_cache(maxsize=4096)
def list_words(draft: Draft) -> Words:
    """Return the words of ``draft``; of a long text its beginning counts."""
    title, text = draft.title[:MAX_CHARS], _join_text(draft)
    found = list(_WORD.findall(text))
    every = frozenset(_iter_terms(found))
    return Words(
        title=frozenset(_iter_terms(_WORD.findall(title))),
        every=every,
        values=frozenset(filter(_has_digit, every)),
        names=frozenset(word.casefold() for word in found if _is_name(word)),
        title_denies=len(_NEGATION.findall(title)) % 2 == 1,
        denies=len(_NEGATION.findall(text)) % 2 == 1,
    )


def _join_text(draft: Draft) -> str:
    return f"{draft.title[:MAX_CHARS]}\n{draft.key or ''}\n{draft.body[:MAX_CHARS]}"


def _iter_terms(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if _CJK_RUN.match(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
            continue
        folded = word.casefold()
        folded = _NUMBERS.get(folded, folded)
        if folded not in _STOP or (len(word) == 1 and word.isupper()):
            yield folded[:-1] if len(folded) > 3 and folded.endswith("s") and not folded.endswith("ss") else folded


def _is_name(word: str) -> bool:
    if word.isalpha():
        return len(word) == 1 and word.isupper()
    return not _has_digit(word) and any(sign in word for sign in "_./")


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def _common(a: frozenset[str], b: frozenset[str]) -> float:
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0
