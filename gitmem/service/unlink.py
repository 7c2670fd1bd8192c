"""Links of a record that goes to another vault: those that lead nowhere there become plain text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gitmem.errors import InputError
from gitmem.model.ids import RecordId
from gitmem.model.links import LinkTargets
from gitmem.model.record import Record, state_of
from gitmem.service.find import get_record
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import iter_link_targets
from gitmem.vault.markdown import Link, find_property_links, replace_links


class Unlinker:
    """Decides which links of records of ``source`` are kept in ``target``: to what ``goes`` along or is there already.

    ``goes`` are paths in the source. A link to another note that happens to have the same name is not kept.
    """

    def __init__(self, source: OpenVault, target: OpenVault, goes: frozenset[str]) -> None:
        self.source = source
        self.target = target
        self.goes = goes

    def keep(self, record: Record, links: Sequence[str]) -> list[str]:
        """Return those of the property ``links`` that lead to the same record there."""
        return [one for one in links if all(self._leads(record, link) for link in find_property_links({"": one}))]

    def replace(self, record: Record) -> tuple[str, int]:
        """Return the record's body with plain text for the links that are not kept, and how many these were."""
        count = 0

        def write(link: Link) -> str | None:
            nonlocal count
            if not link.target or self._leads(record, link):
                return None
            count += 1
            named = link.target + link.subpath
            return named if link.embed else link.alias or named

        return replace_links(record.body, write), count

    def _leads(self, record: Record, link: Link) -> bool:
        path = self._here.resolve(link.target, record.path).path
        if path is None or path in self.goes:
            return path is not None
        there = self._there.resolve(link.target, "promoted/").path
        found = _find_id(self.source, path)
        return there is not None and found is not None and found == _find_id(self.target, there)

    @cached_property
    def _here(self) -> LinkTargets:
        return LinkTargets(iter_link_targets(self.source))

    @cached_property
    def _there(self) -> LinkTargets:
        return LinkTargets(iter_link_targets(self.target))


def _find_id(vault: OpenVault, path: str) -> RecordId | None:
    if state_of(path) is None:
        return None
    try:
        return get_record(vault, path)[0].id
    except InputError:
        return None
