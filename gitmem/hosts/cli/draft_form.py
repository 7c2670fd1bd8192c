"""A draft as a person edits it: a line for each property, a line of dashes, the text. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gitmem.errors import InputError
from gitmem.model.record import Draft, Kind
from gitmem.text import one_line, quote, shorten

_NAMES = ("title", "kind", "summary", "tags", "key", "evidence")
_DASHES = "---"
_HINT = "Mend it: a line for each of title, kind, summary, tags, key and evidence, then ---, then the text."


def format_draft(draft: Draft) -> str:
    """Return ``draft`` as ``parse_draft`` reads it; each piece of evidence has a line of its own."""
    lines = [
        f"title: {draft.title}",
        f"kind: {draft.kind.value if draft.kind else ''}",
        f"summary: {draft.summary}",
        f"tags: {', '.join(draft.tags)}",
        f"key: {draft.key or ''}",
        *(f"evidence: {one}" for one in draft.evidence or ("",)),
    ]
    return "\n".join([*(line.rstrip() for line in lines), _DASHES, draft.body.rstrip("\n"), ""])


def parse_draft(text: str) -> Draft:
    """Return the draft in ``text``. A property that is left out is empty.

    Raises ``InputError`` (``bad-draft``) that names the line.
    """
    head, found, body = text.lstrip("\n").partition(f"\n{_DASHES}\n")
    if not found:
        head, body = text.strip("\n").removesuffix(_DASHES), ""
        if not text.rstrip().endswith(f"\n{_DASHES}"):
            raise InputError("bad-draft", "there is no line of three dashes before the text", _HINT)
    draft = Draft(title="", body=body.strip("\n"))
    seen: set[str] = set()
    for number, line in enumerate(head.split("\n"), 1):
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if not line.strip():
            continue
        if not colon or name not in _NAMES:
            raise InputError("bad-draft", f"line {number}: {_show(line)} is no property", _HINT)
        if name in seen and name != "evidence":
            raise InputError("bad-draft", f"line {number}: {name} stands there twice", _HINT)
        seen.add(name)
        draft = _SETTERS[name](draft, one_line(value))
    return draft


def _set_kind(draft: Draft, value: str) -> Draft:
    try:
        return replace(draft, kind=Kind(value.lower()) if value else None)
    except ValueError:
        kinds = ", ".join(kind.value for kind in Kind)
        raise InputError("bad-draft", f"{_show(value)} is no kind; the kinds are {kinds}", _HINT) from None


def _set_tags(draft: Draft, value: str) -> Draft:
    tags = (tag.strip().removeprefix("#") for tag in value.split(","))
    return replace(draft, tags=tuple(tag for tag in tags if tag))


def _set_evidence(draft: Draft, value: str) -> Draft:
    return replace(draft, evidence=(*draft.evidence, value)) if value else draft


def _set(name: str) -> Callable[[Draft, str], Draft]:
    def put(draft: Draft, value: str) -> Draft:
        given: dict[str, Any] = {name: value or (None if name == "key" else "")}
        return replace(draft, **given)

    return put


_SETTERS: dict[str, Callable[[Draft, str], Draft]] = {
    **{name: _set(name) for name in ("title", "summary", "key")},
    "kind": _set_kind,
    "tags": _set_tags,
    "evidence": _set_evidence,
}


def _show(text: str) -> str:
    return quote(shorten(text, 60))
