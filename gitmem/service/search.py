"""Answer explicit words. What is returned is reread from Markdown; the catalog only says where to look.

INV-NEVER-SILENT: an answer without hits says whether nothing fits or something could not be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Sort, Status, Strength
from gitmem.model.record import EPISODIC_KINDS, Kind, Record
from gitmem.service.query import FIELDS, Filters, SearchOptions, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import replace

if TYPE_CHECKING:
    from gitmem.catalog.search import Match, Matches, Page, Query

MAX_SNIPPET_CHARS = 160
RANKED_BY_PASSAGE = 20
"""How many of the first matches are read to rank them, whatever page of them is asked for."""
MAX_NOTES = 5
"""How many notes that are no records an answer has at most."""
_NO_OPTIONS = SearchOptions()


def search(
    vault: OpenVault,
    words: str,
    filters: Filters,
    limit: int = 10,
    as_of: str | None = None,
    options: SearchOptions = _NO_OPTIONS,
) -> Answer:
    """Return the records that answer ``words`` as hits, best first, at most ``limit`` (1 to 1,000).

    ``relevance.question`` says what ``words`` may hold. Each hit says why it matched and shows the place. Uncommitted
    edits are found and flagged. Retired records answer only when ``filters`` names their state. ``as_of`` asks an
    earlier commit, see ``reading.answer``. In ``extra``:

    - ``total``: how many records match, counted up to 1,000, and ``more``: whether there are any behind these;
    - ``episodes``: how many episodes and tasks match beside them, counted alike, where they were kept apart;
    - ``notes``: up to 5 notes that are no records and match, as rows (``path``, ``title``, ``snippet``, ``spans``,
      ``why`` it is no record), where no filter but state and path is set;
    - ``not_word_for_word``: the phrases that no record has; their words were looked for instead;
    - ``did_you_mean``: ``words`` with other spellings, where a word is in no record;
    - ``hint``: what to do where nothing matches, if something can be said.

    Raises ``InputError`` (``empty-query``, ``query-too-long``, ``bad-limit``, ``bad-offset``, ``bad-field``,
    ``no-such-revision``, and what ``to_catalog`` raises).
    """
    return answer(vault, lambda reading: search_in(reading, words, filters, limit, options), as_of)


def search_in(
    reading: Reading, words: str, filters: Filters, limit: int = 10, options: SearchOptions = _NO_OPTIONS
) -> Answer:
    """Return what ``search`` returns, for one moment of the records. Raises as it does."""
    from gitmem.catalog.search import Page, Query
    from gitmem.relevance.question import parse_question

    question = parse_question(words, options.exclude)
    if not words.strip():
        raise InputError("empty-query", "there is nothing to search for", "Give a word, or use `gitmem list`.")
    wrong = [name for name in options.fields if name not in FIELDS]
    if wrong:
        raise InputError("bad-field", f"a record has no field {wrong[0]!r}", f"The fields are {', '.join(FIELDS)}.")
    apart = () if filters.kinds or options.episodes else _EPISODIC
    if options.episodes:
        filters = replace(filters, kinds=filters.kinds or _EPISODIC)

    query = Query(question, to_catalog(filters, reading), options.fields, apart)
    return _search(reading, query, Page(limit, options.offset, options.sort), words, filters)


_EPISODIC = tuple(kind for kind in Kind if kind in EPISODIC_KINDS)


def _search(reading: Reading, query: Query, page: Page, words: str, filters: Filters) -> Answer:
    from gitmem.catalog.search import check_page
    from gitmem.catalog.search import search as find_matches
    from gitmem.relevance.question import take_apart

    check_page(page)
    asked = _widen(page)
    found: Matches = find_matches(reading.database, query, asked)
    extra: dict[str, Any] = {}
    if not found.total and query.question.phrases:
        # Questions quote titles that no record has word for word; an agent must not take that for "never recorded".
        extra["not_word_for_word"] = [phrase.text for phrase in query.question.phrases]
        query = replace(query, question=take_apart(query.question))
        found = find_matches(reading.database, query, asked)
    records = reading.records(sorted(match.row.path for match in found.page))
    matches = [match for match in found.page if match.row.path in records]
    if page.sort is Sort.RELEVANCE:
        matches = _order_weak(matches, records, query.question.name, RANKED_BY_PASSAGE - asked.offset)
    matches = matches[page.offset - asked.offset :][: page.limit]
    uncommitted = reading.uncommitted(records[match.row.path][0] for match in matches)
    hits = tuple(
        _make_hit(match, records[match.row.path][0], is_uncommitted=match.row.path in uncommitted) for match in matches
    )
    extra |= {"total": found.total, "more": found.total > page.offset + page.limit}
    if found.is_capped:
        extra["total_at_least"] = True
    if query.apart:
        extra["episodes"] = found.apart
    extra["notes"] = _list_notes(reading, query, page, filters, is_weak=not _is_strong(found))
    if found.near:
        reading.ensure_strict()
        extra["did_you_mean"] = _respell(words, found.near)
    is_empty = not hits and not extra["notes"]
    if is_empty and not found.total and (hint := _explain(reading, query, filters)):
        extra["hint"] = hint
    return Answer(
        Status.NO_MATCH if is_empty else Status.OK, reading.head, hits, diagnostics=reading.report.problems, extra=extra
    )


def _widen(page: Page) -> Page:
    """Return the page to look at so that the order of the first matches is the same whatever page is asked for."""
    if page.sort is not Sort.RELEVANCE or page.offset >= RANKED_BY_PASSAGE:
        return page
    return replace(page, offset=0, limit=max(RANKED_BY_PASSAGE, page.offset + page.limit))


def _order_weak(
    matches: Sequence[Match], records: Mapping[str, tuple[Record, bytes]], words: str, first: int
) -> list[Match]:
    """Return ``matches`` with those of only some words among the ``first`` by their best passage, as a recall ranks.

    Not for Chinese, Japanese and Korean, where it does harm; ADR 0023 has figures.
    """
    from gitmem.relevance.prompt import parse_prompt
    from gitmem.relevance.score import Seen, score

    weak = {match.row.path: match for match in matches[: max(0, first)] if match.strength is Strength.SOME}
    prompt = parse_prompt(words)[0]
    if len(weak) < 2 or prompt.is_cjk:
        return list(matches)
    ranked = score(prompt, [Seen(records[path][0], match.score) for path, match in weak.items()])
    ordered = iter([weak[one.seen.record.path] for one in ranked])
    return [next(ordered) if match.row.path in weak else match for match in matches]


def _is_strong(found: Matches) -> bool:
    return any(match.strength is not Strength.SOME for match in found.page)


def _make_hit(match: Match, record: Record, *, is_uncommitted: bool) -> Hit:
    from gitmem.relevance.snippet import find_spans, make_snippet

    for text in (record.body, record.summary, "; ".join(record.evidence)):
        snippet = make_snippet(text, match.words, MAX_SNIPPET_CHARS)
        places = find_spans(snippet, match.words)
        if places:
            break
    else:
        snippet = make_snippet(record.body, (), MAX_SNIPPET_CHARS)
    found = {name: find_spans(getattr(record, name), match.words) for name in ("title", "summary")}
    spans = {name: spans for name, spans in {**found, "snippet": places}.items() if spans}
    return Hit(record, match.matched, snippet, is_uncommitted, match.strength, spans)


def _list_notes(reading: Reading, query: Query, page: Page, filters: Filters, *, is_weak: bool) -> list[dict[str, Any]]:
    from gitmem.catalog.notes import search_notes
    from gitmem.service.plain_notes import show_notes

    if page.offset or query.fields or filters != Filters(states=filters.states, paths=filters.paths):
        return []
    limit = min(page.limit, MAX_NOTES)
    found = search_notes(reading.database, query.question, query.filters, takes_some=is_weak, limit=limit)
    return show_notes(reading, found, MAX_SNIPPET_CHARS)


def _respell(words: str, near: dict[str, str]) -> str:
    for word, meant in near.items():
        words = words.replace(word, meant, 1)
    return words


def _explain(reading: Reading, query: Query, filters: Filters) -> str:
    from gitmem.service.nothing import explain_filters

    return " ".join(filter(None, (_explain_question(reading, query), *explain_filters(reading, filters))))


def _explain_question(reading: Reading, query: Query) -> str:
    """Return why nothing fits the question: it has no letter, or what it leaves out; empty where neither is so."""
    from gitmem.catalog.search import Page
    from gitmem.catalog.search import search as find_matches

    if not query.question.words and not query.question.phrases:
        return "Only letters and digits can be searched for, no other signs; give a word."
    if not query.question.exclusions:
        return ""
    relaxed = replace(query.question, exclusions=())
    total = find_matches(reading.database, replace(query, question=relaxed), Page(limit=1)).total
    return f"{_count(total)} but for what is left out." if total else ""


def _count(total: int) -> str:
    return "1 record matches" if total == 1 else f"{total} records match"
