"""What a session starts with: what people declared, and a choice of what they reviewed. Design section 7."""

from __future__ import annotations

from enum import StrEnum

from gitmem.model.answer import Status
from gitmem.model.ids import CommitId
from gitmem.model.record import Record
from gitmem.model.settings import Scope
from gitmem.values import dataclass


class Part(StrEnum):
    """Where in a context a record stands; the order in which they are read."""

    BOUNDARY = "boundary"
    PREFERENCE = "preference"
    GOAL = "goal"
    UNCONFIRMED = "unconfirmed"
    REVIEWED = "reviewed"
    REPORT = "report"


@dataclass(frozen=True)
class Entry:
    """One record of a context, as it is committed, and the scope of its vault. ``marks`` say what to mind about it.

    ``said`` is what is shown of it in brief, empty for its summary.
    """

    record: Record
    part: Part
    scope: Scope
    marks: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class HeldBack:
    """How many records stand in a vault's baseline or among the reviewed, but not in a context, and why not."""

    out_of_date: int = 0
    superseded: int = 0
    uncommitted: int = 0
    unreadable: int = 0
    missing: int = 0
    """Declared by a person, and gone or changed since by no operation."""

    def __add__(self, other: HeldBack) -> HeldBack:
        """Return the sums."""
        return HeldBack(
            self.out_of_date + other.out_of_date,
            self.superseded + other.superseded,
            self.uncommitted + other.uncommitted,
            self.unreadable + other.unreadable,
            self.missing + other.missing,
        )


@dataclass(frozen=True)
class Context:
    """All that a context may show, in the order in which it is read, before anything is left out for want of room.

    ``more`` counts the reviewed records that were not chosen. ``notices`` are lines of gitmem's own, without content.
    """

    name: str
    scope: Scope
    revision: CommitId
    entries: tuple[Entry, ...]
    held_back: HeldBack = HeldBack()
    more: int = 0
    status: Status = Status.OK
    notices: tuple[str, ...] = ()
