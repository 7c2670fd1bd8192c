"""What a person is shown before they confirm a write: the whole of it, with nothing invisible in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from gitmem.errors import UnavailableError
from gitmem.hosts.cli.columns import align, bar, safe_line
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Draft, Record
from gitmem.service.memory import Memory


@dataclass(frozen=True)
class Preview:
    """What would be done to what: what was asked for, then what it is done to. ``vault`` is empty where it is to none.

    ``asked`` and ``facts`` are names and values, ``texts`` are headed texts, ``items`` are several records, each with
    facts and a text of its own; all are shown whole. ``seen`` are the records that are shown and will be changed, as
    they are: what is done in the person's name is done to these.
    """

    verb: str
    vault: str
    effect: str
    asked: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    items: tuple[tuple[tuple[tuple[str, str], ...], str], ...] = ()
    seen: tuple[tuple[RecordId, Fingerprint], ...] = ()


def format_preview(shown: Preview, columns: int | None = None) -> str:
    """Return ``shown`` as lines for a terminal; texts stand behind a bar, so that none can pass for gitmem's own.

    They are wrapped at words where the terminal has ``columns``.
    """
    lines = [f"{shown.verb} in the vault {safe_line(shown.vault)!r}" if shown.vault else shown.verb]
    for facts in filter(None, (shown.asked, shown.facts)):
        cells = [(safe_line(name), safe_line(value)) for name, value in facts]
        lines += ["", *(f"  {line}" for line in align(cells))]
    for head, text in filter(itemgetter(1), shown.texts):
        lines += ["", f"  {safe_line(head)}:", *bar(text, columns)]
    for number, (facts, text) in enumerate(shown.items, 1):
        cells = [(safe_line(name), safe_line(value)) for name, value in facts]
        lines += ["", f"  {number} of {len(shown.items)}", *(f"  {line}" for line in align(cells))]
        lines += bar(text, columns) if text else []
    return "\n".join([*lines, "", f"Effect: {safe_line(shown.effect)}"])


def preview_draft(memory: Memory, verb: str, draft: Draft, effect: str) -> Preview:
    """Return what writing ``draft`` would do."""
    facts, text = _describe_draft(draft)
    return Preview(verb, vault_name(memory), effect, asked=facts, texts=(("text", text),))


def preview_drafts(memory: Memory, verb: str, drafts: Sequence[Draft], effect: str) -> Preview:
    """Return what writing all ``drafts`` would do."""
    return Preview(verb, vault_name(memory), effect, items=tuple(map(_describe_draft, drafts)))


def preview_record(memory: Memory, verb: str, ref: str, effect: str) -> Preview:
    """Return what ``verb`` would do to the record ``ref``: all of its properties and its text. Reads."""
    record = get_shown(memory.show(ref, to_person=True))
    facts, text = describe_record(record)
    seen = ((record.id, record.fingerprint),)
    return Preview(verb, vault_name(memory), effect, facts=facts, texts=(("text", text),), seen=seen)


def preview_records(memory: Memory, verb: str, refs: Sequence[str], effect: str) -> Preview:
    """Return what ``verb`` would do to the records ``refs``, of which one may be named twice. Reads."""
    if len(refs) == 1:
        return preview_record(memory, verb, refs[0], effect)
    records = {record.id: record for record in (get_shown(memory.show(ref, to_person=True)) for ref in refs)}
    seen = tuple((record.id, record.fingerprint) for record in records.values())
    return Preview(verb, vault_name(memory), effect, items=tuple(map(describe_record, records.values())), seen=seen)


def with_asked(shown: Preview, asked: Iterable[tuple[str, str]], texts: Iterable[tuple[str, str]] = ()) -> Preview:
    """Return ``shown`` with more of what was asked for, and further texts behind its own."""
    return replace(shown, asked=(*shown.asked, *asked), texts=(*shown.texts, *texts))


def vault_name(memory: Memory) -> str:
    """Return the name by which people know the vault."""
    return memory.vault.entry.name


def get_shown(answer: Answer) -> Record:
    """Return the one record of a ``show``. Raises ``UnavailableError`` with what the answer says when it has none."""
    if not answer.hits:
        raise_unreadable(answer)
    return answer.hits[0].record


def raise_unreadable(answer: Answer) -> None:
    """Raise ``UnavailableError`` with what the answer says, where the memory could not be read."""
    if answer.status in (Status.UNAVAILABLE, Status.WITHHELD):
        said = answer.diagnostics[0]
        raise UnavailableError(said.code, said.message, str(answer.extra.get("hint", "")))


def _describe_draft(draft: Draft) -> tuple[tuple[tuple[str, str], ...], str]:
    facts = {
        "title": draft.title,
        "kind": draft.kind or "",
        "summary": draft.summary,
        "key": draft.key or "",
        "tags": ", ".join(draft.tags),
        "evidence": ", ".join(draft.evidence),
    }
    return _given(facts), draft.body.rstrip("\n")


def describe_record(record: Record) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return all properties of ``record`` that have a value, by name, and its text."""
    facts = {"id": record.id, "path": record.path, "title": record.title}
    others = {name: value for name, value in record.properties.items() if name not in ("gitmem_id", "title")}
    return _given(facts | {name: _format_value(value) for name, value in others.items()}), record.body.strip("\n")


def _given(facts: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in facts.items() if value)


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
