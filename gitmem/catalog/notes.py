"""Notes that are no records, found by their words. A read; it expects a reconciled catalog, see ``catalog.query``."""

from __future__ import annotations

from gitmem.catalog.database import Database
from gitmem.catalog.expressions import format_every, format_exclusion, format_what, join, list_terms
from gitmem.catalog.filters import Filters, format_paths, marks
from gitmem.catalog.highlights import format_highlights, list_highlighted
from gitmem.model.question import Question
from gitmem.values import dataclass

_WORDS = " || ".join(format_highlights("note_terms", 2))


@dataclass(frozen=True)
class NoteMatch:
    """A note that is no record: where it lies, why it is none, and its words that matched."""

    path: str
    why: str
    words: tuple[str, ...]


def search_notes(
    database: Database, question: Question, filters: Filters, *, takes_some: bool, limit: int
) -> tuple[NoteMatch, ...]:
    """Return at most ``limit`` notes in the states and paths of ``filters`` that answer ``question``, the best first.

    They have every word, or with ``takes_some`` any of them where there is no such note. Phrases and exclusions count
    as with records.
    """
    terms = [term.expression for term in list_terms(question)]
    if not terms:
        return ()
    demands = [format_what(phrase) for phrase in question.phrases]
    left_out = join(map(format_exclusion, question.exclusions), "OR")
    any_term = f"({join(terms, 'OR')})"
    some = f"({join([any_term, *demands], 'AND')})" if takes_some else ""
    folders = [state.folder for state in filters.states]
    condition, values = f" AND substr(path, 1, instr(path, '/') - 1) IN ({marks(folders)})", tuple(folders)
    if filters.paths:
        below, paths = format_paths(filters.paths)
        condition, values = f"{condition} AND {below}", (*values, *paths)
    question_text = (
        f"SELECT path, why, {_WORDS} FROM note_terms JOIN notes ON notes.rowid = note_terms.rowid"  # noqa: S608
        f" WHERE note_terms MATCH ?{condition} ORDER BY bm25(note_terms, 4.0, 1.0), path LIMIT ?"
    )
    with database.reading() as connection:
        for expression in filter(None, (f"({format_every(question)})", some)):
            wanted = f"{expression} NOT ({left_out})" if left_out else expression
            rows = connection.execute(question_text, (wanted, *values, limit)).fetchall()
            if rows:
                return tuple(NoteMatch(path, why, tuple(list_highlighted(text))) for path, why, text in rows)
    return ()
