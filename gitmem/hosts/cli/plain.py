"""The same results as text for people: one record a line, its id first. Pure; everything shown is made visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.errors import GitmemError
from gitmem.hosts.cli.columns import INDENT, align, safe_line, truncate
from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.change import Receipt
from gitmem.model.ids import is_own_op_id
from gitmem.model.maintenance import Maintenance
from gitmem.model.record import Problem
from gitmem.text import make_visible, shorten

if TYPE_CHECKING:
    from gitmem.service.promote_global import Handed

MAX_LISTED = 20
"""How many records of one operation are listed; the commit lists them all."""
MAX_ERROR_CHARS = 1000
"""How much of an error is told; one that quotes an argument could be of any length."""
SHORT_COMMIT_CHARS = 12
SHORT_OP_CHARS = 8
CHOSEN_OP_CHARS = 24
GONE = "gone"
"""Stands where the state of a record would, for one that went."""
_MIN_TITLE_COLUMNS = 12
"""Where a title would have less room, its record's state and kind are left out."""
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "ok": "green"}
_STATE_COLORS = {"baseline": "magenta", "promoted": "green", "retired": "bright_black"}


def format_receipt(receipt: Receipt) -> str:
    """Return what a write did: the operation and its commit, then its records, then its notices."""
    if not receipt.changed:
        head = f"{receipt.op}: nothing to do, no commit made"
    else:
        head = f"{receipt.op}: commit {short(receipt.commit)}"
    rows = [(ref.id, ref.state or GONE, safe_line(ref.path)) for ref in receipt.records[:MAX_LISTED]]
    more = len(receipt.records) - len(rows)
    lines = [head, *align(rows), *([f"… and {more} more"] if more else [])]
    return "\n".join([*lines, *(f"notice: {safe_line(notice)}" for notice in receipt.notices)])


def format_handed(handed: Handed) -> str:
    """Return what a promotion to the global vault did, there and here."""
    place = safe_line(handed.name)
    return f"in the global vault {place!r}:\n{format_receipt(handed.there)}\nhere:\n{format_receipt(handed.here)}"


def format_maintenance(done: Maintenance) -> str:
    """Return what was done to the vault's storage, or is to be done, a fact a line; what was left alone last."""
    packed = f"{count(done.packed, 'loose object')} to pack" if done.dry_run else f"{done.packed} packed"
    merged = f", {done.merged} of them {'to be made' if done.dry_run else 'made'} one" if done.merged else ""
    graph = f"{done.graph} commits"
    if done.graph_new:
        graph += ", to be brought up to date" if done.dry_run else f", {done.graph_new} of them new"
    rows = [
        ("objects", f"{packed}; loose {_change(done.before.loose, done.after.loose)}"),
        ("packs", f"{_change(done.before.packs, done.after.packs)}{merged}"),
        ("KiB", _change(done.before.bytes // 1024, done.after.bytes // 1024)),
        ("commit graph", graph),
        ("catalog files", _change(done.shards_before, done.shards_after)),
        ("litter", f"{done.litter} removed"),
    ]
    return "\n".join([*align(rows), *(f"left alone: {safe_line(line)}" for line in done.left_alone)])


def format_records(hits: Sequence[Hit], max_columns: int | None, *, with_summary: bool = False) -> str:
    """Return one line a record: id, state, kind, marks, title and tags; cut at ``max_columns`` if given.

    On a narrow terminal state and kind make room for the title.

    The summary follows on a line of its own ``with_summary``, else where a line of ``max_columns`` has room for it.
    """
    lines = _record_lines(hits, max_columns, fills=not with_summary)
    if not with_summary:
        return "\n".join(lines)
    return "\n".join(
        line
        for hit, head in zip(hits, lines, strict=True)
        for line in (head, truncate(f"{INDENT}{safe_line(hit.record.summary)}", max_columns))
        if line.strip()
    )


def format_problems(problems: Iterable[Problem]) -> str:
    """Return one warning a line, with the place that it is about."""
    return "\n".join(f"warning: {place_of(one.path, one.line)}{safe_line(one.message)}" for one in problems)


def format_tier(answer: Answer) -> str:
    """Return one line on how the notes were looked at where that was not one by one; empty otherwise."""
    how = answer.extra.get("reconcile", {})
    if how.get("tier") == "folders":
        numbers = f"{how['looked_at']:,} of {how['notes']:,} notes"
        return f"{numbers} were looked at, the others are as their folders' times say; --strict looks at all"
    if how.get("tier") == "memory" and answer.status is not Status.DEGRADED:
        return "the search catalog was made in memory, as GITMEM_CATALOG says, and is not kept"
    return ""


def format_catalog(catalog: dict[str, Any]) -> str:
    """Return how the search catalog is, in a few words; its file stands last."""
    if catalog["storage"] == "none":
        return "none yet; the next search makes it"
    held = f"{count(catalog['records'], 'record')}, {count(catalog['notes'], 'note')}"
    if catalog["storage"] == "memory":
        return f"{held}, in memory"
    return f"{held}, {catalog['bytes'] / 1e6:.1f} MB, {safe_line(catalog['file'])}"


def format_findings(rows: Iterable[dict[str, Any]]) -> str:
    """Return the findings of a check: severity, place and message a line, what to do below it."""
    lines = []
    for row in rows:
        severity = str(row["severity"])
        place = place_of(row["path"], row.get("line"))
        lines.append(f"{click.style(severity, fg=_SEVERITY_COLORS.get(severity))}: {place}{safe_line(row['message'])}")
        if row.get("hint"):
            lines.append(f"{INDENT}{safe_line(row['hint'])}")
    return "\n".join(lines)


def format_unreadable(answer: Answer) -> str:
    """Return the one line on a memory that can't be read, or may not be shown, and what to do."""
    said = "; ".join(safe_line(problem.message) for problem in answer.diagnostics)
    return "\n".join(filter(None, (f"memory {answer.status.value}: {said}", format_hint(answer))))


def format_hint(answer: Answer) -> str:
    """Return the line on what to do about an answer; empty where it says nothing of it."""
    hint = answer.extra.get("hint")
    return f"hint: {safe_line(hint)}" if hint else ""


def format_error(error: GitmemError) -> str:
    """Return an error as people see it: what went wrong, and what to do."""
    message = make_visible(error.message)
    if len(message) > MAX_ERROR_CHARS:
        message = shorten(message, MAX_ERROR_CHARS)
    lines = [click.style("error:", fg="red") + f" {message}", *_list_problems(error)]
    return "\n".join([*lines, f"hint: {make_visible(error.hint)}"] if error.hint else lines)


def place_of(path: str, line: int | None) -> str:
    """Return ``path:line: `` as it stands before a message; empty without a path."""
    if not path:
        return ""
    return f"{safe_line(path)}:{line}: " if line else f"{safe_line(path)}: "


def short(commit: str | None) -> str:
    """Return the beginning of a commit id, enough to name it."""
    return (commit or "none")[:SHORT_COMMIT_CHARS]


def short_op_id(op_id: str | None) -> str:
    """Return the beginning of an operation's id, enough to name it, ``-`` for none; more of a chosen one."""
    if op_id is None:
        return "-"
    return op_id[: SHORT_OP_CHARS if is_own_op_id(op_id) else CHOSEN_OP_CHARS]


def count(number: int, noun: str) -> str:
    """Return ``number`` and its ``noun``, in the plural with an ``s`` unless there is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _list_problems(error: GitmemError) -> list[str]:
    """Return a line for each of several problems that an error carries; its message has told a single one."""
    problems = error.fields.get("problems", ())
    if len(problems) < 2:
        return []
    lines = []
    for one in problems[:MAX_LISTED]:
        where = one.get("path") or (f"line {one['line']}" if "line" in one else "")
        lines.append(
            f"  {safe_line(where)}: {safe_line(one['message'])}" if where else f"  {safe_line(one['message'])}"
        )
    more = error.fields.get("count", len(problems)) - len(lines)
    return [*lines, *([f"  … and {more} more"] if more > 0 else [])]


def _change(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} -> {after}"


def _record_lines(hits: Sequence[Hit], max_columns: int | None, *, fills: bool = False) -> list[str]:
    heads = [(one.record.id, one.record.state.value, one.record.kind.value if one.record.kind else "-") for one in hits]
    labels = [_label(one) + (_tail(one) if fills and max_columns is not None else "") for one in hits]
    room = max_columns is None or max_columns - max(map(len, align(heads)), default=0) >= _MIN_TITLE_COLUMNS
    rows = [(*(head if room else head[:1]), label) for head, label in zip(heads, labels, strict=True)]
    return [
        click.style(line[: len(hit.record.id)], bold=True)
        + _paint_marks(_paint_state(line[len(hit.record.id) :], hit.record.state.value if room else ""), hit)
        for hit, line in zip(hits, align(rows, max_columns), strict=True)
    ]


def _label(hit: Hit) -> str:
    marks = ["[uncommitted]"] if hit.uncommitted else []
    marks += [f"[{mark.text}]" for mark in hit.marks]
    marks += [f"[{count(len(hit.record.problems), 'problem')}]"] if hit.record.problems else []
    return " ".join([*marks, safe_line(hit.record.title), *(f"#{safe_line(tag)}" for tag in hit.record.tags)])


def _tail(hit: Hit) -> str:
    return f"  {safe_line(hit.record.summary)}" if hit.record.summary else ""


def _paint_state(text: str, state: str) -> str:
    color = _STATE_COLORS.get(state)
    return text.replace(state, click.style(state, fg=color), 1) if color else text


def _paint_marks(text: str, hit: Hit) -> str:
    for mark in hit.marks:  # they stand before the title, so nothing that looks like one is met first
        text = text.replace(f"[{mark.text}]", click.style(f"[{mark.text}]", fg="yellow"), 1)
    return text
