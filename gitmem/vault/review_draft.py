"""The file of a review under way, ``review.json`` in ``runtime/drafts``."""

from __future__ import annotations

import json

from gitmem.errors import IntegrityError
from gitmem.model.review import How, ReviewDraft, Staged
from gitmem.typed import Any
from gitmem.vault.draft_json import draft_from_json, draft_to_json
from gitmem.vault.kept_draft import drop_draft, load_draft, place_of_draft, save_draft
from gitmem.vault.layout import VaultLayout
from gitmem.vault.schema import validate

REVIEW = "review.json"


def load_review(layout: VaultLayout) -> ReviewDraft:
    """Return the review that is kept, an empty one where there is none.

    Raises ``IntegrityError`` (``bad-review``) for a file that can't be understood, and as ``load_draft``.
    """
    data = load_draft(layout, REVIEW)
    if data is None:
        return ReviewDraft()
    try:
        value: Any = json.loads(data)
        validate("review", value)
    except (ValueError, RecursionError, IntegrityError) as error:
        place = place_of_draft(layout, REVIEW)
        hint = f"Move {place} aside to begin anew; the candidates wait in the inbox."
        raise IntegrityError("bad-review", f"the review that is kept can't be understood: {error}", hint) from None
    staged = tuple(_staged_from_json(one) for one in value["staged"])
    return ReviewDraft(staged, {name: draft_from_json(one) for name, one in value["edited"].items()}, value["op_id"])


def save_review(layout: VaultLayout, kept: ReviewDraft) -> None:
    """Write ``kept``, or remove the file where nothing is left in it; durable."""
    if not kept.staged and not kept.edited:
        drop_draft(layout, REVIEW)
        return
    value = {
        "staged": [_staged_to_json(one) for one in kept.staged],
        "edited": {name: draft_to_json(draft) for name, draft in kept.edited.items()},
        "op_id": kept.op_id,
    }
    validate("review", value)
    save_draft(layout, REVIEW, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


def _staged_to_json(one: Staged) -> dict[str, Any]:
    value: dict[str, Any] = {name: getattr(one, name) for name in ("id", "digest", "title", "step", "alone")}
    value["how"] = one.how.value
    value |= {name: text for name in ("into", "reason", "until") if (text := getattr(one, name))}
    return value | ({"draft": draft_to_json(one.draft)} if one.draft is not None else {})


def _staged_from_json(value: dict[str, Any]) -> Staged:
    draft = value.get("draft")
    others = {name: one for name, one in value.items() if name not in ("how", "draft")}
    return Staged(how=How(value["how"]), draft=None if draft is None else draft_from_json(draft), **others)
