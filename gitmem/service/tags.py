"""The vocabulary: which tags there are, and how many records have each."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.service.query import Filters, to_catalog
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.text import fold_tag
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import dataclass, replace

if TYPE_CHECKING:
    from gitmem.catalog.vocabulary import TagCount

MAX_TAGS = 200


@dataclass(frozen=True)
class Vocabulary:
    """Which part of the vocabulary is asked for.

    ``namespace`` and what is below it, all where it is empty; ``beside`` leaves the records that have each of these
    tags, and so tells what occurs with them; ``min_count`` is the least number of records. At most ``limit`` tags.
    """

    namespace: str = ""
    beside: tuple[str, ...] = ()
    min_count: int = 1
    is_flat: bool = False
    limit: int = MAX_TAGS


_ALL = Vocabulary()


def tags(vault: OpenVault, filters: Filters, wanted: Vocabulary = _ALL, as_of: str | None = None) -> Answer:
    """Return the tags of the records that ``filters`` admits as rows: as a tree by name, parents first.

    A row has ``tag``, ``name`` (its last part; ``/b`` of ``a//b``), ``depth`` (0 at the top), ``own`` (records with
    this very tag) and ``total`` (with it or one below it, each once). Flat are only tags that records have, the most
    frequent first. Tags of properties and of texts count alike, those of private records never. Where there are more
    than the limit, the most frequent stay, and ``extra["omitted"]`` counts the others. Raises ``InputError``:
    ``bad-limit``, ``bad-filter``, ``no-such-revision``.
    """
    if wanted.limit < 1 or wanted.min_count < 1:
        raise InputError("bad-limit", "a limit is a whole number from 1 on", "Leave it out, or ask for 1.")
    filters = replace(filters, tags=(*filters.tags, *wanted.beside))
    return answer(vault, lambda reading: _tags(reading, filters, wanted), as_of, strict=True)


def _tags(reading: Reading, filters: Filters, wanted: Vocabulary) -> Answer:
    from gitmem.catalog.vocabulary import count_tags, iter_above

    found = count_tags(reading.database, to_catalog(filters, reading), wanted.namespace)
    named = {fold_tag(tag) for tag in wanted.beside}
    others = {
        name
        for one in found
        if one.own and fold_tag(one.tag) not in named
        for name, _spelling in iter_above(fold_tag(one.tag), one.tag)
    }
    kept = [one for one in found if one.total >= wanted.min_count and fold_tag(one.tag) in others]
    if wanted.is_flat:
        kept = [one for one in kept if one.own >= wanted.min_count and fold_tag(one.tag) not in named]
    most = sorted(kept, key=lambda one: -(one.own if wanted.is_flat else one.total))[: wanted.limit]
    names = {one.tag for one in most}
    shown = most if wanted.is_flat else [one for one in kept if one.tag in names]
    rows = tuple(map(_row, shown))
    status = Status.OK if rows else Status.NO_MATCH
    extra: dict[str, Any] = {"omitted": len(kept) - len(rows)}
    if not found:
        from gitmem.service.nothing import explain_nothing

        inside = (wanted.namespace,) if wanted.namespace.strip("#/ ") else ()
        extra |= explain_nothing(reading, replace(filters, tags=(*filters.tags, *inside)))
    return Answer(status, reading.head, rows=rows, diagnostics=reading.report.problems, extra=extra)


def _row(one: TagCount) -> dict[str, Any]:
    above = one.tag.rpartition("/")[0].rstrip("/")
    name = one.tag[len(above) + 1 :] if above else one.tag
    depth = len([part for part in above.split("/") if part])
    return {"tag": one.tag, "name": name, "depth": depth, "own": one.own, "total": one.total}
