"""A proposal in the form in which the inbox keeps it. Pure."""

from __future__ import annotations

from gitmem.model.record import Draft
from gitmem.text import fold_tag, one_line
from gitmem.values import replace


def normalise(draft: Draft) -> Draft:
    """Return ``draft`` with one-line title, summary, key and evidence, a body without blanks around, and folded tags.

    Tags and evidence stand once each, in order; empty ones are left out. Line ends are line feeds. What it returns is
    returned as it is.
    """
    key = one_line(draft.key or "")
    return replace(
        draft,
        title=one_line(draft.title),
        body=_trim(draft.body),
        summary=one_line(draft.summary),
        tags=tuple(dict.fromkeys(tag for tag in map(_fold_tag, draft.tags) if tag)),
        evidence=tuple(dict.fromkeys(one for one in map(one_line, draft.evidence) if one)),
        key=key or None,
    )


def _fold_tag(tag: str) -> str:
    before = ""
    while tag != before:  # "#/ #x" gives its signs up one after the other
        before, tag = tag, fold_tag(tag)
    return tag


def _trim(body: str) -> str:
    return body.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
