"""A question in words, taken apart: what has to be there, what counts, what must not be there."""

from __future__ import annotations

from gitmem.values import dataclass


@dataclass(frozen=True)
class Word:
    """One word of a question, ``text`` as it was typed.

    It is found where all of ``terms`` are; where it has parts, also where ``whole`` is, in one piece or as the
    beginning of a longer name. ``further`` terms only make a record fit better.
    """

    text: str
    terms: tuple[str, ...]
    whole: str = ""
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """Words that stand side by side, ``text`` as it was typed: each of ``parts`` does, the parts anywhere."""

    text: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Exclusion:
    """What must not be there, ``text`` as it was typed; records that have the term ``unless`` may have it."""

    text: str
    what: Word | Phrase
    unless: str = ""


@dataclass(frozen=True)
class Question:
    """A question: the best record has all ``words``, any has one of them. ``phrases`` must be there.

    ``name`` is the question without its exclusions and quotation marks: what a key or title is compared with.
    """

    name: str
    words: tuple[Word, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
