"""An onboarding: what a person is asked about a project, and what they answered so far."""

from __future__ import annotations

from gitmem.model.record import Draft, Kind
from gitmem.values import dataclass, replace

GLOBAL_KINDS = frozenset({Kind.BOUNDARY, Kind.PREFERENCE})
"""What is asked for the global vault: a goal and a state are a project's."""


@dataclass(frozen=True)
class Question:
    """One question, of one line or several. Its answers become baseline records of ``kind``, in order."""

    kind: Kind
    asks: str
    answers: tuple[Draft, ...] = ()

    def with_answers(self, answers: tuple[Draft, ...]) -> Question:
        """Return the same question with these answers."""
        return replace(self, answers=answers)


Questions = tuple[Question, ...]


def list_drafts(questions: Questions) -> tuple[Draft, ...]:
    """Return all answers, in the order of the questions."""
    return tuple(draft for question in questions for draft in question.answers)
