"""Where a link leads: names resolved as Obsidian resolves them. Obsidian facts A.4. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import dirname, normpath

from gitmem.text import fold
from gitmem.values import dataclass


@dataclass(frozen=True)
class Resolution:
    """Where one link leads. ``path`` is ``None`` when it is broken; ``others`` are further files of that name."""

    path: str | None
    others: tuple[str, ...] = ()


def link_name(target: str) -> str:
    """Return the folded name of the file that a link to ``target`` can lead to; the same for a file's own path."""
    return _key(normpath(target.strip("/")).rpartition("/")[2] if "/" in target else target)


class LinkTargets:
    """Every file that a link in the vault may mean, by folded name. Built once, asked many times."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(paths):
            key = _key(path)
            self._by_path.setdefault(key, path)
            self._by_name.setdefault(key.rpartition("/")[2], []).append(path)

    def resolve(self, target: str, source: str) -> Resolution:
        """Return where ``target`` in the note ``source`` leads; an empty target is the note itself.

        A whole path wins, then a path from the note's folder, then the name: in the same folder, then with the fewest
        folders, then the first by order.
        """
        if not target:
            return Resolution(source)
        wanted = _key(target.strip("/"))
        relative = _key(normpath(f"{dirname(source)}/{target}")) if "/" in target else None
        for key in (wanted, relative):
            if key is not None and key in self._by_path and "/" in key:
                return Resolution(self._by_path[key])
        tail = wanted if "/" not in wanted else "/" + wanted
        named = self._by_name.get(wanted.rpartition("/")[2], [])
        found = [path for path in named if "/" not in wanted or _key(path).endswith(tail)]
        if not found:
            return Resolution(None)
        best = min(found, key=lambda path: (dirname(path) != dirname(source), path.count("/"), path))
        return Resolution(best, tuple(path for path in found if path != best))


def _key(path: str) -> str:
    folded = fold(path)
    return folded[:-3] if folded.endswith(".md") else folded
