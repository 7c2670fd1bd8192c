"""Drafts from a file with one JSON object a line (JSON Lines). Pure; nothing that is wrong is passed over.

``schema/draft.schema.json`` says what a line may hold.
"""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.model.record import MAX_DRAFT_FILE_BYTES, MAX_DRAFT_LINE_BYTES, MAX_DRAFTS, Draft, Kind
from gitmem.service.json_lines import iter_lines, parse_object
from gitmem.service.together import check_each, refuse
from gitmem.typed import Any

_NAMES = ("title", "body", "kind", "summary", "tags", "evidence", "key")
_HINT = "Nothing was written. Mend these lines; schema/draft.schema.json says what a line may hold."


def parse_drafts(data: bytes) -> tuple[list[int], list[Draft]]:
    """Return the numbers of the lines that hold a draft, from 1, and the drafts, in order. Blank lines are passed over.

    A byte order mark and Windows line ends are fine. Raises ``InputError``: ``file-too-large`` (16 MiB), ``not-utf8``,
    ``no-drafts``, ``too-many-drafts`` (1,000), or ``bad-lines`` with every line that is wrong: ``line-too-long``
    (1 MiB), ``bad-json``, ``duplicate-name``, ``unknown-name``, ``schema``.
    """
    lines = list(iter_lines(data, MAX_DRAFT_FILE_BYTES))
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


def _parse_line(line: bytes) -> Draft:
    return _make_draft(parse_object(line, MAX_DRAFT_LINE_BYTES, "draft", _NAMES))


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
