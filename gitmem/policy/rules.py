"""What policy is asked, and the form of the rules that answer. Design section 6."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from gitmem.model.authority import Action, Authority, Proof, Surface
from gitmem.model.record import Kind, State
from gitmem.model.settings import Scope
from gitmem.values import dataclass


@dataclass(frozen=True)
class Request:
    """What is asked of policy.

    ``kind`` is what the record is to be about, ``authority`` and ``state`` are what the record has now (``None`` for
    one that isn't there yet), ``to_state`` is where it is to go. ``own`` says that the acting actor wrote it and that
    no person has reviewed it since. ``proof`` says how a person was shown, on a human surface.
    """

    action: Action
    surface: Surface
    kind: Kind | None = None
    authority: Authority | None = None
    state: State | None = None
    has_evidence: bool = False
    own: bool = False
    to_state: State | None = None
    proof: Proof = Proof.CODE
    scope: Scope = Scope.WORKSPACE


class Verdict(StrEnum):
    """What a rule says: go on, show it to a person first, or not at all."""

    ALLOWED = "allowed"
    NEEDS_HUMAN = "needs_human"
    REFUSED = "refused"


@dataclass(frozen=True)
class Rule:
    """One row of the table. ``surface`` is ``None`` for both; ``condition`` is a name in ``CONDITIONS``."""

    id: str
    action: Action
    surface: Surface | None
    condition: str
    verdict: Verdict
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Condition:
    """What a rule asks of a request: ``text`` says it to people, ``holds`` to the program."""

    text: str
    holds: Callable[[Request], bool]
