"""The language of search: words, "quoted phrases", -word and -"phrase". Everything else in a question is plain data.

- A ``"`` opens a phrase where a word could begin (``-`` may come before it) if another ``"`` closes it; any other one
  means nothing, the words behind it are plain words.
- ``-word`` leaves out the records that have the word, if there is anything else to look for. Command lines are pasted
  into searches, so a minus is plain data in ``-``, ``--tag``, ``-n`` and ``-rf`` (fewer than three letters), and
  ``-std=c++17``; and a record that has the word with its minus, as an option, is never left out for it.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from gitmem.errors import InputError
from gitmem.model.question import Exclusion, Phrase, Question, Word
from gitmem.patterns import late
from gitmem.relevance.terms import CJK_RUN, QUERY_WORD, drop_stop_words, expand_word, fold_term, name_option
from gitmem.text import one_line
from gitmem.values import replace

MAX_QUERY_BYTES = 1024
MAX_QUERY_WORDS = 64
_MIN_EXCLUDED_CHARS = 3
_PIECE = late(r'(?P<minus>-?)"(?P<quoted>[^"]*)"(?=[\s,.;:!?)]|\Z)|\S+')
_OPTION = late(r"--?(?=[A-Za-z])")


def parse_question(text: str, exclude: Sequence[str] = ()) -> Question:
    """Return what ``text`` asks for, words in order, each once; none where it holds no letter or digit.

    Each of ``exclude`` is a word or phrase to leave out, whatever it looks like. Stop words are dropped unless nothing
    else is left. Raises ``InputError`` (``query-too-long``) above ``MAX_QUERY_BYTES`` or ``MAX_QUERY_WORDS`` in all,
    where two Chinese, Japanese or Korean characters count as one word.
    """
    text, *exclude = (_normalise(one) for one in _check_size([text, *exclude]))
    pieces = [*_PIECE.finditer(text)]
    exclusions = [_find_exclusion(piece) for piece in pieces]
    if not any(QUERY_WORD.search(piece[0]) for piece, one in zip(pieces, exclusions, strict=True) if one is None):
        exclusions = [None] * len(pieces)  # nothing else to look for
    kept = [piece for piece, one in zip(pieces, exclusions, strict=True) if one is None]
    phrases = {id(piece): _make_phrase(piece["quoted"]) for piece in kept if piece["quoted"] is not None}
    words = [word for piece in kept if not phrases.get(id(piece)) for word in _iter_words(piece[0])]
    return Question(
        name=one_line(" ".join(piece[0] if piece["quoted"] is None else piece["quoted"] for piece in kept)),
        words=_drop_stop_words(words, has_more=any(phrases.values())),
        phrases=tuple(dict.fromkeys(phrase for phrase in phrases.values() if phrase)),
        exclusions=(*(one for one in exclusions if one), *_make_exclusions(exclude)),
    )


def take_apart(question: Question) -> Question:
    """Return ``question`` with the words of its phrases in their place."""
    words = [word for phrase in question.phrases for word in _iter_words(_normalise(phrase.text))]
    return replace(question, words=_drop_stop_words([*question.words, *words], has_more=False), phrases=())


def _check_size(texts: Sequence[str]) -> Sequence[str]:
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    words = [word for text in texts for word in QUERY_WORD.findall(text)] if size <= MAX_QUERY_BYTES else []
    count = sum((len(word) + 1) // 2 if CJK_RUN.match(word) else 1 for word in words)
    if size > MAX_QUERY_BYTES or count > MAX_QUERY_WORDS:
        raise InputError(
            "query-too-long",
            f"a search takes at most {MAX_QUERY_WORDS} words and {MAX_QUERY_BYTES} bytes",
            "Search for the few words that matter most.",
        )
    return texts


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())


def _find_exclusion(piece: re.Match[str]) -> Exclusion | None:
    if piece["minus"]:
        phrase = _make_phrase(piece["quoted"])
        return Exclusion(piece["quoted"], phrase) if phrase else None
    word = QUERY_WORD.match(piece[0], 1) if piece[0][0] == "-" and "=" not in piece[0] else None
    if word is None or piece[0][word.end() :].strip(".,;:!?)"):
        return None
    if word[0].isascii() and (len(word[0]) < _MIN_EXCLUDED_CHARS or word[0][0].isdigit()):
        return None
    return Exclusion(word[0], expand_word(word[0]), name_option(word[0]) if word[0].isascii() else "")


def _make_exclusions(texts: Iterable[str]) -> list[Exclusion]:
    made = []
    for text in texts:
        words = QUERY_WORD.findall(text)
        what = expand_word(words[0]) if len(words) == 1 else _make_phrase(text)
        made += [Exclusion(one_line(text), what)] if what else []
    return made


def _make_phrase(text: str) -> Phrase | None:
    """Return the phrase ``text``, ``None`` where it holds no letter or digit."""
    words = QUERY_WORD.findall(text)
    if len(words) == 1 and words[0][-1] in "+#":
        return Phrase(text, expand_word(words[0]).terms)
    # Chinese characters are stored one by one before their pairs, so they can only be asked for one by one.
    chunks = CJK_RUN.sub(lambda run: f"\n{' '.join(run[0])}\n", fold_term(text)).split("\n")
    parts = tuple(one_line(chunk) for chunk in chunks if any(map(str.isalnum, chunk)))
    return Phrase(text, parts) if parts else None


def _iter_words(piece: str) -> list[Word]:
    words = [expand_word(word) for word in QUERY_WORD.findall(piece)]
    if words and _OPTION.match(piece):
        first, dashes = words[0], piece[: len(piece) - len(piece.lstrip("-"))]
        words[0] = replace(first, text=dashes + first.text, further=(*first.further, name_option(first.text)))
    return words


def _drop_stop_words(words: Iterable[Word], *, has_more: bool) -> tuple[Word, ...]:
    """Return each word once, by its terms."""
    unique = {(word.terms, word.whole): word for word in words}.values()
    dropped = [drop_stop_words(word) for word in unique]
    telling = tuple(word for word in dropped if word.terms or word.whole)
    return telling or (() if has_more else tuple(unique))
