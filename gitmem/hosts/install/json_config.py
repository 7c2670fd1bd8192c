"""Put what is wanted into a host's JSON configuration, and take gitmem's own out of one. Pure: text in, text out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts.install.json_edit import Place, find_node, is_blank, remove_value, set_value
from gitmem.hosts.install.json_text import has_comments
from gitmem.hosts.install.own import is_own_hook, is_own_server, iter_own_hooks
from gitmem.hosts.install.wanted import WantedFile

HOOKS: Place = ("hooks",)


def put_in(text: str, file: WantedFile) -> str:
    """Return ``text`` with what ``file`` wants, and nothing else of gitmem's. What is there and right stays as it is.

    A server of the wanted name that is not gitmem's is left alone. Raises ``NotJsonError``.
    """
    if (file.hooks or file.server_entry) and is_bare(text, file):
        for name, value in file.extra.items():
            text = set_value(text, (name,), value)
    for event, value in file.hooks.items():
        text = _put_hook(text, event, value)
    text = _remove(text, [place for place in list_own_hooks(text) if place[1] not in file.hooks])
    if not file.server:
        return text
    there = _read(text, file.server)
    if there == file.server_entry or is_foreign_server(text, file):
        return text
    return set_value(text, file.server, dict(file.server_entry))


def take_out(text: str, file: WantedFile) -> str:
    """Return ``text`` without anything of gitmem's. Raises ``NotJsonError``."""
    text = _remove(text, list_own_hooks(text))
    return _remove_server(text, file) if file.server and is_own_server(_read(text, file.server)) else text


def is_bare(text: str, file: WantedFile) -> bool:
    """Tell whether nothing is left in ``text`` but what a new file begins with. Raises ``NotJsonError``."""
    return _read(text, ()) in (None, {}, dict(file.extra)) and not has_comments(text)


def is_foreign_server(text: str, file: WantedFile) -> bool:
    """Tell whether another server has the name that gitmem's would have. Raises ``NotJsonError``."""
    there = _read(text, file.server) if file.server else None
    return there is not None and not is_own_server(there)


def count_there(text: str, place: Place) -> int | None:
    """Return how many of the objects on the way to ``place`` are there; ``None`` where ``place`` itself is."""
    there = [depth for depth in range(len(place) + 1) if _read(text, place[:depth]) is not None]
    return None if not there or there[-1] == len(place) else there[-1]


def list_own_hooks(text: str) -> list[Place]:
    """Return where hooks of gitmem's stand, in order. Raises ``NotJsonError``."""
    return [HOOKS + place for place in iter_own_hooks(_read(text, HOOKS))]


def iter_own(text: str, file: WantedFile) -> Iterator[Any]:
    """Yield the handlers and the server's entry that are gitmem's. Raises ``NotJsonError``."""
    for place in list_own_hooks(text):
        found = _read(text, place)
        yield from [found] if is_own_hook(found) else found["hooks"]
    entry = _read(text, file.server) if file.server else None
    if is_own_server(entry):
        yield entry


def _put_hook(text: str, event: str, value: Any) -> str:
    places = [place for place in list_own_hooks(text) if place[1] == event]
    if not places:
        there = _read(text, (*HOOKS, event))
        at = len(there) if isinstance(there, list) else 0
        return set_value(text, (*HOOKS, event, at), value)
    first, *others = places
    right = value["hooks"][0] if len(first) > len(HOOKS) + 2 else value
    if _read(text, first) != right:
        text = set_value(text, first, right)
    return _remove(text, others)


def _remove_server(text: str, file: WantedFile) -> str:
    return remove_value(text, file.server, keeps=file.server_keeps)


def _remove(text: str, places: list[Place]) -> str:
    for place in reversed(places):
        text = remove_value(text, place)
    return text


def _read(text: str, place: Place) -> Any:
    if is_blank(text):
        return None
    node = find_node(text, place)
    return None if node is None else node.to_value()
