"""Answers to reads: how the read went, from which revision, what was found and what to mind."""

from __future__ import annotations

from enum import StrEnum

from gitmem.model.record import Problem, Record
from gitmem.model.validity import Mark
from gitmem.typed import Any
from gitmem.values import dataclass, field


class Status(StrEnum):
    """How a read went. Nothing but ``ok`` and ``no-match`` means that the memory could be read as it should."""

    OK = "ok"
    NO_MATCH = "no-match"
    DEGRADED = "degraded"
    WITHHELD = "withheld"
    UNAVAILABLE = "unavailable"


class Sort(StrEnum):
    """In which order a search answers: the newest first, titles and paths from A to Z."""

    RELEVANCE = "relevance"
    UPDATED = "updated"
    CREATED = "created"
    TITLE = "title"
    PATH = "path"


class Strength(StrEnum):
    """How well a record fits a question: it is named by it, it has all of the words, or some."""

    EXACT = "exact"
    ALL = "all-words"
    SOME = "some-words"


@dataclass(frozen=True)
class Place:
    """Where a vault lies in an answer of several: its name, its scope, and the folder of its repository."""

    name: str
    scope: str
    repo: str


Spans = tuple[tuple[int, int], ...]
"""Places in a text, each from a character up to but without another, in order."""


@dataclass(frozen=True)
class Hit:
    """One record in an answer.

    Of a search, ``matched`` says why (``title: two``), ``snippet`` shows where, and ``spans`` has the places of the
    words in ``title``, ``summary`` and ``snippet``. ``marks`` is what is to be minded about it: that it is out of date,
    or due for review. ``vault`` is set where an answer is of several.
    """

    record: Record
    matched: tuple[str, ...] = ()
    snippet: str = ""
    uncommitted: bool = False
    strength: Strength | None = None
    spans: dict[str, Spans] = field(default_factory=dict)
    vault: Place | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A read's whole answer. ``revision`` is the commit it was computed from, ``None`` where there is none.

    What was found stands in ``hits`` when it is records, in ``rows`` (plain values) when it is operations, links or
    checks; never in both. ``extra`` holds what belongs to the answer as a whole.
    """

    status: Status
    revision: str | None
    hits: tuple[Hit, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
