"""Notes that are no records, shown to a reader: reread, without secrets, and never what may be private."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gitmem.errors import InputError, StateError
from gitmem.service.reading import Reading
from gitmem.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.catalog.notes import NoteMatch


def show_notes(reading: Reading, found: Sequence[NoteMatch], max_chars: int) -> list[dict[str, Any]]:
    """Return the notes as rows: ``path``, ``title``, ``snippet``, ``spans`` in it, ``why`` it is no record.

    What changed or went since the scan is left out, and of an earlier commit what is private now. Raises
    ``UnavailableError`` (``scanner-failed``).
    """
    from gitmem.policy.secrets import redact
    from gitmem.relevance.snippet import find_spans, make_snippet
    from gitmem.vault.plain_note import parse_plain_note

    rows = []
    with reading.open() as read:
        for match in found:
            note = None
            with suppress(InputError, StateError):
                data = read(match.path)
                note = parse_plain_note(match.path, data)
            if note is None or note.is_private or (reading.past and reading.past.hidden.has_note(match.path, data)):
                continue
            snippet = make_snippet(redact(note.text), match.words, max_chars)
            spans = [list(span) for span in find_spans(snippet, match.words)]
            title = redact(note.title)
            rows.append({"path": match.path, "title": title, "snippet": snippet, "spans": spans, "why": match.why})
    return rows
