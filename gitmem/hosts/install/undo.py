"""How to come back from one text to the one before it, without keeping any of its words. Pure.

What gitmem takes back later has to leave the very bytes that were there. Of these only blank space, commas and empty
brackets are kept: what a person has in a host's configuration may be secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

Step = tuple[int, int, str]
"""Where in the later text, how many characters there, and what stood there instead."""
_KEPT = frozenset(" \t\r\n,{}[]")


def find_undo(before: str, after: str) -> tuple[Step, ...] | None:
    """Return the steps from ``after`` back to ``before``, in order; ``None`` where they would keep a word of it."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _count_same(old, new)
    tail = _count_same(old[head:][::-1], new[head:][::-1])
    at = sum(map(len, new[:head]))
    steps: list[Step] = []
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    done = 0
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        at += sum(map(len, new[done:j1]))
        was, here = "".join(old[i1:i2]), "".join(new[j1:j2])
        if kind != "equal":
            first = _count_same(was, here)
            last = _count_same(was[first:][::-1], here[first:][::-1])
            kept = was[first : len(was) - last]
            if not _KEPT.issuperset(kept):
                return None
            steps.append((at + first, len(here) - first - last, kept))
        at += len(here)
        done = j2
    return tuple(steps)


def apply_undo(text: str, steps: Sequence[Step]) -> str:
    """Return the text that was before ``text``, of which ``steps`` were found."""
    for at, length, was in reversed(steps):
        text = text[:at] + was + text[at + length :]
    return text


def _count_same(a: Sequence[object], b: Sequence[object]) -> int:
    same = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        same += 1
    return same
