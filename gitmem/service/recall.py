"""Decide what to volunteer for a prompt: a few records that fit, or nothing. Design section 7.

What is told is reread from Markdown; the catalog only says where to look and how rare words are. INV-NEVER-SILENT: a
prompt that nothing fits and a memory that can't be read have different statuses.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from gitmem.errors import InputError
from gitmem.fences import remove_memory
from gitmem.model.answer import Answer, Hit, Place, Status
from gitmem.model.ids import RecordId
from gitmem.model.recall import Candidate, Recall
from gitmem.model.settings import VaultEntry
from gitmem.model.validity import find_marks
from gitmem.model.vault_path import VaultPath
from gitmem.service.confirmed import list_confirmed
from gitmem.service.global_vault import ask_global
from gitmem.service.reading import Reading, answer
from gitmem.service.superseded import find_superseded
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import dataclass, replace

if TYPE_CHECKING:
    from gitmem.relevance.admit import Side
    from gitmem.relevance.prompt import Prompt
    from gitmem.relevance.score import Scored

DEFAULT_LIMIT = 5
MAX_LIMIT = 8
POOL = 20
"""How many records the catalog is asked for."""
SPARE = 4
"""How many more records than asked for are read: some are out of date, or say the same as another."""
LINKING = 3
"""Of how many of the best records the links are followed."""
MAX_LINKS = 8
MAX_SNIPPET_CHARS = 160


@dataclass(frozen=True)
class _Look:
    """What one vault has for a prompt: a side for each way to read it, and which records are known to be declared."""

    place: Place
    sides: tuple[Side, ...]
    confirmed: frozenset[VaultPath]


def recall(
    vault: OpenVault,
    prompt: str,
    find_global: Callable[[], VaultEntry | None] = lambda: None,
    *,
    session: str = "",
    limit: int = DEFAULT_LIMIT,
    max_chars: int | None = None,
    explain: bool = False,
) -> Answer:
    """Return what the vault has to say to ``prompt``: at most ``limit`` records (1 to 8) as hits, verified ones first.

    A workspace's vault is asked together with the global one, as one memory; each hit has its ``vault``. Where the
    global one can't be read, the status is ``degraded`` and the text says so in a line.

    ``extra["text"]`` is what a model is given, at most ``max_chars`` characters, or empty. With ``session``, a recall
    that says what the last one of that session said is one line, and records that nothing replaces are said to be
    superseded; the hits are the same. With ``explain``, ``extra["recall"]`` says of every record that was considered
    why it was admitted or not. Of a prompt of any length the first and last 10,000 characters are looked at. Writes
    the session's digest in runtime. Raises ``InputError`` (``bad-limit``).
    """
    from gitmem.relevance.prompt import parse_prompt
    from gitmem.service.tell import tell

    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InputError("bad-limit", f"a recall has 1 to {MAX_LIMIT} records", f"Ask for {DEFAULT_LIMIT}.")
    prompts = parse_prompt(remove_memory(prompt))
    today = vault.clock.now().date()

    def ask(asked: OpenVault) -> Answer:
        return answer(asked, lambda reading: _ask(reading, prompts, limit))

    own = ask(vault)
    shared, problems = ask_global(vault, find_global, ask, "what it remembers is missing here")
    answers = [own] if shared is None else [own, shared]
    looks: list[_Look] = [one.extra["look"] for one in answers]
    decided = _decide([look.sides for look in looks], today, limit)
    hits = tuple(_make_hit(one, looks, today) for one in decided.admitted)
    status = Status.OK if hits else Status.NO_MATCH
    if problems or any(one.status is Status.DEGRADED for one in answers):
        status = Status.DEGRADED
    told = (
        [replace(one, message=f"global vault: {one.message}", path="") for one in shared.diagnostics] if shared else []
    )
    text = tell(
        vault,
        decided,
        session=session,
        max_chars=max_chars,
        confirmed=_list_confirmed(decided, looks),
        status=status,
        code=problems[0].code if problems else "",
    )
    extra = {"text": text} | ({"recall": explain_recall(decided)} if explain else {})
    return Answer(status, own.revision, hits, (), (*own.diagnostics, *told, *problems), extra)


def decide(reading: Reading, prompt: str, limit: int, hidden: frozenset[str] = frozenset()) -> Recall:
    """Return what fits ``prompt`` in the moment of ``reading``; records at the paths in ``hidden`` don't count."""
    from gitmem.relevance.prompt import parse_prompt

    sides = tuple(_find_side(reading, one, limit, hidden) for one in parse_prompt(prompt))
    return _decide([sides], reading.now.date(), limit)


def _decide(vaults: Sequence[tuple[Side, ...]], today: datetime.date, limit: int) -> Recall:
    """Return what fits the prompt in all ``vaults``, which have a side for each way to read it.

    Of the ways to read a long prompt, the one that admits something counts, else the one that comes nearest.
    """
    from gitmem.relevance.admit import decide as admit

    found = [admit(sides, today, limit) for sides in zip(*vaults, strict=True)]
    return max(found, key=lambda one: (bool(one.admitted), one.best_score))


def explain_recall(decided: Recall) -> dict[str, Any]:
    """Return ``decided`` as plain values: the threshold, the terms with their weights, each candidate with its rule."""
    return {
        "score": round(decided.best_score, 3),
        "threshold": decided.threshold,
        "terms": [
            {"word": one.word, "weight": round(one.weight, 2), "records": one.record_count} for one in decided.terms
        ],
        "candidates": [_explain(one) for one in decided.candidates],
    }


def _ask(reading: Reading, prompts: Sequence[Prompt], limit: int) -> Answer:
    """Return what the vault has, as ``extra["look"]``; the status says only if ``answer`` is to look at every note."""
    entry = reading.vault.entry
    sides = tuple(_find_side(reading, one, limit, frozenset()) for one in prompts)
    committed = [
        one.seen.record for side in sides for one in side.scored if one.seen.record.path not in side.uncommitted
    ]
    look = _Look(Place(entry.name, entry.scope.value, entry.path), sides, list_confirmed(reading.vault, committed))
    is_sure = reading.report.tier != "folders" or _decide([sides], reading.now.date(), limit).admitted
    status = Status.OK if is_sure else Status.NO_MATCH
    return Answer(status, reading.head, diagnostics=reading.report.problems, extra={"look": look})


def _find_side(reading: Reading, prompt: Prompt, limit: int, hidden: frozenset[str]) -> Side:
    from gitmem.catalog.candidates import find_candidates
    from gitmem.catalog.filters import Filters
    from gitmem.relevance.admit import Side
    from gitmem.relevance.prompt import weigh_by_vault
    from gitmem.relevance.score import Seen, choose, score

    terms = [content.term for content in prompt.contents]
    pool = find_candidates(reading.database, terms, prompt.name, prompt.keys, Filters(), POOL + len(hidden))
    prompt = weigh_by_vault(prompt, pool.counts, pool.record_count)
    found = [one for one in pool.found if one.path not in hidden]
    places = choose(prompt, [(one.score, one.head, one.body) for one in found], limit + SPARE)
    chosen = [one for place, one in enumerate(found) if place in places or one.path in pool.named]
    records = reading.records(one.path for one in chosen)
    seen = [
        Seen(records[one.path][0], one.score, pool.named.get(one.path, "")) for one in chosen if one.path in records
    ]
    scored = score(prompt, seen)
    links = _follow_links(reading, scored)
    scored = [replace(one, seen=replace(one.seen, linked_from=links.get(one.seen.record.path, ""))) for one in scored]
    further = reading.records(links.keys() - records.keys() - hidden)
    scored += score(prompt, [Seen(one, linked_from=links[path]) for path, (one, _data) in further.items()])
    uncommitted = reading.uncommitted(one.seen.record for one in scored)
    superseded = find_superseded(reading, [one.seen.record for one in scored])
    scope = reading.vault.entry.scope
    return Side(scope, prompt, scored, pool.record_count, pool.counts, frozenset(uncommitted), superseded)


def _follow_links(reading: Reading, scored: Sequence[Scored]) -> dict[str, str]:
    """Return the paths of the records that the best of ``scored`` link to, each with the title of the linking one."""
    from gitmem.catalog.candidates import find_named
    from gitmem.model.links import link_name
    from gitmem.vault.markdown import find_links, find_property_links

    titles: dict[str, str] = {}
    for one in scored[:LINKING]:
        record = one.seen.record
        for link in (*find_property_links(record.properties), *find_links(record.body)):
            if link.target:
                titles.setdefault(link_name(link.target), record.title)
    found = find_named(reading.database, list(titles)[:MAX_LINKS])
    return {path: titles[name] for name, path in found.items()}


def _list_confirmed(decided: Recall, looks: Sequence[_Look]) -> frozenset[RecordId]:
    """Return the ids of the admitted records that are known to be declared, each by the vault that it is from.

    One that another file has, too, which nobody is known to have declared, is not among them.
    """
    known = {(look.place.scope, path) for look in looks for path in look.confirmed}
    proved = {one.record.id for one in decided.admitted if (one.scope.value, one.record.path) in known}
    return frozenset(
        proved - {one.record.id for one in decided.admitted if (one.scope.value, one.record.path) not in known}
    )


def _make_hit(one: Candidate, looks: Sequence[_Look], today: datetime.date) -> Hit:
    from gitmem.relevance.snippet import make_snippet

    return Hit(
        one.record,
        one.matched,
        make_snippet(one.record.body, one.matched, MAX_SNIPPET_CHARS),
        one.uncommitted,
        vault=next(look.place for look in looks if look.place.scope == one.scope.value),
        marks=find_marks(one.record, today),
    )


def _explain(one: Candidate) -> dict[str, Any]:
    return {
        "id": one.record.id,
        "path": one.record.path,
        "scope": one.scope.value,
        "title": one.record.title,
        "admitted": one.admitted,
        "rule": one.rule,
        "reason": one.reason,
        "score": round(one.score, 3),
        "matched": list(one.matched),
        "is_verified": one.is_verified,
        "caution": one.caution,
    }
