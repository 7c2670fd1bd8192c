"""What a person is shown of an edit before it is committed."""

from __future__ import annotations

import difflib
from itertools import islice

from gitmem.policy.secrets import redact
from gitmem.values import dataclass

MAX_COMPARED_LINES = 3000
"""Of texts that differ in more lines than these, the lines are counted and not shown: comparing them takes too long."""
MAX_LINE_CHARS = 500
_AROUND = 2


@dataclass(frozen=True)
class LineChanges:
    """How two texts differ: as ``diff -u`` shows it, without its head, and what of that was left out.

    ``added`` and ``removed`` count the lines that differ; where they are too many to be compared, all there are.
    """

    lines: tuple[str, ...] = ()
    omitted: int = 0
    added: int = 0
    removed: int = 0


def compare_lines(before: str, after: str, max_lines: int) -> LineChanges:
    """Return how ``after`` differs from ``before``, at most ``max_lines`` lines of it, each cut at 500 characters."""
    old, new = before.splitlines(), after.splitlines()
    same = _count_same(old, new)
    same_at_end = _count_same(old[same:][::-1], new[same:][::-1])
    rest = len(old) - same - same_at_end, len(new) - same - same_at_end
    if max(rest) > MAX_COMPARED_LINES:
        return LineChanges((), sum(rest), added=rest[1], removed=rest[0])
    lines = list(islice(difflib.unified_diff(old, new, lineterm="", n=_AROUND), 2, None))
    shown = tuple(line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…" for line in lines)
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return LineChanges(shown[:max_lines], max(0, len(shown) - max_lines), added, removed)


def _count_same(old: list[str], new: list[str]) -> int:
    return next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )


def describe_edit(old: bytes | None, data: bytes | None) -> str:
    """Return what a person should see of an edit, secrets masked: the whole text, or the lines that differ.

    The whole new text where there is no old one, where it is gone, or where the two are equal.
    """
    before, after = (redact((one or b"").decode("utf-8", "backslashreplace")) for one in (old, data))
    if old is None or data is None or old == data:
        return after
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return "\n".join(list(lines)[2:])
