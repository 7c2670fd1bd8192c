"""Report a task: what came of it, what shows that, what was checked, what is uncertain, and what is next.

A report is an observation of kind ``task``. Nobody has reviewed it; it tells the next session where the work stands.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from gitmem.errors import InputError
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import EVIDENCE_FORM, Draft, Kind, Record
from gitmem.model.task_report import MAX_ANSWER_CHARS, MAX_ITEM_CHARS, MAX_ITEMS, MAX_PART_CHARS, TaskReport
from gitmem.patterns import late
from gitmem.service.draft import summarise
from gitmem.service.json_lines import parse_object
from gitmem.service.observe import observe
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.report_text import LISTS, PARTS, clean, find_report, format_report

MAX_FILE_BYTES = 1 << 20
_EVIDENCE = late(EVIDENCE_FORM)
_NAMES = ("title", *PARTS, "tags", "key")
_TITLE = late(r"#[ \t]+(?P<title>\S.*)")


def report_task(
    vault: OpenVault,
    title: str,
    report: TaskReport,
    actor: Actor,
    op_id: OpId | None = None,
    *,
    tags: Sequence[str] = (),
    key: str | None = None,
) -> Receipt:
    """Commit ``report`` as a new observation of kind ``task``.

    Raises what ``draft_report`` raises and what ``service.observe`` raises: on a model surface ``PolicyError``
    (``needs-human``) unless an entry of its evidence can be followed. Nothing is written then.
    """
    return observe(vault, draft_report(title, report, tags=tags, key=key), actor, op_id)


def draft_report(title: str, report: TaskReport, *, tags: Sequence[str] = (), key: str | None = None) -> Draft:
    """Return the draft of the record that has ``report`` as its text, which ``find_report`` reads back. Pure.

    Entries of evidence in the form of a record's are its ``evidence``, too. The summary is the beginning of the answer.
    Raises ``InputError``: ``no-answer``, ``report-too-long`` (a part, or one of its lines, beyond the bounds of
    ``model.task_report``) and ``open-code``.
    """
    cleaned = clean(report)
    _check(cleaned)
    return Draft(
        title=title,
        body=format_report(cleaned),
        kind=Kind.TASK,
        summary=summarise(cleaned.answer),
        tags=tuple(tag.removeprefix("#") for tag in tags),
        evidence=tuple(one for one in cleaned.evidence if _EVIDENCE.fullmatch(one)),
        key=key,
    )


def describe_report(record: Record) -> dict[str, Any] | None:
    """Return the parts of a record of kind ``task`` by name, ``None`` where it is none or has no answer."""
    report = find_report(record.body) if record.kind is Kind.TASK else None
    return None if report is None else {**asdict(report), "evidence": [*report.evidence], "checks": [*report.checks]}


def parse_report(data: bytes) -> tuple[TaskReport, dict[str, Any]]:
    """Return the report in a file, and what else the file says of it: ``title``, ``tags`` and ``key``, if it does.

    A file that begins with ``{`` is JSON (``schema/report.schema.json``); any other is Markdown with a heading for
    each part, as a record has it, and perhaps ``# Title`` before. Raises ``InputError``: ``file-too-large``,
    ``not-utf8``, ``no-answer``, and for JSON what ``json_lines.parse_object`` raises.
    """
    if len(data) > MAX_FILE_BYTES:
        raise InputError("file-too-large", "the file is larger than 1 MiB", "Keep what the next one needs to know.")
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.lstrip()[:1] == b"{":
        value = parse_object(data, MAX_FILE_BYTES, "report", _NAMES)
        parts = {name: value[name] for name in PARTS if name in value}
        parts |= {name: tuple(parts[name]) for name in LISTS if name in parts}
        return TaskReport(**parts), {name: value[name] for name in ("title", "tags", "key") if name in value}
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InputError("not-utf8", "the file is not valid UTF-8", "Save it as UTF-8 and try again.") from None
    report = find_report(text)
    if report is None:
        raise _no_answer("the file has no part Answer")
    first = _TITLE.fullmatch(text.lstrip("\n").partition("\n")[0].rstrip())
    return report, {"title": first["title"]} if first else {}


def _check(report: TaskReport) -> None:
    if not report.answer:
        raise _no_answer("a report needs an answer")
    _check_length("answer", [report.answer], MAX_ANSWER_CHARS)
    for name in ("uncertainty", "next"):
        _check_length(name, [getattr(report, name)], MAX_PART_CHARS)
    for name in LISTS:
        items = getattr(report, name)
        if len(items) > MAX_ITEMS:
            raise _too_long(f"{name} has {len(items)} entries, at most {MAX_ITEMS} fit")
        _check_length(name, items, MAX_ITEM_CHARS)


def _check_length(name: str, texts: Iterable[str], max_chars: int) -> None:
    longest = max(map(len, texts), default=0)
    if longest > max_chars:
        raise _too_long(f"{name} has {longest:,} characters in one piece, at most {max_chars:,} fit")


def _too_long(message: str) -> InputError:
    hint = "Keep what the next one needs to know; what was learned beside it is a record of its own."
    return InputError("report-too-long", message, hint)


def _no_answer(message: str) -> InputError:
    return InputError("no-answer", message, "Say in a few sentences what came of the task, under the heading Answer.")
