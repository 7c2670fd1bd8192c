"""What an agent or a person says at the end of a task, so that the next one can go on from there. Design section 4."""

from __future__ import annotations

from gitmem.values import dataclass

MAX_ANSWER_CHARS = 8000
MAX_PART_CHARS = 4000
"""How long what is uncertain, and what is next, may each be."""
MAX_ITEMS = 32
"""How many entries of evidence, and how many checks, there may be."""
MAX_ITEM_CHARS = 500


@dataclass(frozen=True)
class TaskReport:
    """The parts of a report, in the order in which they are read. Only the answer has to be there.

    ``evidence`` is what shows the answer: entries in the form of a record's evidence (``commit:…``, ``file:…#L…``,
    ``run:…``, ``url:…``) or plain lines. ``checks`` are what was tried and how it went. ``uncertainty`` is what is not
    known or not looked at, ``next`` what is to be done.
    """

    answer: str
    evidence: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    uncertainty: str = ""
    next: str = ""
