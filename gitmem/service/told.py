"""Records as a model is told of them that asks by itself: as plain values without hidden signs, and quoted as data.

``context`` and ``recall`` make pages of their own; this is for what was searched for or opened by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.errors import GitmemError
from gitmem.model.answer import Hit
from gitmem.model.authority import Authority
from gitmem.model.record import MAX_TITLE_CHARS, Record
from gitmem.model.settings import Scope, VaultEntry
from gitmem.model.vault_path import VaultPath
from gitmem.render.quoted import Section, escape, format_entry, format_page, label_record, quote
from gitmem.service.confirmed import is_declared, list_confirmed
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, one_line, shorten
from gitmem.typed import Any

Proved = frozenset[tuple[str, VaultPath]]
"""Scope and path of records that a person is known to have declared."""
MAX_LIST = 16
MAX_VALUE_CHARS = 300


def find_proved(vault: OpenVault, find_global: Callable[[], VaultEntry | None], hits: Iterable[Hit]) -> Proved:
    """Return which of ``hits`` a person is known to have declared, see ``service.confirmed``. Reads.

    What can't be looked up is not proved.
    """
    declared = [hit for hit in hits if is_declared(hit.record) and not hit.uncommitted]
    found: set[tuple[str, VaultPath]] = set()
    for scope in {scope_of(hit, vault) for hit in declared}:
        records = [hit.record for hit in declared if scope_of(hit, vault) is scope]
        entry = vault.entry if scope is vault.entry.scope else find_global()
        if entry is None:
            continue
        other = vault if entry is vault.entry else OpenVault(entry, vault.clock, vault.options)
        try:
            found |= {(scope.value, path) for path in list_confirmed(other, records)}
        except (GitmemError, OSError):
            continue
        finally:
            if other is not vault:
                other.close()
    return frozenset(found)


def scope_of(hit: Hit, vault: OpenVault) -> Scope:
    """Return the scope that ``hit`` is of, in an answer of ``vault`` and perhaps of the global one."""
    return vault.entry.scope if hit.vault is None else Scope(hit.vault.scope)


def describe_hit(hit: Hit, scope: Scope, proved: Proved) -> dict[str, Any]:
    """Return what identifies a record and helps to choose it; absent properties are left out, long ones are cut."""
    record = hit.record
    is_claim = record.authority is Authority.USER_DECLARED and (scope.value, record.path) not in proved
    authority = record.authority.value if record.authority else ""
    told: dict[str, Any] = {
        "id": record.id,
        "title": plain_line(record.title, MAX_TITLE_CHARS),
        "summary": plain_line(record.summary, MAX_VALUE_CHARS),
        "snippet": plain_line(hit.snippet, MAX_VALUE_CHARS),
        "state": record.state.value,
        "kind": record.kind.value if record.kind else "",
        "authority": f"{authority} by its own account" if is_claim else authority,
        "scope": scope.value,
        "updated": plain_line(record.updated or record.created or "", MAX_VALUE_CHARS),
        "tags": plain_list(record.tags),
        "marks": [*(mark.text for mark in hit.marks), *(["uncommitted"] if hit.uncommitted else [])],
    }
    if not _needs_snippet(hit):
        del told["snippet"]
    return {name: value for name, value in told.items() if value}


def describe_record(hit: Hit, scope: Scope, proved: Proved) -> dict[str, Any]:
    """Return all that gitmem knows of a record beside its text."""
    record = hit.record
    told: dict[str, Any] = {
        "key": plain_line(record.key or "", MAX_VALUE_CHARS),
        "path": plain_line(record.path, MAX_VALUE_CHARS),
        "created": plain_line(record.created or "", MAX_VALUE_CHARS),
        "verified": plain_line(record.verified or "", MAX_VALUE_CHARS),
        "source": plain_line(record.source or "", MAX_VALUE_CHARS),
        "evidence": plain_list(record.evidence),
        "supersedes": plain_list(record.supersedes),
        "superseded_by": plain_list(record.superseded_by),
    }
    return describe_hit(hit, scope, proved) | {name: value for name, value in told.items() if value}


def describe_note(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note that is no record, as a search tells of it: its path, title and where the words stand."""
    return {name: plain_line(str(note[name]), MAX_VALUE_CHARS) for name in ("path", "title", "snippet")}


def render_hits(
    name: str,
    about: str,
    hits: Sequence[tuple[Hit, Scope]],
    proved: Proved,
    notes: Sequence[str],
    plain: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return ``about``, the hits as quoted data in a fence called ``name``, and ``notes``; see ``render.quoted``.

    ``plain`` are notes that are no records; they stand below the hits.
    """
    entries = []
    for hit, scope in hits:
        # Not as described: what quotes it escapes it, and once is enough.
        lines = (_cut(hit.record.summary), _cut(hit.snippet) if _needs_snippet(hit) else "", _list_tags(hit.record))
        entries.append(format_entry(hit.record, list_labels(hit, scope, proved), "\n".join(filter(None, lines))))
    others = tuple(
        (f"- {plain_line(str(one['path']), MAX_VALUE_CHARS)}", *quote(_cut(str(one["snippet"])))) for one in plain
    )
    sections = [Section(_found(hits), tuple(entries)), Section("Notes that are no records:", others)]
    return format_page(name, about, sections, notes)


def render_record(about: str, hit: Hit, scope: Scope, proved: Proved, text: str, notes: Sequence[str]) -> str:
    """Return one record with ``text``, all or a part of its body, as quoted data; see ``render.quoted``."""
    record = hit.record
    told = [_list_tags(record), *(f"evidence: {_cut(one)}" for one in record.evidence[:MAX_LIST])]
    told += [f"superseded by: {_cut(one)}" for one in record.superseded_by[:MAX_LIST]]
    entry = format_entry(record, list_labels(hit, scope, proved), "\n".join(filter(None, told)))
    return format_page(
        "gitmem-record", about, [Section("Record:", (entry,)), Section("Its text:", (tuple(quote(text)),))], notes
    )


def render_lines(name: str, about: str, heading: str, lines: Sequence[str], notes: Sequence[str]) -> str:
    """Return single ``lines`` of remembered text, each one entry, as quoted data; see ``render.quoted``."""
    entries = tuple((f"- {escape(one_line(make_visible(line)))}",) for line in lines)
    return format_page(name, about, [Section(heading, entries)], notes)


def list_labels(hit: Hit, scope: Scope, proved: Proved) -> list[str]:
    """Return what stands in front of a record's title: whose it is, by whose authority, and what to mind."""
    record = hit.record
    labels = label_record(record, scope, is_proved=(scope.value, record.path) in proved)
    return [*labels, *(["uncommitted"] if hit.uncommitted else []), *(mark.text for mark in hit.marks)]


def plain_line(text: str, max_chars: int) -> str:
    """Return remembered ``text`` as one line that hides nothing and opens no markup, cut where it is long."""
    return escape(shorten(one_line(make_visible(text)), max_chars))


def plain_text(text: str) -> str:
    """Return remembered ``text``, its lines kept, so that it hides nothing and opens no markup."""
    return escape(text)


def plain_list(values: Sequence[str]) -> list[str]:
    """Return the first ``MAX_LIST`` of ``values`` as ``plain_line`` gives them."""
    return [plain_line(value, MAX_VALUE_CHARS) for value in values[:MAX_LIST]]


def _list_tags(record: Record) -> str:
    # Quoted like all that a record says: a label of gitmem's own it could forge.
    return " ".join(f"#{_cut(tag)}" for tag in record.tags[:MAX_LIST])


def _needs_snippet(hit: Hit) -> bool:
    """Tell whether a reader learns something from where the words stand: not where title and summary show them."""
    return not hit.record.summary or not ("title" in hit.spans or "summary" in hit.spans)


def _cut(text: str) -> str:
    return shorten(one_line(make_visible(text)), MAX_VALUE_CHARS)


def _found(hits: Sequence[object]) -> str:
    return f"{len(hits)} {'record' if len(hits) == 1 else 'records'}:"
