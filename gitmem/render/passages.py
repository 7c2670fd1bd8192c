"""Parts of a note that can stand alone: whole paragraphs, list items, code blocks and sentences. Pure.

Nothing here cuts inside one of them: half a sentence may say the opposite of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.fences import BLANK, mask_fences
from gitmem.patterns import late

_ITEM = late(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
# A sentence ends where the next begins with a capital, a digit or a letter without case; so "e.g. this" goes on.
_SENTENCE_END = late(r"(?<=[.!?…])[\"')\]*_]*\s+(?=[^\sa-z])|(?<=[。！？])")


def split_blocks(text: str) -> list[str]:
    """Return the paragraphs, top-level list items and code blocks of Markdown ``text``, in order; blank lines go."""
    lines = [line if line.strip() else " " for line in text.split("\n")]
    masked = mask_fences("\n".join(lines)).split("\n")
    blocks: list[list[str]] = [[]]
    for line, seen in zip(lines, masked, strict=True):
        if not seen.strip():
            blocks.append([])
        elif _ITEM.match(seen):
            blocks.append([line])
        else:
            blocks[-1].append("" if line == " " and seen == BLANK else line)
    return ["\n".join(block) for block in blocks if block]


def take_beginning(text: str, max_chars: int) -> str:
    """Return as many whole blocks from the beginning of ``text`` as fit, else whole sentences; perhaps nothing."""
    taken = ""
    for block in split_blocks(text):
        gap = "\n" if _ITEM.match(block) else "\n\n"
        longer = f"{taken}{gap}{block}" if taken else block
        if len(longer) > max_chars:
            return taken or _take_sentences(block, max_chars)
        taken = longer
    return taken


def find_passage(text: str, words: Sequence[str], max_chars: int) -> str:
    """Return the block, else the sentence, of ``text`` that holds most of ``words`` and fits; the first of equals.

    Empty where none holds any, or none fits.
    """
    blocks = split_blocks(text)
    parts = [block for block in blocks if len(block) <= max_chars]
    for block in blocks:
        if len(block) > max_chars and not _is_code(block):
            parts += [one for one in _SENTENCE_END.split(block) if len(one) <= max_chars]
    wanted = [word.casefold() for word in words]
    return max(parts, key=lambda part: _count(part, wanted), default="") if _count(text, wanted) else ""


def _count(part: str, wanted: Iterable[str]) -> int:
    folded = part.casefold()
    return sum(word in folded for word in wanted)


def _take_sentences(block: str, max_chars: int) -> str:
    if _is_code(block):
        return ""
    taken = 0
    for end in [match.start() for match in _SENTENCE_END.finditer(block)]:
        if end > max_chars:
            break
        taken = end
    return block[:taken].rstrip()


def _is_code(block: str) -> bool:
    return BLANK in mask_fences(block)
