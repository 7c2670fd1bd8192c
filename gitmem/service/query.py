"""What a reader asks for: filters that ``list`` and ``search`` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitmem.model.record import Kind, State

if TYPE_CHECKING:
    from gitmem.catalog.query import Filters as CatalogFilters


@dataclass(frozen=True)
class Filters:
    """Which records to consider. Empty means all; several tags mean all of them; a tag matches its children.

    Retired records are left out unless ``states`` names them.
    """

    states: tuple[State, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()


def to_catalog(filters: Filters) -> CatalogFilters:
    """Return ``filters`` as the catalog takes them."""
    from gitmem.catalog.query import DELIVERED
    from gitmem.catalog.query import Filters as Wanted

    tags = tuple(tag.lstrip("#") for tag in filters.tags)
    return Wanted(states=filters.states or DELIVERED, kinds=filters.kinds, tags=tags)
