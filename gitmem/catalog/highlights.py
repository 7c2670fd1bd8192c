"""Which words full text found: the engine marks them in a text, and they are picked from between the marks. Pure."""

from __future__ import annotations

from gitmem.patterns import late

_MARKED = late("\x02([^\x02\x03]*)\x03")


def format_highlights(table: str, columns: int) -> list[str]:
    """Return the SQL for the text of each of the first ``columns`` of a full-text ``table``, its matches marked."""
    return [f"highlight({table}, {column}, char(2), char(3))" for column in range(columns)]


def list_highlighted(text: str) -> list[str]:
    """Return the words that are marked in ``text``, each once, in order."""
    return list(dict.fromkeys(_MARKED.findall(text)))
