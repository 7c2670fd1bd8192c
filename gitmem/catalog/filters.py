"""Which records may answer a question, and the condition on ``records`` that says so. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime

from gitmem.model.authority import Authority
from gitmem.model.record import Kind, State
from gitmem.text import fold_tag
from gitmem.typed import Any
from gitmem.values import dataclass

DELIVERED = (State.BASELINE, State.OBSERVATION, State.PROMOTED)
"""The states that answer unless others are asked for: retired records are never delivered on their own."""

IN_TAG = "(folded = ? OR (folded > ? AND folded < ?))"
"""The condition on ``tags`` for a tag and its children; ``format_tag`` gives its values."""

REVIEW_DAY = "date(upper(review_after))"
"""The SQL for the day from which on a record is to be reviewed."""

_BELOW = "(path = ? OR (path > ? AND path < ?) OR path GLOB ?)"


@dataclass(frozen=True)
class Filters:
    """Which records may answer; an empty field admits all.

    A record has every one of ``tags`` and at least one of ``any_tags``, or a child of it. It was updated, or else
    created, at or after ``since`` and before ``until``, both in UTC; one without a date fits neither. It lies at or
    below one of ``paths``, or fits one of them as a pattern (``*``, ``?``, ``[…]``; ``*`` crosses folders).
    ``verified`` says whether it must be or must not be. ``only`` lists the paths of the records that may answer at all.
    By the day ``due`` its review is due.
    """

    states: tuple[State, ...] = DELIVERED
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    authorities: tuple[Authority, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    paths: tuple[str, ...] = ()
    verified: bool | None = None
    only: tuple[str, ...] | None = None
    due: date | None = None


NO_FILTERS = Filters()


def format_filters(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """Return the conditions on ``records``, each with a leading AND, and their values."""
    conditions: list[tuple[str, tuple[Any, ...]]] = []
    columns = (("state", filters.states), ("kind", filters.kinds), ("authority", filters.authorities))
    for column, allowed in columns:
        if allowed:
            conditions.append((f"{column} IN ({marks(allowed)})", tuple(allowed)))
    conditions += [_format_any_tag([tag]) for tag in filters.tags]
    if filters.any_tags:
        conditions.append(_format_any_tag(filters.any_tags))
    if filters.since is not None:
        conditions.append((f"{_MOMENT} >= ?", (int(filters.since.timestamp()),)))
    if filters.until is not None:
        conditions.append((f"{_MOMENT} < ?", (int(filters.until.timestamp()),)))
    if filters.paths:
        conditions.append(format_paths(filters.paths))
    if filters.verified is not None:
        conditions.append((f"verified IS {'NOT ' if filters.verified else ''}NULL", ()))
    if filters.only is not None:
        conditions.append(("path IN (SELECT value FROM json_each(?))", (json.dumps(filters.only),)))
    if filters.due is not None:
        conditions.append((f"{REVIEW_DAY} <= ?", (filters.due.isoformat(),)))
    texts = [f" AND {condition}" for condition, _values in conditions]
    return "".join(texts), tuple(value for _condition, values in conditions for value in values)


def format_moment(date: str) -> str:
    """Return the SQL for seconds since 1970 of the date in SQL ``date``; a day counts as its beginning.

    What is no date is NULL: neither before nor after anything.
    """
    return f"CAST(strftime('%s', upper({date})) AS INTEGER)"


_MOMENT = format_moment("coalesce(updated, created)")


def format_paths(paths: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the condition on a column ``path`` to lie at or below one of ``paths``, or fit it, and its values."""
    condition = f"({' OR '.join([_BELOW] * len(paths))})"
    return condition, tuple(value for path in paths for value in (path, f"{path}/", f"{path}0", path))


def format_tag(tag: str) -> tuple[str, str, str]:
    """Return the values for ``IN_TAG``: the tag itself, and the bounds of its children."""
    folded = fold_tag(tag)
    return folded, f"{folded}/", f"{folded}0"  # `0` follows `/`


def marks(values: Sequence[object]) -> str:
    """Return the parameter marks for ``values`` in a list."""
    return ", ".join("?" * len(values))


def _format_any_tag(tags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    one_of = " OR ".join([IN_TAG] * len(tags))
    condition = f"records.rowid IN (SELECT record FROM tags WHERE {one_of})"  # noqa: S608
    return condition, tuple(value for tag in tags for value in format_tag(tag))
