"""Answers to reads: how the read went, from which revision, what was found and what to mind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitmem.model.record import Problem, Record
from gitmem.model.validity import Mark


class Status(StrEnum):
    """How a read went. Nothing but ``ok`` and ``no-match`` means that the memory could be read as it should."""

    OK = "ok"
    NO_MATCH = "no-match"
    DEGRADED = "degraded"
    WITHHELD = "withheld"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class Hit:
    """One record in an answer. ``matched`` says why (``title: two``), ``snippet`` shows where.

    ``marks`` is what is to be minded about it: that it is out of date, or due for review.
    """

    record: Record
    matched: tuple[str, ...] = ()
    snippet: str = ""
    score: float = 0.0
    uncommitted: bool = False
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
