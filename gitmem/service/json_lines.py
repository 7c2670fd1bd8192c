"""Files with one JSON object a line (JSON Lines). Pure; nothing that is wrong is passed over."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from gitmem.errors import InputError
from gitmem.text import quote
from gitmem.typed import Any
from gitmem.vault.schema import validate

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def iter_lines(data: bytes, max_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of ``data`` that are not blank, each with its number, from 1; a byte order mark left out.

    Raises ``InputError``: ``file-too-large`` above ``max_bytes``, ``not-utf8`` for UTF-16.
    """
    if len(data) > max_bytes:
        raise InputError("file-too-large", f"the file is larger than {max_bytes >> 20} MiB", "Write it in parts.")
    if data.startswith(_UTF_16) or b"\0" in data[:2]:
        raise InputError("not-utf8", "the file is UTF-16, not UTF-8", "Save it as UTF-8 and try again.")
    # Only a line feed ends a line: U+2028 and its like may stand in JSON texts as they are.
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip(b" \t\r"):
            yield number, line


def parse_object(line: bytes, max_bytes: int, schema: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the object in ``line``, checked against ``schema``; members that are null left out.

    Raises ``InputError``: ``line-too-long`` above ``max_bytes``, ``bad-json``, ``not-utf8``, ``duplicate-name``,
    ``unknown-name`` for what is not among ``names``, ``schema``.
    """
    if len(line) > max_bytes:
        raise InputError("line-too-long", f"the line is longer than {max_bytes >> 20} MiB")
    value = _parse_json(line)
    if not isinstance(value, dict):
        raise InputError("bad-json", "the line holds no JSON object; write one object a line, without a list around")
    for name in value:
        if name not in names:
            near = get_close_matches(name, names, 1)
            more = f"did you mean {near[0]}?" if near else f"the names are {', '.join(names)}"
            raise InputError("unknown-name", f"{quote(name)} is not known; {more}")
    try:
        validate(schema, value)
    except InputError as error:
        raise InputError(error.code, error.message.removeprefix(f"{schema}: ")) from None
    return {name: one for name, one in value.items() if one is not None}


def _parse_json(line: bytes) -> Any:
    if b"\0" in line:
        raise InputError("bad-json", "the line holds a NUL byte")
    try:
        value = json.loads(line.decode(), object_pairs_hook=_check_names, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise InputError("not-utf8", "the line is not valid UTF-8") from None
    except UnicodeEncodeError:
        raise InputError("bad-json", "the line holds half of a character (a lone surrogate)") from None
    except json.JSONDecodeError as error:
        raise InputError("bad-json", f"the line is no JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):  # a number of very many digits, very many brackets
        raise InputError(
            "bad-json", "the line holds what no such line holds: a huge number or very deep nesting"
        ) from None
    return value


def _check_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _one in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError("duplicate-name", f"the name {quote(twice)} stands there twice")
    return value


def _refuse_constant(name: str) -> Any:
    raise InputError("bad-json", f"{name} is no JSON")
