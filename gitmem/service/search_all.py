"""A search of the vault at hand and of the global one, as one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, zip_longest

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Place, Sort, Status, Strength
from gitmem.model.record import Problem
from gitmem.model.settings import VaultEntry
from gitmem.service.query import Filters, SearchOptions
from gitmem.service.reading import report
from gitmem.service.search import search
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import Any
from gitmem.values import replace

MAX_OFFSET = 900
"""Each vault is asked for all up to the end of the page, and gives at most 1,000."""
_FAILED = (Status.UNAVAILABLE, Status.WITHHELD)
_NEVER = datetime.min.replace(tzinfo=UTC)


def search_all(
    vault: OpenVault,
    find_global: Callable[[], VaultEntry | None],
    words: str,
    filters: Filters,
    limit: int,
    as_of: str | None,
    options: SearchOptions,
) -> Answer:
    """Return what both vaults answer as one answer, each hit with its ``vault``. See ``search`` for all else.

    Scores of two vaults can't be compared, ranks can: records that are named come first, then those with all words,
    then those with some; in each group the vaults take turns, that at hand first. Other orders are kept across both.
    ``extra["vaults"]`` says how each was read. One that can't be read is a diagnostic (``vault-unavailable``), and the
    status is ``degraded``. Raises ``InputError`` as ``search`` does.
    """
    if not 0 <= options.offset <= MAX_OFFSET:
        message = f"an offset in several vaults is a whole number from 0 to {MAX_OFFSET}"
        raise InputError("bad-offset", message, "Search one vault, or narrow the search.")
    wider = replace(options, offset=0)
    places, answers = [], []
    for opened in _open_all(vault, find_global):
        entry = opened.entry
        places.append(Place(entry.name, entry.scope.value, entry.path))
        try:
            answers.append(report(partial(search, opened, words, filters, limit + options.offset, as_of, wider)))
        finally:
            if opened is not vault:
                opened.close()
    return _merge(places, answers, limit, options)


def _open_all(vault: OpenVault, find_global: Callable[[], VaultEntry | None]) -> list[OpenVault]:
    shared = find_global()
    if shared is None or shared.path == vault.entry.path:
        return [vault]
    return [vault, OpenVault(shared, vault.clock, vault.options)]


def _merge(places: Sequence[Place], answers: Sequence[Answer], limit: int, options: SearchOptions) -> Answer:
    read = [answer for answer in answers if answer.status not in _FAILED]
    if not read:
        return answers[0]
    hits = _order(
        [[replace(hit, vault=place) for hit in one.hits] for place, one in zip(places, answers, strict=True)],
        options.sort,
    )[options.offset : options.offset + limit]
    extra = _merge_extra(places, answers, read, has_strong=any(hit.strength is not Strength.SOME for hit in hits))
    extra["more"] = extra["total"] > options.offset + len(hits)
    status = Status.OK if hits or extra["notes"] else Status.NO_MATCH
    if len(read) < len(answers) or any(answer.status is Status.DEGRADED for answer in read):
        status = Status.DEGRADED
    problems = [
        problem
        for place, one in zip(places, answers, strict=True)
        for problem in _list_problems(place, one, len(places))
    ]
    return Answer(status, answers[0].revision, tuple(hits), diagnostics=tuple(problems), extra=extra)


def _list_problems(place: Place, answer: Answer, count: int) -> list[Problem]:
    if answer.status in _FAILED:
        why = "; ".join(problem.message for problem in answer.diagnostics)
        return [Problem("vault-unavailable", f"the {place.scope} vault {place.name!r} was not searched: {why}")]
    if count == 1:
        return list(answer.diagnostics)
    return [replace(problem, message=f"{place.name}: {problem.message}") for problem in answer.diagnostics]


def _merge_extra(
    places: Sequence[Place], answers: Sequence[Answer], read: Sequence[Answer], *, has_strong: bool
) -> dict[str, Any]:
    extra = {name: value for name, value in read[0].extra.items() if name in ("as_of", "reconcile")}
    extra["total"] = sum(answer.extra["total"] for answer in read)
    if any("total_at_least" in answer.extra for answer in read):
        extra["total_at_least"] = True
    if "episodes" in read[0].extra:
        extra["episodes"] = sum(answer.extra["episodes"] for answer in read)
    pairs = zip(places, answers, strict=True)
    extra["notes"] = [{**note, "vault": place.name} for place, one in pairs for note in one.extra.get("notes", ())]
    for name in ("did_you_mean", "not_word_for_word", "hint"):
        said = [answer.extra[name] for answer in read if name in answer.extra]
        # What a word was meant to be only one vault may know; the others hold for all or not at all.
        if not has_strong and said and (name == "did_you_mean" or len(said) == len(read)):
            extra[name] = said[0]
    extra["vaults"] = [
        {
            "name": place.name,
            "scope": place.scope,
            "status": one.status.value,
            "revision": one.revision,
            "total": one.extra.get("total", 0),
        }
        for place, one in zip(places, answers, strict=True)
    ]
    return extra


def _order(groups: Sequence[Sequence[Hit]], sort: Sort) -> list[Hit]:
    if sort is not Sort.RELEVANCE:
        every = [hit for hits in groups for hit in hits]
        return sorted(every, key=_KEYS[sort], reverse=sort in (Sort.UPDATED, Sort.CREATED))
    found: list[Hit] = []
    for strength in Strength:
        turns = zip_longest(*([hit for hit in hits if hit.strength is strength] for hits in groups))
        found += [hit for hit in chain.from_iterable(turns) if hit is not None]
    return found


def _moment(text: str | None) -> datetime:
    moment = datetime.fromisoformat(text) if text else _NEVER
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_KEYS: dict[Sort, Callable[[Hit], Any]] = {
    Sort.UPDATED: lambda hit: _moment(hit.record.updated or hit.record.created),
    Sort.CREATED: lambda hit: _moment(hit.record.created),
    Sort.TITLE: lambda hit: fold(hit.record.title),
    Sort.PATH: lambda hit: hit.record.path,
}
