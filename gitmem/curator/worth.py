"""What a candidate is worth a person's time: by what the inbox sorts. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.model.authority import Surface
from gitmem.model.candidate import Candidate
from gitmem.model.ids import RecordId

_BASE = 0.3
_PER_EVIDENCE = 0.08
_MAX_EVIDENCE = 3
_CONTRADICTS = 0.2
_HUMAN = 0.2
_RAISE = 0.25
"""Which part of what is missing to 1 another sighting adds."""
_DIGITS = 3


def weigh(candidate: Candidate) -> float:
    """Return the worth of a candidate that was just proposed, 0 to 1.

    Evidence raises it, that it contradicts a record, and that a person proposed it.
    """
    worth = _BASE + _PER_EVIDENCE * min(_MAX_EVIDENCE, len(candidate.draft.evidence))
    worth += _CONTRADICTS if candidate.contradicts else 0
    worth += _HUMAN if candidate.surface is Surface.HUMAN else 0
    return round(min(1.0, worth), _DIGITS)


def raise_worth(worth: float, times: int = 1) -> float:
    """Return a worth after the same was proposed ``times`` more: each adds less than the one before, never above 1."""
    return round(1 - (1 - worth) * (1 - _RAISE) ** max(0, times), _DIGITS)


def find_group(candidate: Candidate, tags: Mapping[RecordId, tuple[str, ...]] | None = None) -> str:
    """Return the topic that a candidate is listed under: its first tag with a namespace, else its key, else its kind.

    Of one that is about records the tags of its targets count, too, as ``tags`` has them by id.
    """
    own = [*candidate.draft.tags, *(tag for one in candidate.targets for tag in (tags or {}).get(one, ()))]
    spaced = next((tag for tag in own if "/" in tag), "")
    kind = candidate.draft.kind.value if candidate.draft.kind else "fact"
    return spaced or candidate.draft.key or (kind if candidate.wants.value == "record" else candidate.wants.value)
