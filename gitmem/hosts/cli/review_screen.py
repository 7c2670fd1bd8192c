"""What a reviewer sees of one candidate, and the lists of a review. Pure; everything shown is made visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from gitmem.hosts.cli.columns import GAP, INDENT, align, bar, measure, safe_line, truncate
from gitmem.hosts.cli.inbox_text import describe_wants
from gitmem.hosts.cli.plain import count
from gitmem.model.change import RecordChange
from gitmem.model.review import How, Staged
from gitmem.service.differences import LineChanges
from gitmem.service.review import count_by_how
from gitmem.service.review_look import Look, compare_bodies
from gitmem.text import make_visible

MIN_COLUMNS = 20
MIN_TEXT_LINES = 6
_OTHER_LINES = 20
"""How many rows of a terminal are left to all that is neither text nor difference."""
_PERCENT = 100
_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}
DONE = {
    How.ACCEPT: "accepted",
    How.PROMOTE: "promoted",
    How.MERGE: "merged",
    How.REJECT: "rejected",
    How.DEFER: "deferred",
}


@dataclass(frozen=True)
class Room:
    """How large the screen is; ``whole`` says that nothing is to be left out, however long it is."""

    columns: int
    rows: int
    whole: bool = False

    @property
    def text_lines(self) -> int | None:
        """How many lines of a text or a difference are shown; ``None`` for all."""
        return None if self.whole else max(MIN_TEXT_LINES, self.rows - _OTHER_LINES)


def format_rule(words: Sequence[str], columns: int) -> str:
    """Return the line that begins a screen: ``words`` between dashes, as wide as the terminal."""
    line = truncate("-- " + " -- ".join(map(safe_line, words)) + " ", columns)
    return click.style(line + "-" * max(0, columns - measure(line)), dim=True)


def format_look(look: Look, room: Room) -> str:
    """Return one candidate: what is proposed, why, what is near to it, and what policy and the scanner say."""
    row, draft = look.row, look.draft
    kind = draft.kind.value if draft.kind else "fact"
    what = f"{describe_wants(row)}, {kind}" if look.makes_record else describe_wants(row)
    edited = " (as you edited it)" if look.is_edited else ""
    lines = [click.style(truncate(safe_line(draft.title), room.columns), bold=True), f"{what}{edited}"]
    lines += _facts(look, room.columns)
    lines += _bar(draft.body, room)
    for change in look.changes:
        lines += _format_change(change, room)
    lines += _near(look, room)
    lines += _warnings(look, room.columns)
    return "\n".join(lines)


def format_keys(keys: Iterable[tuple[str, str]], columns: int) -> str:
    """Return the keys and what they do, as many on a line as fit."""
    lines, line = [], ""
    for key, what in keys:
        item = f"{key} {what}"
        longer = f"{line}{GAP}{item}" if line else item
        if line and measure(longer) > columns:
            lines.append(line)
            longer = item
        line = longer
    return "\n".join([*lines, line])


def format_difference(changes: LineChanges, room: Room) -> list[str]:
    """Return the lines of a difference, and how many more there are."""
    limit = room.text_lines
    shown = [safe for line in changes.lines[:limit] if (safe := make_visible(line).replace("\n", " ")) is not None]
    more = changes.omitted + len(changes.lines) - len(shown)
    painted = [click.style(f"{INDENT}{line}", fg=_DIFF_COLORS.get(line[:1])) for line in shown]
    return [*painted, *([f"{INDENT}... {count(more, 'line')} more, v shows all"] if more > 0 else [])]


def format_staged(staged: Sequence[Staged], columns: int | None) -> str:
    """Return the decisions with their numbers, one a line."""
    cells = [(f"{number:3}", _how(one), one.id, describe_staged(one)) for number, one in enumerate(staged, 1)]
    return "\n".join(align(cells, columns))


def describe_staged(one: Staged) -> str:
    """Return the title of a decision's candidate in one line, with where it goes, why or until when."""
    into = f"into {one.into}: " if one.into else ""
    more = f" - {one.reason}" if one.reason else f" - until {one.until}" if one.until else ""
    return safe_line(f"{into}{one.title}{more}")


def format_counts(staged: Sequence[Staged], left: int) -> str:
    """Return how many were decided how, and how many are left: ``2 accepted, 1 rejected; 3 left``."""
    counts = count_by_how(staged)
    told = ", ".join(f"{number} {DONE[how]}" for how, number in counts.items()) or "nothing decided"
    return f"{told}; {left} left" if left else told


def _how(one: Staged) -> str:
    return f"{one.how.value} *" if one.alone else one.how.value


def _facts(look: Look, columns: int) -> list[str]:
    row, draft = look.row, look.draft
    facts = [
        ("summary", draft.summary),
        ("key", draft.key or ""),
        ("tags", ", ".join(draft.tags)),
        *(("evidence", one) for one in draft.evidence),
        ("reason", row.get("reason", "")),
        ("by", _origin(row)),
        *(("why", one) for one in row.get("why", ())),
        ("worth", f"{row['worth']:.2f}"),
        ("policy", _policy(row["decision"])),
    ]
    cells = [(name, safe_line(value)) for name, value in facts if value]
    return [f"  {line}" for line in align(cells, max(MIN_COLUMNS, columns - 2))]


def _policy(decision: dict[str, Any]) -> str:
    told = {"allowed": "a rule accepts it without a person", "needs-human": "takes a person"}
    return f"{told.get(decision['verdict'], 'nobody may accept it')} ({decision['rule']})"


def _origin(row: dict[str, Any]) -> str:
    sources = f": {', '.join(row['sources'])}" if row.get("sources") else ""
    seen = f", {count(row['seen'], 'time')}" if row["seen"] > 1 else ""
    return f"{row['actor']} ({row['surface']}){seen}{sources}, {row['created'][:10]}"


def _format_change(change: RecordChange, room: Room) -> list[str]:
    before, after = change.before, change.after
    if before is None or after is None:
        return []
    state = before.state.value if before.state is after.state else f"{before.state.value} -> {after.state.value}"
    head = truncate(f"  {before.id}  {safe_line(before.title)} [{state}]", room.columns)
    if before.body == after.body:
        return [head, *_bar(before.body, room)]
    return [head, *format_difference(compare_bodies(before.body, after.body), room)]


def _near(look: Look, room: Room) -> list[str]:
    lines = []
    for one in look.row["near"]:
        what = "candidate" if one["is_candidate"] else one["state"] or "gone"
        told = f"{round(_PERCENT * one['share'])} %  {one['id']}  {safe_line(one['title'])} [{what}]"
        lines.append(truncate(f"  near  {told}", room.columns))
        if look.makes_record and look.nearest is not None and look.nearest.id == one["id"]:
            lines += format_difference(look.nearest.difference, room) or [f"{INDENT}(the same text)"]
    return lines


def _warnings(look: Look, columns: int) -> list[str]:
    told = [f"contradicts  {one['id']}  {safe_line(one['title'])}" for one in look.row["contradicts"]]
    told += [
        f"looks like a secret: {safe_line(one['where'])}, line {one['line']} ({safe_line(one['rule'])})"
        for one in look.row["findings"]
    ]
    if look.problem is not None:
        told.append(f"can't be accepted as it is: {safe_line(look.problem.message)}")
    if look.alone:
        told.append("this is declared by you, and takes a code of its own")
    return [click.style(f"  ! {truncate(line, max(MIN_COLUMNS, columns - 4))}", fg="yellow") for line in told]


def _bar(text: str, room: Room) -> list[str]:
    lines = make_visible(text.strip("\n")).split("\n") if text.strip() else []
    shown = lines[: room.text_lines]
    more = len(lines) - len(shown)
    told = bar("\n".join(shown), room.columns) if shown else []
    return [*told, *([f"  | ... {count(more, 'line')} more, v shows all"] if more else [])]
