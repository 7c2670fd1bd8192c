"""What a prompt is about: its content words, each with what it weighs. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from gitmem.patterns import NEVER, late
from gitmem.relevance.background import LEAST_WEIGHT, UNCOMMON_WEIGHT, weigh
from gitmem.relevance.stem import stem
from gitmem.relevance.stopwords import (
    CHINESE_CHARACTERS,
    CHINESE_INSTRUCTIONS,
    CHINESE_WORDS,
    ENGLISH,
    INSTRUCTIONS,
)
from gitmem.relevance.terms import CJK_RUN, iter_words, split_parts
from gitmem.text import fold, one_line
from gitmem.values import dataclass, replace

MAX_PROMPT_CHARS = 20_000
"""How much of a prompt is looked at: its beginning and its end."""
MAX_NAME_CHARS = 500
MAX_CONTENTS = 48
"""How many content terms of a prompt count: the heaviest."""
MAX_KEYS = 800
"""How many words of a prompt may be keys; a log of 20,000 characters has about so many names with parts."""
LONG_PROMPT_CONTENTS = 28
"""A prompt with more content terms holds something pasted: a log, code, a dialogue."""
SHORT_PROMPT_CONTENTS = 6

_HALF = MAX_PROMPT_CHARS // 2
_INSTRUCTION = late("|".join(sorted(CHINESE_INSTRUCTIONS, key=len, reverse=True)), plain=NEVER)
_FENCED = late(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_WORDS_OF_PROSE = late(r"(?:^|(?<=[\s\"']))(?:[A-Za-z][a-z']+|[aAI])(?=[\s,.;:!?)\"']|$)")
_LEAST_PROSE = 0.5
_LEAST_WORDS = 3
_HIRAGANA = late(r"[\u3041-\u309f\u30fc]+")


@dataclass(frozen=True)
class Content:
    """One content term: its ``form`` for comparing, the ``term`` to search for, the ``word`` it comes from as typed.

    ``weight`` says how much it tells about the subject.
    """

    form: str
    term: str
    word: str
    weight: float
    is_cjk: bool = False


@dataclass(frozen=True)
class Prompt:
    """A prompt as recall looks at it.

    ``contents`` stand each once, in order; ``pairs`` are forms that stand side by side. ``name`` is the whole prompt,
    folded; ``keys`` are the words that may be the key of a record: those with parts (``cache-ttl``) wherever they
    stand, in a short prompt plain ones that say something. ``is_long`` says that only a part that may ask was taken,
    see ``list_asking``.
    """

    name: str
    contents: tuple[Content, ...]
    pairs: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    is_long: bool = False

    @property
    def weight(self) -> float:
        """What all content terms weigh together."""
        return sum(content.weight for content in self.contents)

    @property
    def is_cjk(self) -> bool:
        """Whether most of the weight is Chinese, Japanese or Korean."""
        return 2 * sum(content.weight for content in self.contents if content.is_cjk) > self.weight


def parse_prompt(text: str) -> tuple[Prompt, ...]:
    """Return the ways in which ``text`` may be read: one for a plain prompt, up to two for a long one.

    Takes any text; of a very long one the beginning and the end count. A long prompt holds something pasted, and what
    it asks stands before or behind that: each way is one of ``list_asking``, with the keys of the whole.
    """
    text = text.encode("utf-8", "replace").decode()  # halves of characters are in JSON, and nowhere else
    if len(text) > MAX_PROMPT_CHARS:
        text = f"{text[:_HALF]}\n\n{text[-_HALF:]}"
    whole = _parse(text)
    if len(whole.contents) <= LONG_PROMPT_CONTENTS:
        return (whole,)
    parts = [_parse(part) for part in list_asking(text)]
    return tuple(
        replace(part, name=whole.name, keys=tuple(dict.fromkeys((*part.keys, *whole.keys)))[:MAX_KEYS], is_long=True)
        for part in parts
        if part.contents
    ) or (replace(whole, contents=(), pairs=(), is_long=True),)


def weigh_by_vault(prompt: Prompt, counts: Mapping[str, int], record_count: int) -> Prompt:
    """Return ``prompt`` with its pairs of characters weighed by how few records hold them.

    There is no table of common pairs as there is of English words, so the vault's own frequencies must do. ``counts``
    says how many of ``record_count`` records hold each term.
    """
    most = math.log(2 * (record_count + 1))

    def weigh_pair(one: Content) -> Content:
        rarity = math.log((record_count + 1) / (min(counts.get(one.term, 0), record_count) + 0.5))
        return replace(one, weight=max(LEAST_WEIGHT, UNCOMMON_WEIGHT * rarity / most))

    return replace(prompt, contents=tuple(weigh_pair(one) if one.is_cjk else one for one in prompt.contents))


def list_asking(text: str) -> list[str]:
    """Return the parts of a long prompt that may ask something: the last paragraph of prose and the first.

    Fenced code and lines that are not made of words are what was pasted. Of a long paragraph the outer line counts.
    """
    lines = _FENCED.sub("\n\n", text).splitlines()
    prose = "\n".join(line if _is_prose(line) else "" for line in lines)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", prose) if block.strip()]
    if not blocks:
        return []
    first, last = blocks[0], blocks[-1]
    if len(_parse(first).contents) > LONG_PROMPT_CONTENTS:
        first = first.splitlines()[0]
    if len(_parse(last).contents) > LONG_PROMPT_CONTENTS:
        last = last.splitlines()[-1]
    return list(dict.fromkeys((last, first)))


def _is_prose(line: str) -> bool:
    words = line.split()
    if any(CJK_RUN.search(word) for word in words):
        return True
    return len(words) >= _LEAST_WORDS and len(_WORDS_OF_PROSE.findall(line)) >= _LEAST_PROSE * len(words)


def _parse(text: str) -> Prompt:
    contents: dict[str, Content] = {}
    pairs: dict[tuple[str, str], None] = {}
    compounds: dict[str, None] = {}
    words: dict[str, None] = {}
    before = ""
    for word in iter_words(_INSTRUCTION.sub(" ", text)):
        found = _expand(word)
        folded = fold(word)
        if any(content.weight > LEAST_WEIGHT for content in found):  # "please" may be a key, and names nothing
            words.setdefault(folded)
        if not folded.isalnum():
            compounds.setdefault(folded)
        for content in found:
            contents.setdefault(content.form, content)
            if before and before != content.form and not content.is_cjk:
                pairs.setdefault((before, content.form))
            before = content.form
    kept = sorted(contents.values(), key=lambda content: -content.weight)[:MAX_CONTENTS]
    chosen = {content.form for content in kept}
    return Prompt(
        fold(one_line(text[:MAX_NAME_CHARS])),
        tuple(content for form, content in contents.items() if form in chosen),
        tuple(pair for pair in pairs if chosen.issuperset(pair)),
        tuple(words | compounds if len(contents) <= SHORT_PROMPT_CONTENTS else compounds)[:MAX_KEYS],
    )


def _expand(word: str) -> list[Content]:
    if CJK_RUN.match(word):
        return [Content(pair, pair, pair, UNCOMMON_WEIGHT, is_cjk=True) for pair in _split_cjk(word)]
    contents = []
    for part in split_parts(word.rstrip("+#")):
        if part in ENGLISH or (len(part) == 1 and not part.isdigit()):
            continue
        form = stem(part)
        contents.append(Content(form, part, word, LEAST_WEIGHT if part in INSTRUCTIONS else weigh(form)))
    return contents


def _split_cjk(run: str) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return [
        pair
        for pair in pairs
        if pair not in CHINESE_WORDS and CHINESE_CHARACTERS.isdisjoint(pair) and not _HIRAGANA.fullmatch(pair)
    ]
