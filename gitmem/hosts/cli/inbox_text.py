"""Candidates as text for people: the list by topic, one whole, and what became of some. Pure; all is made visible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import click

from gitmem.hosts.cli.columns import align, safe_line, truncate
from gitmem.hosts.cli.plain import count
from gitmem.model.answer import Answer
from gitmem.model.candidate import InboxFilters, Outcome, Proposed
from gitmem.text import make_visible

Row = dict[str, Any]
_PERCENT = 100


def format_inbox(answer: Answer, max_columns: int | None, limit: int | None = None) -> str:
    """Return the candidates of ``list_inbox``, one a line under the head of its topic, and how many there are."""
    rows = answer.rows[:limit]
    blocks = [_format_group(group, list(some), max_columns) for group, some in groupby(rows, lambda row: row["group"])]
    left = len(answer.rows) - len(rows)
    return "\n\n".join([*blocks, *([f"… and {left} more"] if left else []), *_tail(answer)])


def tell_nothing(answer: Answer, filters: InboxFilters) -> str:
    """Return what is said where ``answer`` has no row: what is deferred is not listed, and not gone."""
    if filters.decided:
        return "nothing was decided"
    if filters.group is not None:
        return f"nothing of the topic {safe_line(filters.group)} waits in the inbox"
    asleep = answer.extra.get("inbox", {}).get("deferred", 0)
    more = f"; `gitmem inbox --all` lists {count(asleep, 'deferred candidate')}" if asleep else ""
    return f"nothing waits in the inbox{more}"


def format_decided(answer: Answer, max_columns: int | None, limit: int | None = None) -> str:
    """Return the decided candidates, the newest first: when, what became of each, and why."""
    cells = [
        (row["id"], row["decided_at"][:10], row["fate"], " - ".join(filter(None, map(safe_line, _told(row)))))
        for row in answer.rows[:limit]
    ]
    left = len(answer.rows) - len(cells)
    return "\n".join([*align(cells, max_columns), *([f"… and {left} more"] if left else [])])


def format_candidate(row: Row) -> str:
    """Return one candidate whole: what is proposed, why, by whom, what it is near to, and what policy says of it."""
    facts = [
        ("id", row["id"]),
        ("wants", describe_wants(row)),
        ("title", row["title"]),
        ("kind", row.get("kind", "")),
        ("summary", row.get("summary", "")),
        ("key", row.get("key", "")),
        ("tags", ", ".join(row.get("tags", ()))),
        ("evidence", ", ".join(row.get("evidence", ()))),
        ("reason", row.get("reason", "")),
        ("proposed by", _describe_origin(row)),
        ("created", row["created"]),
        ("deferred", _describe_deferral(row)),
        ("expires", row.get("expires", "")),
        ("worth", f"{row['worth']:.2f}, in the group {row['group']}"),
        ("policy", f"{row['decision']['verdict']} for a model ({row['decision']['rule']})"),
        ("decided", _describe_fate(row)),
    ]
    lines = align([(name, safe_line(value)) for name, value in facts if value])
    lines += _block("text", row["body"].rstrip("\n").split("\n") if row["body"] else [], bar=True)
    lines += _block("why", [f"- {safe_line(one)}" for one in row.get("why", ())])
    lines += _block("about", [_describe_record(one) for one in row["targets"]])
    lines += _block("contradicts", [_describe_record(one) for one in row["contradicts"]])
    lines += _block("near", [_describe_near(one) for one in row["near"]])
    found = [f"{safe_line(one['where'])}, line {one['line']}: {safe_line(one['rule'])}" for one in row["findings"]]
    return "\n".join([*lines, *_block("looks like a secret", found)])


def describe_wants(row: Row) -> str:
    """Return what accepting the candidate does, in a few words."""
    targets = len(row["targets"])
    if row["wants"] == "merge":
        return "to be merged into a record" if targets == 1 else f"{targets} records to be merged into the first"
    if row["wants"] == "record":
        return "a new record"
    return f"{'a record' if targets == 1 else f'{targets} records'} to be {row['wants']}d"


def format_proposed(placed: Sequence[Proposed]) -> str:
    """Return what became of proposals, one a line, and what to do about those that do not wait.

    The id is that of the candidate, or of the record that says it already.
    """
    lines = []
    for one in placed:
        head = f"{one.record or one.candidate.id}  {click.style(one.outcome.value, bold=True)}"
        lines.append(f"{head}  {safe_line(one.candidate.draft.title)}")
        lines += [f"    {safe_line(said)}" for said in describe_outcome(one)]
    return "\n".join(lines)


def describe_outcome(one: Proposed) -> list[str]:
    """Return in sentences what is to be known about what became of a proposal; none for a plain new one."""
    candidate = one.candidate
    if one.outcome is Outcome.KNOWN:
        return [f"the record {one.record} says it already; nothing was added"]
    if one.outcome is Outcome.REJECTED_BEFORE and one.decided is not None:
        when = one.decided.time[:10]
        return [
            f"a person rejected it on {when}: {one.decided.reason}",
            f"`gitmem reconsider {candidate.id}` takes that back",
        ]
    said = []
    if one.outcome is Outcome.MERGED:
        said.append(f"it was proposed before and waits; proposed {count(candidate.seen, 'time')} by now")
    if candidate.wants.value == "merge":
        said.append(f"the record {candidate.targets[0]} says it already; to be merged into that one")
    said += [f"it contradicts the record {target}" for target in candidate.contradicts]
    return said


def _format_group(group: str, rows: Sequence[Row], max_columns: int | None) -> str:
    lines = [truncate(safe_line(group), max_columns)]
    cells = [(row["id"], _kind(row), f"{row['worth']:.2f}", _label(row)) for row in rows]
    for line, row in zip(align(cells, max_columns), rows, strict=True):
        lines.append(click.style(line[: len(row["id"])], bold=True) + line[len(row["id"]) :])
    return "\n".join([click.style(lines[0], underline=True), *lines[1:]])


def _kind(row: Row) -> str:
    return row.get("kind", "fact") if row["wants"] == "record" else str(row["wants"])


def _label(row: Row) -> str:
    marks = [f"{row['seen']}x"] if row["seen"] > 1 else []
    marks += ["contradicts"] if row["contradicts"] else []
    marks += ["secret?"] if row["findings"] else []
    marks += [f"until {row['deferred'][:10]}"] if row["asleep"] else []
    return " ".join([*(f"[{mark}]" for mark in marks), safe_line(row["title"])])


def _tail(answer: Answer) -> list[str]:
    counts = answer.extra["inbox"]
    asleep = f", {counts['deferred']} of them deferred" if counts["deferred"] else ""
    return [f"{count(counts['candidates'], 'candidate')} in the inbox{asleep}; `gitmem inbox ID` shows one whole"]


def _told(row: Row) -> tuple[str, str]:
    return row["title"], row["decided_because"]


def _describe_origin(row: Row) -> str:
    by = f"{row['actor']} ({row['surface']})"
    seen = f", {count(row['seen'], 'time')}" if row["seen"] > 1 else ""
    return f"{by}{seen}{': ' + ', '.join(row['sources']) if row.get('sources') else ''}"


def _describe_deferral(row: Row) -> str:
    by = {"human": " by a person", "model": " by an agent"}.get(row.get("deferred_by", ""), "")
    return f"until {row['deferred']}{by}" if "deferred" in row else ""


def _describe_fate(row: Row) -> str:
    if "fate" not in row:
        return ""
    because = f": {row['decided_because']}" if row["decided_because"] else ""
    return f"{row['fate']} on {row['decided_at'][:10]}{because}"


def _describe_record(one: Row) -> str:
    return safe_line(
        f"{one['id']} {one['title'] or '(gone or private)'}" + (f" [{one['state']}]" if one["state"] else "")
    )


def _describe_near(one: Row) -> str:
    what = "candidate" if one["is_candidate"] else one["state"] or "gone"
    return safe_line(f"{round(_PERCENT * one['share'])} %  {one['id']}  {one['title']} [{what}]")


def _block(head: str, lines: Sequence[str], *, bar: bool = False) -> list[str]:
    if not lines:
        return []
    return ["", f"{head}:", *(f"| {make_visible(line)}".rstrip() if bar else f"  {line}" for line in lines)]
