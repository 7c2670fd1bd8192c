"""Drafts from a file with one JSON object a line (JSON Lines). Pure; nothing that is wrong is passed over.

``schema/draft.schema.json`` says what a line may hold.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from gitmem.errors import InputError
from gitmem.model.record import MAX_DRAFT_FILE_BYTES, MAX_DRAFT_LINE_BYTES, MAX_DRAFTS, Draft, Kind
from gitmem.service.together import check_each, refuse
from gitmem.text import make_visible
from gitmem.vault.schema import validate

_NAMES = ("title", "body", "kind", "summary", "tags", "evidence", "key")
_HINT = "Nothing was written. Mend these lines; schema/draft.schema.json says what a line may hold."
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def parse_drafts(data: bytes) -> tuple[list[int], list[Draft]]:
    """Return the numbers of the lines that hold a draft, from 1, and the drafts, in order. Blank lines are passed over.

    A byte order mark and Windows line ends are fine. Raises ``InputError``: ``file-too-large`` (16 MiB), ``not-utf8``,
    ``no-drafts``, ``too-many-drafts`` (1,000), or ``bad-lines`` with every line that is wrong: ``line-too-long``
    (1 MiB), ``bad-json``, ``duplicate-name``, ``unknown-name``, ``schema``.
    """
    if len(data) > MAX_DRAFT_FILE_BYTES:
        raise InputError(
            "file-too-large", f"the file is larger than {MAX_DRAFT_FILE_BYTES >> 20} MiB", "Write it in parts."
        )
    if data.startswith(_UTF_16) or b"\0" in data[:2]:
        raise InputError("not-utf8", "the file is UTF-16, not UTF-8", "Save it as UTF-8 and try again.")
    lines = list(_iter_lines(data.removeprefix(codecs.BOM_UTF8)))
    if not lines:
        raise InputError("no-drafts", "the file holds no line", "Write one JSON object a line.")
    if len(lines) > MAX_DRAFTS:
        raise InputError(
            "too-many-drafts",
            f"the file has {len(lines)} records; one operation takes at most {MAX_DRAFTS}",
            "Write it in parts, each as its own operation.",
        )
    drafts, problems = check_each(lines, _parse_line)
    if problems:
        refuse(InputError, "bad-lines", f"{len(problems)} of {len(lines)} lines can't be read", _HINT, problems)
    return [number for number, _line in lines], drafts


def _iter_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    # Only a line feed ends a line: U+2028 and its like may stand in JSON texts as they are.
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip(b" \t\r"):
            yield number, line


def _parse_line(line: bytes) -> Draft:
    if len(line) > MAX_DRAFT_LINE_BYTES:
        raise InputError("line-too-long", f"the line is longer than {MAX_DRAFT_LINE_BYTES >> 20} MiB")
    value = _parse_json(line)
    if not isinstance(value, dict):
        raise InputError("bad-json", "the line holds no JSON object; write one object a line, without a list around")
    for name in value:
        if name not in _NAMES:
            near = get_close_matches(name, _NAMES, 1)
            more = f"did you mean {near[0]}?" if near else f"the names are {', '.join(_NAMES)}"
            raise InputError("unknown-name", f"{make_visible(name[:80])!r} is not known; {more}")
    try:
        validate("draft", value)
    except InputError as error:
        raise InputError(error.code, error.message.removeprefix("draft: ")) from None
    return _make_draft({name: one for name, one in value.items() if one is not None})


def _make_draft(value: dict[str, Any]) -> Draft:
    return Draft(
        title=value["title"],
        body=value.get("body", ""),
        kind=Kind(value["kind"]) if "kind" in value else None,
        summary=value.get("summary", ""),
        tags=tuple(tag.removeprefix("#") for tag in value.get("tags", ())),
        evidence=tuple(value.get("evidence", ())),
        key=value.get("key"),
    )


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
        raise InputError("bad-json", "the line holds what no draft holds: a huge number or very deep nesting") from None
    return value


def _check_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _one in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError("duplicate-name", f"the name {make_visible(twice[:80])!r} stands there twice")
    return value


def _refuse_constant(name: str) -> Any:
    raise InputError("bad-json", f"{name} is no JSON")
