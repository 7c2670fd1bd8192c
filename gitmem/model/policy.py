"""A vault's policy: bounds, what is asked of evidence, and what is accepted without a person. Design section 8."""

from __future__ import annotations

from enum import StrEnum

from gitmem.model.authority import Action
from gitmem.model.record import EPISODIC_KINDS, KNOWLEDGE_KINDS, Kind
from gitmem.values import dataclass, field

RULE_PREFIX = "policy:"
"""How a rule of a vault's policy begins where a decision or a commit names it; the table's rules have none."""
EVIDENCE_FORMS = ("commit", "file", "run", "url")
MODEL_ACTIONS = frozenset(
    {
        *(Action.PROPOSE, Action.OBSERVE, Action.IMPORT, Action.CURATE),
        *(Action.EDIT, Action.RETIRE, Action.RESTORE, Action.UNDO),
    }
)
"""What the authority table lets a model surface do by itself; a policy may leave some of it to people."""
MAX_FILE_BYTES = 64 << 10
MAX_RULES = 64
MAX_RULE_ID_CHARS = 64


@dataclass(frozen=True)
class Bounds:
    """How much a model surface may hand in. Sessions are those of a host, days are UTC."""

    observations_per_session: int = 100
    observations_per_day: int = 500
    candidates_per_session: int = 30
    candidates_waiting: int = 300
    candidate_days: int = 60
    """After how many days a candidate that nobody decided expires."""
    decided_kept: int = 2000
    """How many decided candidates are remembered, the newest."""
    body_chars: int = 20_000
    """How long the text of one record of a model surface may be."""


@dataclass(frozen=True)
class EvidenceRule:
    """What is accepted, or promoted, without a person. Everything that it names has to hold.

    ``id`` stands in the commit's ``Gitmem-Rule`` as ``policy:<id>``. ``kinds`` are those of which the record has to be
    one, ``tags`` those under which one of its tags has to lie; empty ones name any. ``evidence`` are forms (``commit``,
    ``file``, ``run``, ``url``) each of which has to be there; ``sessions`` is in how many sessions it was proposed or
    observed at least.
    """

    id: str
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    sessions: int = 1


class Origin(StrEnum):
    """Where the policy that holds comes from."""

    DEFAULTS = "defaults"
    FILE = "policy.yaml"
    """As a person is known to have set it."""
    UNCONFIRMED = "unconfirmed"
    """The strictest of the defaults, of what a person set last, and of a committed file that nobody is known to have
    set; it opens nothing."""
    BROKEN = "broken"
    """The committed file can't be read: a model surface writes nothing."""


@dataclass(frozen=True)
class Policy:
    """What holds in one vault.

    ``kinds`` are those that a model surface may observe or propose to observe; ``namespaces`` the first parts of tags
    that it may use, ``None`` for any; ``evidence`` the forms of which an observation of a model needs one;
    ``model_may`` what a model surface may do by itself of what the authority table lets it. ``problem`` says what is
    wrong with the committed file, and why it does not hold as it stands.
    """

    bounds: Bounds = field(default_factory=Bounds)
    kinds: frozenset[Kind] = KNOWLEDGE_KINDS | EPISODIC_KINDS
    namespaces: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = EVIDENCE_FORMS
    model_may: frozenset[Action] = MODEL_ACTIONS
    accept: tuple[EvidenceRule, ...] = ()
    promote: tuple[EvidenceRule, ...] = ()
    origin: Origin = Origin.DEFAULTS
    problem: str = ""
