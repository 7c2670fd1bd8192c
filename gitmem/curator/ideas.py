"""What the curator thinks of by itself: an idea, and the candidate that is made of it. Pure."""

from __future__ import annotations

from gitmem.model.authority import Surface
from gitmem.model.candidate import MAX_SOURCES, MAX_TARGETS, MAX_WHY, MAX_WHY_CHARS, Candidate, Wants
from gitmem.model.ids import RecordId, derive_record_id
from gitmem.model.record import Draft
from gitmem.text import make_visible, shorten
from gitmem.values import dataclass

CURATOR = "curator"
"""The name under which the curator's own ideas stand in the inbox."""


@dataclass(frozen=True)
class Idea:
    """Something that a person may want done. ``about`` names it: the same idea has the same id for ever.

    So an idea that was rejected is known again, and one that was accepted as a record, too. ``why`` are the reasons,
    one line each; ``sources`` the sessions that speak for it, oldest first.
    """

    about: tuple[str, ...]
    draft: Draft
    why: tuple[str, ...]
    wants: Wants = Wants.RECORD
    targets: tuple[RecordId, ...] = ()
    reason: str = ""
    sources: tuple[str, ...] = ()
    contradicts: tuple[RecordId, ...] = ()
    worth: float = 0.5

    def id_in(self, vault_id: str) -> RecordId:
        """Return the id that the candidate of this idea has in the vault ``vault_id``."""
        return derive_record_id("idea", vault_id, self.wants.value, *self.about)

    def to_candidate(self, vault_id: str, now: str, actor: str = CURATOR) -> Candidate:
        """Return the candidate of this idea in the vault ``vault_id``, made at ``now`` for ``actor``."""
        return Candidate(
            id=self.id_in(vault_id),
            created=now,
            draft=self.draft,
            wants=self.wants,
            targets=self.targets[:MAX_TARGETS],
            reason=shorten(make_visible(self.reason), MAX_WHY_CHARS),
            actor=actor,
            surface=Surface.MODEL,
            sources=self.sources[-MAX_SOURCES:],
            seen=max(1, len(self.sources)),
            why=tuple(shorten(make_visible(line), MAX_WHY_CHARS) for line in self.why[:MAX_WHY]),
            contradicts=self.contradicts[:MAX_TARGETS],
            worth=round(min(1.0, max(0.0, self.worth)), 3),
        )
