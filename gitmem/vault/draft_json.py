"""A draft as the members of a JSON object, as candidates and reviews on disk have it. Pure."""

from __future__ import annotations

from gitmem.model.record import Draft, Kind
from gitmem.typed import Any


def draft_to_json(draft: Draft) -> dict[str, Any]:
    """Return ``draft`` as JSON; what is empty is left out, its text alone stays."""
    value = {
        "title": draft.title,
        "body": draft.body,
        "kind": draft.kind.value if draft.kind else None,
        "summary": draft.summary,
        "tags": list(draft.tags),
        "evidence": list(draft.evidence),
        "key": draft.key,
    }
    return {name: one for name, one in value.items() if one not in (None, "", []) or name == "body"}


def draft_from_json(value: dict[str, Any]) -> Draft:
    """Return the draft that ``draft_to_json`` made, of an object that was validated; other members are passed over."""
    return Draft(
        title=value["title"],
        body=value["body"],
        kind=Kind(value["kind"]) if value.get("kind") else None,
        summary=value.get("summary", ""),
        tags=tuple(value.get("tags", ())),
        evidence=tuple(value.get("evidence", ())),
        key=value.get("key"),
    )
