"""May this be put into the inbox: policy's bounds on a model, content, and secrets, before a byte of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from gitmem.errors import InputError
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.candidate import Candidate, Wants
from gitmem.model.policy import Policy
from gitmem.model.record import BASELINE_KINDS, Kind, State
from gitmem.policy.authority import authority_for
from gitmem.policy.narrowing import Check, iter_candidate_checks, iter_checks
from gitmem.policy.secrets import check_secrets
from gitmem.service.allowed import check_all, check_readable
from gitmem.service.draft import make_record, texts_of
from gitmem.service.gate import authorize, check_record
from gitmem.service.vault import OpenVault
from gitmem.vault.inbox import candidate_to_json

_MAX_SOURCE_CHARS = 300


def source_of(actor: Actor) -> tuple[str, ...]:
    """Return the source of what ``actor`` proposes: its host and session, none outside a session."""
    return (f"{actor.host}/{actor.session}"[:_MAX_SOURCE_CHARS],) if actor.session else ()


def check_intake(vault: OpenVault, candidate: Candidate, actor: Actor, policy: Policy) -> None:
    """Refuse a candidate that may not be kept, whatever waits already. Writes nothing.

    Of the scanners only the built-in one looks; the program of the settings is asked about all at once, see
    ``propose``. Raises ``PolicyError`` (``refused``; ``policy-bound`` with the rule for a model surface beyond what the
    vault's policy lets it propose; ``policy-broken``; ``secret-found``), ``InputError`` for what could never be a
    record, ``UnavailableError`` (``scanner-failed``).
    """
    draft = candidate.draft
    check_secrets(list_texts(candidate))  # before anything that is wrong with it is told with a word of it
    authorize(vault.entry.scope, Action.PROPOSE, actor, kind=draft.kind, has_evidence=bool(draft.evidence))
    if actor.surface is Surface.MODEL:
        check_readable(policy)
        brings = candidate.wants in (Wants.RECORD, Wants.MERGE)
        check_all(iter_checks(policy, Action.PROPOSE, draft if brings else None), code="policy-bound")
    if candidate.wants is Wants.RECORD and candidate.targets:
        raise InputError("bad-candidate", "a new record is about no others", "Leave the targets out.")
    state = usual_state(draft.kind)
    record, data = make_record(vault, draft, authority_for(Action.ACCEPT, state), state, actor, record_id=candidate.id)
    check_record(record, data)


def list_texts(candidate: Candidate) -> dict[str, str]:
    """Return all that a candidate says, by what an error may call it: what its record would say, and its reasons."""
    draft = candidate.draft
    told = {"reason": candidate.reason, "why": "\n".join(candidate.why), "sources": "\n".join(candidate.sources)}
    # What stands apart here stands in one text there: a name beside a value makes it a secret.
    whole = json.dumps(candidate_to_json(candidate), indent=1, ensure_ascii=False)
    return {**texts_of(draft), **told, "the candidate": whole}


def check_room(waiting: Sequence[Candidate], earlier: Sequence[Candidate], new: Candidate, policy: Policy) -> None:
    """Refuse a further candidate of a model surface beyond the bounds of the vault's policy.

    ``earlier`` are those that were decided. Raises ``PolicyError`` (``policy-bound``) with the rule.
    """
    if new.surface is not Surface.MODEL:
        return
    check_all(iter_room_checks(waiting, earlier, new, policy), code="policy-bound")


def iter_room_checks(
    waiting: Sequence[Candidate], earlier: Sequence[Candidate], new: Candidate, policy: Policy
) -> Iterator[Check]:
    """Yield whether the bounds of the policy have room for ``new``, a candidate of a model surface."""
    mine = sum(_is_of_session(one, new) for one in (*waiting, *earlier))
    return iter_candidate_checks(policy.bounds, mine, len(waiting))


def usual_state(kind: Kind | None) -> State:
    """Return the state that an accepted record of ``kind`` gets unless somebody says another."""
    return State.BASELINE if kind in BASELINE_KINDS else State.OBSERVATION


def _is_of_session(one: Candidate, new: Candidate) -> bool:
    """Tell whether ``one`` was first proposed by the session of ``new``; outside a session, by its actor that day."""
    if one.surface is not Surface.MODEL:
        return False
    if new.sources:
        return one.sources[:1] == new.sources[:1]
    return not one.sources and one.actor == new.actor and one.created[:10] == new.created[:10]
