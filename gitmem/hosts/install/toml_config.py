"""Put what is wanted into a host's TOML configuration, and take gitmem's own out of one. Pure: text in, text out.

The one home of ``tomlkit``. What it makes is read again by Python's own reader and compared, so that a fault of either
stops the edit and costs nobody a setting.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from gitmem.hosts.install.own import is_own_server
from gitmem.hosts.install.wanted import WantedFile

_MORE = "it can't be edited in place without changing more than gitmem's own entry"


class NotTomlError(ValueError):
    """The text is no TOML, or can't be edited without changing more than what is meant."""


def put_in(text: str, file: WantedFile) -> str:
    """Return ``text`` with the server that ``file`` wants, and no other of gitmem's. Raises ``NotTomlError``.

    A server of the wanted name that is not gitmem's is left alone.
    """
    table, name = map(str, file.server)
    there = _find(_parse(text), table, name)
    if there == file.server_entry or is_foreign_server(text, file):
        return text

    def put(document: tomlkit.TOMLDocument) -> None:
        if table not in document:
            document[table] = tomlkit.table(is_super_table=True)
        document[table][name] = dict(file.server_entry)

    plain = _parse(text)
    edited = _edit(text, put, plain | {table: plain.get(table, {}) | {name: dict(file.server_entry)}})
    if there is None:
        _check_lines(text, edited)
    elif _lines(take_out(edited, file)) != _lines(take_out(text, file)):
        raise NotTomlError(_MORE)
    return edited


def take_out(text: str, file: WantedFile) -> str:
    """Return ``text`` without gitmem's server. Raises ``NotTomlError``."""
    if not file.server:
        return text
    table, name = map(str, file.server)
    if not is_own_server(_find(_parse(text), table, name)):
        return text

    def take(document: tomlkit.TOMLDocument) -> None:
        servers: Any = document[table]
        del servers[name]
        if not servers and not tomlkit.dumps(servers).strip():  # a comment of the person's may stand there
            del document[table]

    left = _parse(text)
    del left[table][name]
    edited = _edit(text, take, left, {key: value for key, value in left.items() if value or key != table})
    _check_lines(edited, text)
    return edited


def is_bare(text: str, _file: WantedFile) -> bool:
    """Tell whether nothing is left in ``text``."""
    return not text.strip()


def is_foreign_server(text: str, file: WantedFile) -> bool:
    """Tell whether another server has the name that gitmem's would have. Raises ``NotTomlError``."""
    table, name = map(str, file.server)
    there = _find(_parse(text), table, name)
    return there is not None and not is_own_server(there)


def iter_own(text: str, file: WantedFile) -> Iterator[Any]:
    """Yield the server's entry that is gitmem's. Raises ``NotTomlError``."""
    there = _find(_parse(text), *map(str, file.server)) if file.server else None
    if is_own_server(there):
        yield there


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotTomlError(str(error)) from None


def _find(value: dict[str, Any], table: str, name: str) -> Any:
    servers = value.get(table, {})
    if not isinstance(servers, dict):
        raise NotTomlError(f"{table} is no table")
    return servers.get(name)


def _edit(text: str, change: Callable[[tomlkit.TOMLDocument], None], *wanted: dict[str, Any]) -> str:
    try:
        document = tomlkit.parse(text)
        change(document)
        edited = tomlkit.dumps(document)
    except (TOMLKitError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise NotTomlError(f"it can't be edited in place: {type(error).__name__}") from None
    if _parse(edited) not in wanted:
        raise NotTomlError(_MORE)
    return edited


def _check_lines(fewer: str, more: str) -> None:
    """Raise ``NotTomlError`` where a line of ``fewer`` is not in ``more``, in order; blank ones don't count."""
    lines = iter(_lines(more))
    if not all(line in lines for line in _lines(fewer)):
        raise NotTomlError(_MORE)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
