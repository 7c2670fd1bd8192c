"""Where policy meets a request: may this actor do this, and may these bytes be written."""

from __future__ import annotations

from gitmem.errors import PolicyError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change
from gitmem.model.record import Kind, Record, State, state_of
from gitmem.model.settings import Scope
from gitmem.policy.authority import decide
from gitmem.policy.content import check_content
from gitmem.policy.rules import Request
from gitmem.policy.secrets import check_secrets
from gitmem.vault.layout import POLICY


def authorize(
    scope: Scope,
    action: Action,
    actor: Actor,
    *,
    record: Record | None = None,
    kind: Kind | None = None,
    has_evidence: bool = False,
    own: bool = False,
    to_state: State | None = None,
) -> Decision:
    """Return policy's permission to do ``action`` in a vault of ``scope``, with the rule that gave it.

    Raises ``PolicyError``: ``needs-human`` when a person at a human surface could do it, ``refused`` when nobody can.
    """
    decision = decide(
        Request(
            action=action,
            surface=actor.surface,
            kind=kind or (record.kind if record else None),
            authority=record.authority if record else None,
            state=record.state if record else None,
            has_evidence=has_evidence,
            own=own,
            to_state=to_state,
            proof=actor.proof,
            scope=scope,
        )
    )
    if decision.allowed:
        return decision
    code = "needs-human" if decision.needs_human else "refused"
    raise PolicyError(code, decision.reason, decision.hint, rule=decision.rule)


def check_change(change: Change) -> None:
    """Refuse a change whose bytes may not be written: content policy and secrets, on exactly what would be committed.

    Raises ``PolicyError``, ``InputError`` or ``UnavailableError`` (``scanner-failed``); nothing is written then.
    """
    records = {one.after.path: one.after for one in change.records if one.after is not None}
    for edit in change.edits:
        if edit.after is not None and edit.path in records:
            check_record(records[edit.path], edit.after)
        elif edit.after is not None and (state_of(edit.path) is not None or edit.path == POLICY):
            check_texts(edit.path, edit.after)
    actor = change.actor
    who = f"{actor.name} {actor.email} {actor.host} {actor.session}"
    message = {"the commit message": f"{change.title}\n{change.note}", "the operation id": change.op_id}
    check_secrets({**message, "the actor": who})


def check_record(record: Record, data: bytes) -> None:
    """Refuse the bytes of one record's file that may not be written. Raises as ``check_change`` does."""
    check_content(data, record.path, record)
    check_texts(record.path, data)


def check_texts(path: str, data: bytes) -> None:
    """Refuse a file that holds a secret, in its text or its name. Raises as ``policy.secrets.check_secrets`` does."""
    check_secrets({path: data.decode("utf-8", "replace"), "its file name": path})
