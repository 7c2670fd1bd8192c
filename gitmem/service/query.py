"""What a reader asks for: filters that all reading verbs share, and what the catalog makes of them."""

from __future__ import annotations

import os
from datetime import date, timedelta
from unicodedata import normalize

from gitmem.errors import InputError
from gitmem.model.answer import Sort
from gitmem.model.authority import Authority
from gitmem.model.record import Kind, State
from gitmem.model.when import Span, parse_period, parse_when
from gitmem.text import quote, shorten
from gitmem.typed import TYPE_CHECKING
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.catalog.filters import Filters as CatalogFilters
    from gitmem.service.reading import Reading

FIELDS = ("title", "key", "tags", "summary", "body")
"""What of a record is searched; ``key`` stands for its aliases, too."""
MAX_VALUES = 100
"""How many tags, folders or links one filter takes."""
MAX_PATH_CHARS = 1000


@dataclass(frozen=True)
class Filters:
    """Which records to consider. An empty field means all; retired ones are left out unless ``states`` names them.

    ``tags`` must all be there, of ``any_tags`` one; a tag matches its children. ``since`` and ``until`` are texts that
    ``parse_when`` reads, compared with when a record was updated, or else created, in UTC: from the beginning of the
    one to the end of the other; a record without a date does not match. ``paths`` are folders, files, or patterns
    (``*``, ``?``, ``[…]``; ``*`` crosses folders) below the vault; one is enough. ``verified`` says whether a record
    must be or must not be. Each of ``links_to`` is linked to from the record: a record by id, key or path, else any
    file by the name that a link would have. ``due``, another such text, leaves those whose review is due by its end.
    """

    states: tuple[State, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    authorities: tuple[Authority, ...] = ()
    since: str | None = None
    until: str | None = None
    paths: tuple[str, ...] = ()
    verified: bool | None = None
    links_to: tuple[str, ...] = ()
    due: str | None = None


@dataclass(frozen=True)
class SearchOptions:
    """How to search: from which match on, in which order, in which ``fields`` of a record (all where empty).

    Records that have a word or phrase of ``exclude`` are left out. Episodes and tasks answer only with ``episodes``,
    and then alone, or where the filters name their kind. ``all_vaults`` asks the global vault, too.
    """

    offset: int = 0
    sort: Sort = Sort.RELEVANCE
    fields: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    episodes: bool = False
    all_vaults: bool = False


def to_catalog(filters: Filters, reading: Reading) -> CatalogFilters:
    """Return ``filters`` as the catalog takes them. Reads the catalog, and the names of all files for ``links_to``.

    Raises ``InputError``: ``bad-date``, ``bad-filter`` for a path outside the vault, an empty value, or more than
    ``MAX_VALUES`` of a kind, ``until-before-since``.
    """
    from gitmem.catalog.filters import DELIVERED
    from gitmem.catalog.filters import Filters as Wanted
    from gitmem.service.linking import list_linking_records

    for name in ("tags", "any_tags", "paths", "links_to"):
        _check_values(name, getattr(filters, name))
    now = reading.vault.clock.now()
    since, until = parse_period(filters.since, filters.until, now, "record")
    paths = tuple(form for path in filters.paths for form in _list_forms(path, reading.vault.layout.repo))
    return Wanted(
        states=filters.states or DELIVERED,
        kinds=filters.kinds,
        tags=filters.tags,
        any_tags=filters.any_tags,
        authorities=filters.authorities,
        since=since,
        until=until,
        paths=() if "." in paths else paths,
        verified=filters.verified,
        due=None if filters.due is None else _last_day(parse_when(filters.due, now)),
        only=list_linking_records(reading, filters.links_to) if filters.links_to else None,
    )


def _check_values(name: str, values: tuple[str, ...]) -> None:
    shown = name.replace("_", "-")
    if len(values) > MAX_VALUES:
        raise InputError("bad-filter", f"{len(values)} {shown} are too many", f"Give at most {MAX_VALUES}.")
    if not all(value.strip().strip("#/") for value in values):
        raise InputError("bad-filter", f"one of the {shown} is empty", "Leave it out, or say which.")


def _last_day(span: Span) -> date:
    """Return the last day, in UTC, that a stretch of time touches."""
    return (span.end - timedelta(microseconds=1) if span.end > span.start else span.end).date()


def _list_forms(path: str, repo: str) -> list[str]:
    """Return a path as ``_parse_path`` does, as typed and in both forms in which systems write accents."""
    parsed = _parse_path(path, repo)
    return list(dict.fromkeys([parsed, *(normalize(form, parsed) for form in ("NFC", "NFD"))]))


def _parse_path(text: str, repo: str) -> str:
    """Return a path or pattern below the vault at ``repo``, ``/`` between parts; an absolute one may lie in it."""
    inside = os.path.relpath(text, repo) if os.path.isabs(text) else os.path.normpath(text)
    inside = inside.replace(os.sep, "/")
    if inside == ".." or inside.startswith("../") or len(text) > MAX_PATH_CHARS:
        message = f"{quote(shorten(text, 80))} is not a path in the vault"
        raise InputError("bad-filter", message, "Give a folder such as promoted, or a pattern such as '*/2026-11/*'.")
    return inside
