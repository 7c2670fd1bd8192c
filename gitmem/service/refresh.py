"""Bring search catalogs in step with notes that were just written, so that the next read finds little to do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gitmem.service.reading import ask
from gitmem.service.vault import OpenVault
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import load_registry


def refresh_written(vault: OpenVault, paths: Iterable[str]) -> int:
    """Bring the catalog of each vault of the home in step in which one of ``paths`` (absolute) lies; return how many.

    Raises what ``ask`` raises and, where the home's registry can't be read, what ``load_registry`` raises.
    """
    places = set(_iter_real(paths))
    entries = [vault.entry, *load_registry(HomeLayout(vault.options.home))]
    written = {entry.path: entry for entry in entries if any(place.startswith(entry.path + os.sep) for place in places)}
    for entry in written.values():
        other = OpenVault(entry, vault.clock, vault.options)
        try:
            ask(other, lambda _database, _report: None)
        finally:
            other.close()
    return len(written)


def _iter_real(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        with suppress(ValueError):  # no name that a file can have
            yield os.path.realpath(path)
