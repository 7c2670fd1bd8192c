"""A candidate: what somebody proposes to do to the memory, waiting for a person. Design sections 2 and 8."""

from __future__ import annotations

from enum import StrEnum

from gitmem.model.authority import Surface
from gitmem.model.ids import RecordId
from gitmem.model.record import Draft, State
from gitmem.values import dataclass

MAX_WHY = 16
MAX_WHY_CHARS = 500
MAX_NEAR = 8
MAX_TARGETS = 16
MAX_SOURCES = 32


class Wants(StrEnum):
    """What accepting a candidate does: write a new record, or change records that are there."""

    RECORD = "record"
    PROMOTE = "promote"
    RETIRE = "retire"
    MERGE = "merge"


@dataclass(frozen=True)
class Near:
    """Something that says nearly the same. ``share`` is how much of the words of both is common, 0 to 1."""

    id: RecordId
    share: float
    is_candidate: bool = False


@dataclass(frozen=True)
class Candidate:
    """One proposal in the inbox; never in Git. Dates are RFC 3339 in UTC, ``expires`` and ``deferred`` may be absent.

    ``id`` is the id that its record will have, so that a candidate that was accepted is known by it ever after.
    ``draft`` is the proposed record for ``Wants.RECORD``; for the others its title says what is proposed, and
    ``targets`` are the records that it is about, the one that stays first for a merge. ``reason`` is that of a
    retirement. ``sources`` are the ``host/session`` that proposed it, oldest first, ``seen`` counts how often.
    ``why`` are the reasons why it is here, one line each. ``contradicts`` are records that say otherwise. ``worth`` is
    by what the inbox sorts, 0 to 1. ``deferred_by`` is the surface on which it was deferred.
    """

    id: RecordId
    created: str
    draft: Draft
    wants: Wants = Wants.RECORD
    targets: tuple[RecordId, ...] = ()
    reason: str = ""
    actor: str = ""
    surface: Surface = Surface.MODEL
    sources: tuple[str, ...] = ()
    seen: int = 1
    why: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    contradicts: tuple[RecordId, ...] = ()
    worth: float = 0.5
    expires: str | None = None
    deferred: str | None = None
    deferred_by: Surface | None = None

    @property
    def is_deferred_by_person(self) -> bool:
        """Whether a person wants to see it later, or may: older files don't say who. Only a person takes that back."""
        return self.deferred is not None and self.deferred_by is not Surface.MODEL


class Fate(StrEnum):
    """What became of a candidate."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"
    MERGED = "merged"
    WITHDRAWN = "withdrawn"
    """Taken back by the agent that proposed it; unlike a rejection it keeps nobody from proposing the same."""


@dataclass(frozen=True)
class Decided:
    """A candidate that is decided, kept so that the same thing is not proposed again. ``reason`` is the person's."""

    candidate: Candidate
    fate: Fate
    time: str
    reason: str = ""
    op_id: str = ""


class Outcome(StrEnum):
    """What became of a proposal: it waits, was merged into one that waits, says what a record says, or was rejected."""

    NEW = "new"
    MERGED = "merged"
    KNOWN = "known"
    REJECTED_BEFORE = "rejected-before"


@dataclass(frozen=True)
class Proposed:
    """What became of a proposal.

    ``candidate`` is the one that waits now; for ``Outcome.KNOWN`` it is what was proposed and does not wait, and
    ``record`` is the record that says it; for ``Outcome.REJECTED_BEFORE`` it is the rejected one, and ``decided`` says
    when and why.
    """

    candidate: Candidate
    outcome: Outcome
    record: RecordId | None = None
    decided: Decided | None = None


@dataclass(frozen=True)
class Choice:
    """That a candidate is accepted, and how.

    ``id`` names it, by its id or the beginning of it. ``to`` is the state that its record gets, ``None`` for the usual
    one: the baseline for kinds that are declared, observations for all others. ``draft`` is what a person made of it,
    in place of the candidate's own. ``into`` names a record (id, beginning of one, key or path) that takes it in, in
    place of a new one. ``shown`` is the candidate as it was shown to whoever chose: one that differs by now is not
    accepted.
    """

    id: str
    to: State | None = None
    draft: Draft | None = None
    into: str | None = None
    shown: Candidate | None = None


@dataclass(frozen=True)
class Decisions:
    """What became of the candidates that were named, in their order; ``changed`` says if anything did.

    ``fate`` is ``None`` for those that still wait: deferred, or taken back.
    """

    candidates: tuple[Candidate, ...]
    fate: Fate | None = None
    changed: bool = True


@dataclass(frozen=True)
class InboxFilters:
    """Which candidates to list: of one ``group``; with ``deferred`` those asleep too; ``decided`` ones instead."""

    group: str | None = None
    deferred: bool = False
    decided: bool = False
