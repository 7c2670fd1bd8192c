"""From a draft to a new record: its title, summary, id, file name and bytes."""

from __future__ import annotations

from dataclasses import replace

from gitmem.model.authority import Actor, Authority
from gitmem.model.ids import new_record_id
from gitmem.model.record import MAX_SUMMARY_CHARS, Draft, Record, State
from gitmem.model.vault_path import parse_vault_path
from gitmem.policy.content import check_draft
from gitmem.service.find import check_key_is_free
from gitmem.service.gate import check_texts
from gitmem.service.plan import reread, stamp
from gitmem.service.vault import OpenVault
from gitmem.text import one_line, shorten
from gitmem.vault.record_file import file_name, format_record


def make_record(
    vault: OpenVault, draft: Draft, authority: Authority, folder: str, actor: Actor
) -> tuple[Record, bytes]:
    """Return a new record in ``folder`` and the bytes of its file; nothing is written.

    A summary that was not given is the beginning of the body. Raises ``InputError`` (``key-taken`` and what
    ``policy.content.check_draft`` raises) and what ``gate.check_texts`` raises: a person is asked to confirm only what
    may be written.
    """
    record_id = new_record_id()
    title = one_line(draft.title)
    path = parse_vault_path(f"{folder}/{file_name(title, record_id)}")
    draft = replace(draft, title=title, summary=one_line(draft.summary) or summarise(draft.body))
    check_draft(draft, State.BASELINE if folder == State.BASELINE.folder else State.OBSERVATION)
    if draft.key:
        check_key_is_free(vault, draft.key)
    now = stamp(vault)
    data = format_record(
        record_id,
        draft.title,
        draft.body,
        kind=draft.kind,
        summary=draft.summary,
        authority=authority,
        tags=draft.tags,
        key=draft.key,
        created=now,
        updated=now,
        source=f"{actor.host}/{actor.session}" if actor.session else None,
        evidence=draft.evidence,
    )
    check_texts(path, data)
    return reread(path, data), data


def summarise(body: str) -> str:
    """Return the first line of ``body`` that says something, without Markdown marks at its start; may be empty."""
    first = next((line for line in body.splitlines() if line.strip("#>*-+ \t`=")), "")
    return shorten(first.lstrip("#>*-+ \t"), MAX_SUMMARY_CHARS)
