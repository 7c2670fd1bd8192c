"""A review under way: what a person decided of candidates, before it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gitmem.model.record import Draft
from gitmem.values import dataclass, field


class How(StrEnum):
    """What a person decided of one candidate."""

    ACCEPT = "accept"
    PROMOTE = "promote"
    MERGE = "merge"
    REJECT = "reject"
    DEFER = "defer"

    @property
    def accepts(self) -> bool:
        """Whether it makes or changes records."""
        return self in (How.ACCEPT, How.PROMOTE, How.MERGE)


@dataclass(frozen=True)
class Staged:
    """One decision that waits to be carried out.

    ``digest`` is of everything that the person saw of the candidate and of the records that it changes. ``draft`` is
    what they made of it, ``None`` where it stays as proposed; ``into`` the record that takes it in; ``reason`` why it
    is rejected; ``until`` the date to which it is deferred, empty for the usual time. What is decided at one key press
    has one ``step``. ``alone`` says that it declares or changes what is declared, and so takes a code of its own.
    """

    id: str
    how: How
    digest: str
    title: str = ""
    draft: Draft | None = None
    into: str = ""
    reason: str = ""
    until: str = ""
    step: int = 0
    alone: bool = False


@dataclass(frozen=True)
class ReviewDraft:
    """What is kept of a review: the decisions, oldest first, drafts that were edited, by candidate, and ``op_id``.

    ``op_id`` is of the operation that carries the decisions out, from the moment that it begins.
    """

    staged: tuple[Staged, ...] = ()
    edited: Mapping[str, Draft] = field(default_factory=dict)
    op_id: str = ""
