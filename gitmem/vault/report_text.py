"""A task report as the text of its record: a heading for each part that has something to say. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.errors import InputError
from gitmem.fences import mask_fences
from gitmem.model.task_report import TaskReport
from gitmem.patterns import late
from gitmem.text import one_line

PARTS = ("answer", "evidence", "checks", "uncertainty", "next")
"""The names of the parts in order; the headings are these, with a capital."""
LISTS = ("evidence", "checks")
"""Those of them that are lists of lines."""
_HEADING = late(rf"(?P<guard>\\*)##[ \t]+(?P<name>{'|'.join(PARTS)})[ \t]*", re.IGNORECASE)
_ITEM = "- "


def format_report(report: TaskReport) -> str:
    """Return the body of the record; ``find_report`` reads it back. What is empty has no heading.

    A line of a text that reads as one of the headings gets a backslash in front. Raises ``InputError`` (``open-code``)
    for a code block that nothing closes, which would take in the parts behind it.
    """
    cleaned = clean(report)
    lines: list[str] = []
    for name in PARTS:
        value = getattr(cleaned, name)
        if value:
            said = [_ITEM + one for one in value] if name in LISTS else _guard(value)
            lines += [*([""] if lines else []), f"## {name.capitalize()}", "", *said]
    body = "\n".join(lines)
    if find_report(body) != cleaned:
        raise InputError(
            "open-code",
            "a code block in the report is opened and not closed",
            "Close it in the part where it begins.",
        )
    return body


def find_report(body: str) -> TaskReport | None:
    """Return the parts in ``body``, whoever wrote it, in whatever order; ``None`` where it has no answer.

    What stands before the first heading belongs to none. Parts that stand there twice are joined.
    """
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    here: list[str] = []
    lines = body.replace("\r\n", "\n").split("\n")
    for line, masked in zip(lines, mask_fences("\n".join(lines)).split("\n"), strict=True):
        heading = _HEADING.fullmatch(masked)
        if heading and not heading["guard"]:
            here = parts[heading["name"].lower()]
        else:
            here.append(line[1:] if heading else line)
    report = clean(
        TaskReport(
            answer="\n".join(parts["answer"]),
            evidence=tuple(_list_items(parts["evidence"])),
            checks=tuple(_list_items(parts["checks"])),
            uncertainty="\n".join(parts["uncertainty"]),
            next="\n".join(parts["next"]),
        )
    )
    return report if report.answer else None


def clean(report: TaskReport) -> TaskReport:
    """Return ``report`` as it is kept: texts without blank lines around them, items as one line each, none empty."""
    return TaskReport(
        answer=_strip(report.answer),
        evidence=tuple(filter(None, map(one_line, report.evidence))),
        checks=tuple(filter(None, map(one_line, report.checks))),
        uncertainty=_strip(report.uncertainty),
        next=_strip(report.next),
    )


def _strip(text: str) -> str:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def _guard(text: str) -> list[str]:
    masked = mask_fences(text).split("\n")
    return [
        f"\\{line}" if _HEADING.fullmatch(seen) else line for line, seen in zip(text.split("\n"), masked, strict=True)
    ]


def _list_items(lines: Iterable[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if line.startswith(("- ", "* ")):
            items.append(line[2:])
        elif line.strip() and not items:
            items.append(line)
        elif line.strip():
            items[-1] = f"{items[-1]} {line}"
    return items
