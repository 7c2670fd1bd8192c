"""What a recall found for a prompt: which records it volunteers, which it holds back, and why. Design section 7."""

from __future__ import annotations

from gitmem.model.record import EPISODIC_KINDS, Record, State
from gitmem.model.settings import Scope
from gitmem.values import dataclass

REVIEWED = frozenset({State.BASELINE, State.PROMOTED})


@dataclass(frozen=True)
class Weighed:
    """One content term of a prompt: the word as it was typed, what it weighs, and how many records hold it."""

    word: str
    weight: float
    record_count: int


@dataclass(frozen=True)
class Candidate:
    """One record that was considered for a prompt, and the scope of its vault.

    ``score`` is the share of the prompt's weight that the record's best passage covers, 0 to 1; a decisive key or
    title counts as 1. ``rule`` is the stable id of what admitted it or held it back, ``reason`` one line for people.
    ``matched`` holds the words of the prompt that the record holds. ``caution`` says in one line what a reader should
    mind ("to be reviewed since 2026-01-01"), and is empty where there is nothing. ``uncommitted`` says that the file
    differs from the last commit.
    """

    record: Record
    scope: Scope
    score: float
    admitted: bool
    rule: str
    reason: str
    matched: tuple[str, ...] = ()
    caution: str = ""
    uncommitted: bool = False

    @property
    def is_verified(self) -> bool:
        """Whether this is knowledge that a person reviewed, as it was committed.

        The folder says so, not the ``verified`` property, which whoever wrote the record may have set; an edit that
        is not committed went past every check; and what happened in a session is history however well it is known.
        """
        return self.record.state in REVIEWED and self.record.kind not in EPISODIC_KINDS and not self.uncommitted


@dataclass(frozen=True)
class Recall:
    """What was decided for one prompt.

    ``candidates`` come in the order in which they should be read: the admitted ones first, among these the verified
    before the unverified, best first within each. ``terms`` are the content terms of the prompt, heaviest first;
    ``best_score`` and ``threshold`` are what the gate compared.
    """

    candidates: tuple[Candidate, ...] = ()
    terms: tuple[Weighed, ...] = ()
    best_score: float = 0.0
    threshold: float = 0.0

    @property
    def admitted(self) -> tuple[Candidate, ...]:
        """What the recall volunteers; nothing when it abstains."""
        return tuple(candidate for candidate in self.candidates if candidate.admitted)
