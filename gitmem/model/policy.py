"""A vault's policy: bounds, what is asked of evidence, and what is accepted without a person. Design section 8."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitmem.model.record import EPISODIC_KINDS, KNOWLEDGE_KINDS, Kind


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

    ``id`` stands in the commit's ``Gitmem-Rule`` as ``policy:<id>``. Empty ``kinds`` or ``tags`` name any;
    ``evidence`` are forms (``commit``, ``file``, ``run``, ``url``) each of which has to be there; ``sessions`` is in
    how many sessions it was proposed or observed at least.
    """

    id: str
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    sessions: int = 1


@dataclass(frozen=True)
class Policy:
    """What holds in one vault. ``origin`` says where it comes from: ``defaults`` or ``policy.yaml``.

    ``kinds`` are those that a model surface may observe or propose to observe; ``namespaces`` the first parts of tags
    that it may use, ``None`` for any; ``evidence`` the forms of which an observation of a model needs one.
    """

    bounds: Bounds = field(default_factory=Bounds)
    kinds: frozenset[Kind] = KNOWLEDGE_KINDS | EPISODIC_KINDS
    namespaces: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ("commit", "file", "run", "url")
    accept: tuple[EvidenceRule, ...] = ()
    promote: tuple[EvidenceRule, ...] = ()
    origin: str = "defaults"
