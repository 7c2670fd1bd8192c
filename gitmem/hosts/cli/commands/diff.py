"""``gitmem diff``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import INDENT, align, find_columns, safe_line, truncate_indented
from gitmem.hosts.cli.complete import complete_operations
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.plain import count, short
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.text import make_visible, shorten

MAX_VALUE_CHARS = 120
_COLORS = {
    "added": "green",
    "promoted": "green",
    "retired": "yellow",
    "removed": "red",
    "unreadable": "red",
}
_LINE_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@verb(
    "diff",
    """
gitmem diff
gitmem diff 2w
gitmem diff 2026-10-31 2026-11-30 --lines 0
gitmem diff 4kq0x1zv^ 4kq0x1zv
gitmem diff --worktree --json
""",
)
@click.argument("older", metavar="[A]", required=False, type=text, shell_complete=complete_operations)
@click.argument("newer", metavar="[B]", required=False, type=text, shell_complete=complete_operations)
@click.option("--worktree", "to_worktree", is_flag=True, help="Compare with the files as they are now, uncommitted.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many records.")
@click.option(
    "--lines",
    type=click.IntRange(0),
    default=12,
    show_default=True,
    help="At most so many lines of the text of each.",
)
@pass_call
def command(call: Call, older: str | None, newer: str | None, limit: int, lines: int, *, to_worktree: bool) -> int:
    """Show which records changed between two moments, and how.

    A and B are dates (2026-11-30, 2w), operations or commits of `gitmem log`, branches, or like HEAD~3. With A alone:
    from then until now. A date before the first commit means an empty vault. Without any: what the last commit did;
    with --worktree: what is not committed yet. Each record is added, promoted, retired, restored, moved, edited,
    removed or unreadable; below it stand the properties and the lines that changed. Of private records only the number
    is told; secrets are masked. Writes nothing. Exit code 1 when nothing changed.
    """
    if to_worktree and newer is not None:
        raise click.UsageError("with --worktree there is no B: the files as they are now are the end")
    from gitmem.service.diff import Bounds

    bounds = Bounds(limit, lines)
    return say_answer(
        call,
        lambda memory: memory.diff(older, newer, to_worktree=to_worktree, bounds=bounds),
        _format,
        nothing="nothing changed",
    )


def _format(answer: Answer) -> str:
    columns = find_columns()
    cells = [(row["change"], row.get("id", "-"), safe_line(row.get("title") or row["path"])) for row in answer.rows]
    heads = align(cells, columns)
    lines = _list_span(answer, columns)
    for head, row in zip(heads, answer.rows, strict=True):
        color = _COLORS.get(row["change"])
        lines.append(head.replace(row["change"], click.style(row["change"], fg=color, bold=True), 1))
        lines += [INDENT + truncate_indented(line, columns) for line in _list_facts(row)]
        lines += [
            INDENT + _paint(truncate_indented(make_visible(line).expandtabs(4), columns)) for line in row["lines"]
        ]
        if row["lines_omitted"]:
            lines.append(f"{INDENT}… {_format_counts(row)}")
    return "\n".join([*lines, *_list_rest(answer)])


def _paint(line: str) -> str:
    color = _LINE_COLORS.get(line[:1])
    return click.style(line, fg=color) if color else line


def _list_span(answer: Answer, columns: int | None) -> list[str]:
    old, new = answer.extra["from"], answer.extra["to"]
    start = f"{old['time']} ({short(old['commit'])})" if old else "nothing"
    end = f"{new['time']} ({short(new['commit'])})" if new else "the files as they are now"
    line = f"from {start} to {end}"
    return [line] if columns is None or len(line) <= columns else [f"from {start}", f"to   {end}"]


def _list_facts(row: dict[str, Any]) -> list[str]:
    facts = []
    if row["old_path"]:
        facts.append(f"{safe_line(row['old_path'])} -> {safe_line(row['path'])}")
    others = [one for one in row["properties"] if one["name"] != "updated"]
    facts += [f"{safe_line(one['name'])}: {_format_values(one['old'], one['new'])}" for one in others]
    if row["change"] == "added" and row.get("summary"):
        facts.append(safe_line(row["summary"]))
    if row["unshown"] and not row["old_path"]:
        facts.append("differs in what is not shown: a masked secret, or how the properties are written")
    if row["message"]:
        facts.append(safe_line(row["message"]))
    return facts


def _format_values(old: Any, new: Any) -> str:
    if isinstance(old, list) and isinstance(new, list):
        gone = [f"-{_short(one)}" for one in old if one not in new]
        came = [f"+{_short(one)}" for one in new if one not in old]
        return " ".join([*gone, *came]) or "in another order"
    if old is None or new is None:
        return f"+{_short(new)}" if old is None else f"-{_short(old)}"
    return f"{_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shorten(safe_line(shown), MAX_VALUE_CHARS)


def _format_counts(row: dict[str, Any]) -> str:
    more = count(row["lines_omitted"], "more line")
    return f"{more}; {count(row['lines_added'], 'line')} added, {row['lines_removed']} removed"


def _list_rest(answer: Answer) -> list[str]:
    extra = answer.extra
    rest = [f"… and {count(extra['omitted'], 'more record')}"] if extra["omitted"] else []
    if extra["private"]:
        rest.append(f"{count(extra['private'], 'private record')} changed")
    if extra["other_files"]:
        rest.append(f"{count(extra['other_files'], 'other file')} changed")
    return rest
