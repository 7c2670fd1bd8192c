"""The text of one record with what another one adds. Pure."""

from __future__ import annotations

import re

from gitmem.curator.similar import list_words
from gitmem.model.record import Draft
from gitmem.patterns import late

_BLOCKS = late(r"\n[ \t]*\n")
_FENCE = late(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


def join_bodies(body: str, other: str) -> str:
    """Return ``body`` followed by those paragraphs of ``other`` that say something which it does not; ``body`` stays.

    A text with fenced code is not taken apart: it is added whole, unless ``body`` has it.
    """
    text = other.strip("\n").rstrip()
    blocks = [text] if _FENCE.search(text) else _BLOCKS.split(text)
    said = list_words(Draft("", body)).every
    news = [block.strip("\n") for block in blocks if block.strip() and not _is_said(block, body, said)]
    return "\n\n".join([*([body.rstrip()] if body.strip() else []), *news]) if news else body


def _is_said(block: str, body: str, said: frozenset[str]) -> bool:
    words = list_words(Draft("", block)).every
    return words <= said if words else block.strip() in body
