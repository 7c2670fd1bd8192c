"""One candidate as a reviewer sees it: the row of the inbox, what accepting it changes, and what it is nearest to."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence

from gitmem.curator.join_text import join_bodies
from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Candidate, Choice, Wants
from gitmem.model.change import RecordChange
from gitmem.model.record import BASELINE_KINDS, Draft, Record, State
from gitmem.model.review import How, Staged
from gitmem.policy.secrets import redact
from gitmem.service.accept import plan_accept
from gitmem.service.differences import LineChanges, compare_lines
from gitmem.service.find import get_record
from gitmem.service.inbox import get_candidate, list_inbox
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass, replace

MAX_DIFF_LINES = 400
_SEEN = ("title", "body", "kind", "summary", "tags", "evidence", "key")


@dataclass(frozen=True)
class Nearest:
    """The record, or the waiting candidate, that a candidate says nearly the same as, and how their texts differ."""

    id: str
    title: str
    difference: LineChanges


@dataclass(frozen=True)
class Look:
    """One candidate now. ``row`` is that of ``list_inbox``.

    ``draft`` is what would be written, ``is_edited`` tells whether the person made it so. ``changes`` are the records
    that accepting it makes or changes; ``problem`` says why it can't be accepted, with no changes then.
    """

    row: dict[str, Any]
    candidate: Candidate
    draft: Draft
    is_edited: bool
    changes: tuple[RecordChange, ...]
    problem: GitmemError | None = None
    nearest: Nearest | None = None

    @property
    def alone(self) -> bool:
        """Whether accepting it declares, or changes what is declared; that takes a code of its own."""
        return is_declaring(self.draft, self.changes)

    @property
    def makes_record(self) -> bool:
        """Whether it proposes a new record, and so can be edited, promoted and merged into another."""
        return self.candidate.wants is Wants.RECORD


def look_at(vault: OpenVault, ref: str, edited: Draft | None, actor: Actor) -> Look:
    """Return the candidate ``ref`` as it is now; ``edited`` is what the person made of it.

    Raises ``InputError`` (``no-such-candidate``) where it does not wait any more, and what reading raises.
    """
    candidate = get_candidate(vault, ref)
    row = list_inbox(vault, ref=candidate.id).rows[0]
    draft = edited or candidate.draft
    changes, problem = _plan(vault, Choice(candidate.id, draft=edited), actor)
    nearest = _find_nearest(vault, row["near"], draft)
    return Look(row, candidate, draft, edited is not None, changes, problem, nearest)


def choose(staged: Staged, candidate: Candidate) -> Choice:
    """Return the choice that carries ``staged`` out, of ``candidate`` as it was shown."""
    promotes = staged.how is How.PROMOTE and candidate.wants is Wants.RECORD
    to = State.PROMOTED if promotes else None
    return Choice(staged.id, to=to, draft=staged.draft, into=staged.into or None, shown=candidate)


def plan_merge(look: Look, record: Record) -> Draft:
    """Return the draft with which ``look`` goes into ``record``: its text is the whole that the record gets. Pure."""
    draft, before = look.draft, look.candidate.draft
    return replace(
        before, body=join_bodies(record.body.strip("\n"), draft.body), tags=draft.tags, evidence=draft.evidence
    )


def compare_bodies(before: str, after: str) -> LineChanges:
    """Return how two texts differ, secrets in them masked."""
    return compare_lines(redact(before).strip("\n"), redact(after).strip("\n"), MAX_DIFF_LINES)


def digest_of(vault: OpenVault, candidate: Candidate, into: str = "") -> str:
    """Return the digest of what a person saw: the candidate, and the records that accepting it changes.

    Raises ``InputError`` (``no-such-record``) where one of these is gone.
    """
    draft = dataclasses.asdict(candidate.draft)
    seen = [[name, draft[name]] for name in _SEEN]
    touched = [*candidate.targets, *([into] if into else [])]
    records = [(one, get_record(vault, one)[0].fingerprint) for one in touched]
    others = [candidate.id, candidate.wants, candidate.reason, candidate.contradicts, records]
    return hashlib.sha256(json.dumps([seen, others], default=str).encode()).hexdigest()


def declares(vault: OpenVault, candidate: Candidate, staged: Staged) -> bool:
    """Tell whether carrying ``staged`` out declares, or changes what is declared, whatever the draft on disk says."""
    if not staged.how.accepts:
        return False
    touched = [*candidate.targets, *([staged.into] if staged.into else [])]
    is_declared = any(get_record(vault, one)[0].state is State.BASELINE for one in touched)
    return is_declared or (staged.draft or candidate.draft).kind in BASELINE_KINDS


def is_declaring(draft: Draft, changes: Sequence[RecordChange]) -> bool:
    """Tell whether ``changes``, or a record made of ``draft``, touch what is declared."""
    touched = [record for one in changes for record in (one.before, one.after) if record is not None]
    return draft.kind in BASELINE_KINDS or any(record.state is State.BASELINE for record in touched)


def _plan(
    vault: OpenVault, choice: Choice, actor: Actor
) -> tuple[tuple[RecordChange, ...], InputError | PolicyError | StateError | None]:
    try:
        return tuple(plan_accept(vault, [choice], actor)), None
    except (InputError, PolicyError, StateError) as error:
        return (), error


def _find_nearest(vault: OpenVault, near: Sequence[dict[str, Any]], draft: Draft) -> Nearest | None:
    """Return the nearest record, or where there is none the nearest candidate, that is there still."""
    for one in sorted(near, key=lambda one: (one["is_candidate"], -one["share"])):
        if one["title"]:
            try:
                text = _read_text(vault, one)
            except (InputError, StateError):  # it went meanwhile
                continue
            return Nearest(one["id"], one["title"], compare_bodies(text, draft.body))
    return None


def _read_text(vault: OpenVault, near: dict[str, Any]) -> str:
    if near["is_candidate"]:
        return get_candidate(vault, near["id"]).draft.body
    return get_record(vault, near["id"])[0].body
