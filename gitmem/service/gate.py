"""Where policy meets a request: may this actor do this, and may these bytes be written. Keeps INV-NO-SECRET."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.errors import PolicyError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change
from gitmem.model.record import Kind, Record, State
from gitmem.model.settings import HomeSettings, Scope
from gitmem.model.vault_path import VaultPath
from gitmem.policy.authority import decide
from gitmem.policy.content import check_content
from gitmem.policy.rules import Request
from gitmem.policy.secrets import check_secrets
from gitmem.service.scanner import check_texts


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
    check_secrets({"the actor": _describe(actor)})
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


def check_change(change: Change, settings: HomeSettings) -> None:
    """Refuse a change whose bytes may not be written: content policy and secrets, on exactly what would be committed.

    All scanners look: the built-in one, and that of the home's ``settings``.

    Raises ``PolicyError``, ``InputError`` or ``UnavailableError`` (``scanner-failed``); nothing is written then.
    """
    from gitmem.service.views import RecordViews

    is_view = RecordViews().is_view
    records = {one.after.path: one.after for one in change.records if one.after is not None}
    files = {edit.path: edit.after for edit in change.edits if edit.after is not None and not is_view(edit.path)}
    for path, data in files.items():
        if path in records:
            check_content(data, path, records[path])
    message = {"the commit message": f"{change.title}\n{change.note}", "the operation id": change.op_id}
    check_texts(settings, {**message, "the actor": _describe(change.actor), **_texts_of(files)})


def check_record(record: Record, data: bytes) -> None:
    """Refuse the bytes of one record's file that may not be written, as far as the built-in scanner tells.

    Raises as ``check_change`` does.
    """
    check_content(data, record.path, record)
    check_secrets(_texts_of({record.path: data}))


def _describe(actor: Actor) -> str:
    return f"{actor.name} {actor.email} {actor.host} {actor.session}"


def _texts_of(files: Mapping[VaultPath, bytes]) -> dict[str, str]:
    """Return the texts of ``files`` by what may be told of them: their names come first, so that none is told itself.

    Of several findings the first one is told, with the name of its text.
    """
    names = {"its file name" if len(files) == 1 else "the file names": "\n".join(files)}
    return names | {str(path): data.decode("utf-8", "replace") for path, data in files.items()}
