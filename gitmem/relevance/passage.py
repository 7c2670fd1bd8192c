"""Where in a text the content of a question lies together: the best passage of a record. Pure.

What a record is called (title, key, aliases, tags, summary) is near every place of its text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from gitmem.patterns import late
from gitmem.relevance.stem import stem
from gitmem.relevance.terms import CJK_RUN, join_parts, split_parts
from gitmem.typed import NamedTuple

PASSAGE_WORDS = 60
"""How many words lie together. Two Chinese, Japanese or Korean characters count as one."""
MAX_TEXT_CHARS = 60_000
"""How much of a text is looked at."""

_NEAR_WORDS = 2
_WORD = late(
    rf"{CJK_RUN.pattern}|[^\W_]+(?:[_\-./\\:@]{{1,2}}[^\W_]+)*",
    plain=r"[A-Za-z0-9]+(?:[_\-./\\:@]{1,2}[A-Za-z0-9]+)*",
)


class Place(NamedTuple):
    """One wanted form in a text, and how many words stand before it."""

    at: float
    form: str


class Measure(NamedTuple):
    """How much of a question a text holds.

    ``passage`` is the weight of the wanted forms that its head and its best passage hold together; ``near`` the share
    of the question's neighbouring pairs that stand side by side in it too, 0 to 1; ``forms`` all that it holds.
    """

    passage: float
    near: float
    forms: frozenset[str]


class Question:
    """What is looked for in many texts: forms with their weights, and pairs of forms that stand side by side."""

    def __init__(self, weights: Mapping[str, float], pairs: Sequence[tuple[str, str]]) -> None:
        self._weights = weights
        self._pairs = pairs
        self._known: dict[str, tuple[Place, ...]] = {}

    def measure(self, head: str, body: str) -> Measure:
        """Return how much of the question the text ``body`` under ``head`` holds."""
        weights = self._weights
        named = find_places(head, weights, self._known)
        written = find_places(body[:MAX_TEXT_CHARS], weights, self._known)
        always = frozenset(place.form for place in named)
        best = _weigh_best([place for place in written if place.form not in always], weights)
        together = _find_together(named) | _find_together(written)
        near = sum(pair in together for pair in self._pairs) / len(self._pairs) if self._pairs else 0.0
        # Summed in a fixed order: sums of floats depend on it, and sets have none.
        called = sum(weights[form] for form in sorted(always))
        return Measure(called + best, near, always | {place.form for place in written})


def find_places(text: str, wanted: Mapping[str, float], known: dict[str, tuple[Place, ...]]) -> list[Place]:
    """Return where the ``wanted`` forms stand in ``text``, in order.

    ``known`` keeps which of them a word holds, from one text to the next: the same few words make up all of them.
    """
    heads = {form[:2] for form in wanted}  # no ending is longer than the word but for its first two letters
    words = _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))
    for word in set(words).difference(known):
        may_hold = word[:2] in heads or not (word.isascii() and word.isalpha() and word.islower())
        known[word] = _find_in_word(word, wanted) if may_hold else ()
    if text.isascii():  # each word is one
        return [Place(at + place.at, place.form) for at, word in enumerate(words) for place in known[word]]
    places: list[Place] = []
    further = 0.0
    for at, word in enumerate(words):
        places += [Place(at + further + place.at, place.form) for place in known[word]]
        if word[0] > "\u1000" and CJK_RUN.match(word):
            further += len(word) / 2 - 1
    return places


def _find_in_word(word: str, wanted: Mapping[str, float]) -> tuple[Place, ...]:
    if word.isascii() and word.isalpha() and word.islower():  # most are
        form = stem(word)
        return (Place(0.0, form),) if form in wanted else ()
    if CJK_RUN.match(word):
        forms = [(i / 2, form) for i in range(len(word)) for form in {word[i : i + 2]: 0, word[i]: 0}]
    else:
        parts = split_parts(word)
        forms = [(i / len(parts), stem(part)) for i, part in enumerate(parts)]
        if len(parts) > 1:
            forms.insert(0, (0.0, stem(join_parts(word))))
    return tuple(Place(at, form) for at, form in forms if form in wanted)


def _weigh_best(places: Sequence[Place], weights: Mapping[str, float]) -> float:
    best = total = 0.0
    first = 0
    inside: Counter[str] = Counter()
    for place in places:
        if not inside[place.form]:
            total += weights[place.form]
        inside[place.form] += 1
        while places[first].at <= place.at - PASSAGE_WORDS:
            gone = places[first].form
            inside[gone] -= 1
            if not inside[gone]:
                total -= weights[gone]
            first += 1
        best = max(best, total)
    return best


def _find_together(places: Sequence[Place]) -> set[tuple[str, str]]:
    together = set()
    for i, place in enumerate(places):
        for other in places[i + 1 : i + 6]:
            if other.at - place.at > _NEAR_WORDS:
                break
            together |= {(place.form, other.form), (other.form, place.form)}
    return together
