"""From a draft to a new record, and its commit: what ``observe`` and ``declare`` share."""

from __future__ import annotations

from gitmem.model.authority import Action, Actor, Authority
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId, RecordId, new_record_id
from gitmem.model.record import MAX_SUMMARY_CHARS, Draft, Record, State
from gitmem.policy.authority import authority_for
from gitmem.policy.content import check_draft
from gitmem.policy.secrets import check_secrets
from gitmem.service.gate import authorize
from gitmem.service.keys import check_key_is_free
from gitmem.service.plan import carry_out_allowed, find_earlier, make_change, path_in, reread, stamp
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, one_line, shorten
from gitmem.values import replace
from gitmem.vault.record_file import file_name, format_draft


def write_draft(
    vault: OpenVault, action: Action, state: State, draft: Draft, actor: Actor, op_id: OpId | None
) -> Receipt:
    """Commit ``draft`` as a new record in ``state`` by ``action``.

    Raises ``PolicyError`` (``refused`` for a kind that ``action`` is not for, ``needs-human``), ``InputError``
    (``key-taken`` and what ``policy.content.check_draft`` raises) and what ``plan.carry_out_allowed`` raises; nothing
    is written then.
    """
    request = describe_request(**given_fields(draft))
    earlier = find_earlier(vault, action, op_id, request)
    if earlier is not None:
        return earlier

    def plan(rule: str) -> Change:
        record, data = make_record(vault, draft, authority_for(action, state), state, actor)
        if record.key:
            check_key_is_free(vault, record.key)
        return make_change(
            action, actor, rule, [(None, record, data)], op_id=op_id, note=record.summary, request=request
        )

    return carry_out_allowed(
        vault,
        lambda: authorize(vault.entry.scope, action, actor, kind=draft.kind, has_evidence=bool(draft.evidence)),
        plan,
    )


def make_record(
    vault: OpenVault,
    draft: Draft,
    authority: Authority,
    state: State,
    actor: Actor,
    *,
    record_id: RecordId | None = None,
    source: str | None = None,
    verified: str | None = None,
) -> tuple[Record, bytes]:
    """Return ``draft`` as a record, and the bytes of its file; its key may be another record's.

    The id is a fresh one, and the source the actor's session, unless others are given. Raises what
    ``policy.content.check_draft``, ``policy.secrets.check_secrets`` and ``format_draft`` raise.
    """
    check_secrets(texts_of(draft))  # before anything that is wrong with it is told with a word of it
    record_id = record_id or new_record_id()
    title = one_line(draft.title)
    draft = replace(draft, title=title, summary=one_line(draft.summary) or summarise(draft.body))
    check_draft(draft, state)
    path = path_in(state, f"{state.folder}/{file_name(title, record_id)}", vault.clock.now())
    now = stamp(vault)
    data = format_draft(
        record_id,
        draft,
        authority=authority,
        created=now,
        updated=now,
        source=source or (f"{actor.host}/{actor.session}" if actor.session else None),
        verified=verified,
    )
    return reread(path, data), data


def texts_of(draft: Draft) -> dict[str, str]:
    """Return what ``draft`` says by name, so that an error can tell where. The file itself is looked at later, too."""
    others = {"summary": draft.summary, "tags": "\n".join(draft.tags), "evidence": "\n".join(draft.evidence)}
    return {"title": draft.title, "body": draft.body, **others, "key": draft.key or ""}


def summarise(body: str) -> str:
    """Return the first line of ``body`` that says something, without Markdown marks at its start; may be empty."""
    first = next((line for line in body.splitlines() if line.strip("#>*-+ \t`=")), "")
    return shorten(make_visible(first.lstrip("#>*-+ \t")), MAX_SUMMARY_CHARS)
