"""Who asks, through what, and how far a record may be trusted. Design section 6."""

from __future__ import annotations

from enum import StrEnum

from gitmem.errors import InputError
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.text import find_hidden, quote, slug
from gitmem.values import dataclass

MAX_ACTOR_CHARS = 128


class Authority(StrEnum):
    """How far a record may be trusted, weakest last. Content never sets it; the surface does."""

    USER_DECLARED = "user_declared"
    WORKSPACE_EVIDENCE = "workspace_evidence"
    MODEL_INFERRED = "model_inferred"


class Surface(StrEnum):
    """Where a request came from. Human is *shown* by a confirmation, never claimed by a flag."""

    HUMAN = "human"
    MODEL = "model"


class Proof(StrEnum):
    """How a person was shown, where the surface is human. A signature is proved by the operation itself."""

    PROMPT = "prompt"
    """A command that was typed as a prompt in a host, told by the host's hook."""
    CODE = "code"
    """What would be done was shown at a terminal, and the code beside it typed."""


OUTSIDE = "commit"
"""What stands for the action of a commit that was made outside gitmem."""


class Action(StrEnum):
    """What is asked; the rows of the authority table, and the ``Gitmem-Op`` trailer."""

    INIT = "init"
    OBSERVE = "observe"
    DECLARE = "declare"
    EDIT = "edit"
    PROMOTE = "promote"
    RETIRE = "retire"
    RESTORE = "restore"
    IMPORT = "import"
    ADOPT = "adopt"
    UNDO = "undo"
    REPAIR = "repair"
    MAINTAIN = "maintain"
    PROPOSE = "propose"
    ACCEPT = "accept"
    REJECT = "reject"
    """Reject or defer a candidate, or take that back."""
    CURATE = "curate"
    POLICY = "policy"
    TRUST = "trust"
    SETTINGS = "settings"
    """Change the settings of the home; never a commit."""


@dataclass(frozen=True)
class Actor:
    """Who acted. ``name`` and ``email`` become the author of the commit, ``host`` and ``session`` trailers in it.

    ``proof`` says how a person was shown; it means nothing on a model surface. ``shown`` are the records that they were
    shown before they confirmed, with the fingerprints of their files then: no others are changed in their name.
    """

    surface: Surface
    name: str
    email: str
    host: str = "cli"
    session: str = ""
    proof: Proof = Proof.CODE
    shown: tuple[tuple[RecordId, Fingerprint], ...] = ()


def model_actor(name: str = "agent", host: str = "python", session: str = "") -> Actor:
    """Return the actor of a program or model called ``name``: the model surface, whatever the name says.

    ``host`` is what it runs in, ``session`` what that calls the conversation, empty for none. Pure. Raises
    ``InputError`` (``bad-actor``) for a text that can't stand in a commit: empty, longer than ``MAX_ACTOR_CHARS``, with
    a line break, a bracket or an invisible character.
    """
    for what, text in (("name", name), ("host", host), ("session", session or "-")):
        is_plain = text == " ".join(text.split()) and not find_hidden(text) and not set("<>") & set(text)
        if not text or len(text) > MAX_ACTOR_CHARS or not is_plain:
            message = f"{quote(text)} can't be the {what} of an actor"
            raise InputError("bad-actor", message, f"Use letters and digits, at most {MAX_ACTOR_CHARS} characters.")
    return Actor(Surface.MODEL, name, f"{slug(name) or 'agent'}@agents.gitmem.invalid", host, session)


@dataclass(frozen=True)
class Decision:
    """Policy's answer to one request, with the id of the rule that gave it.

    ``allowed`` and ``needs_human`` are never both true; neither means refused, whoever asks.
    """

    rule: str
    allowed: bool
    needs_human: bool = False
    reason: str = ""
    hint: str = ""
