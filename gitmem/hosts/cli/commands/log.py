"""``gitmem log``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, find_columns, safe_line
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text, text_option
from gitmem.hosts.cli.plain import short, short_op_id
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.model.authority import OUTSIDE, Action

MAX_NOTE_LINES = 4
_NO_COMMIT = (Action.PROPOSE, Action.REJECT, Action.SETTINGS)
OPS = [*(action.value for action in Action if action not in _NO_COMMIT), OUTSIDE]


@verb(
    "log",
    """
gitmem log
gitmem log m7k2q9x4c0de
gitmem log --since 2w --op promote --actor human
gitmem log --limit 100 --json
""",
)
@click.argument("ref", metavar="[ID]", required=False, type=text, shell_complete=complete_records)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
@text_option("--since", help="Only what was done then or later: 2026-11, 2026-11-30, yesterday, 2w.")
@text_option("--until", help="Only what was done by then, that day or month included.")
@click.option(
    "--op",
    "ops",
    type=click.Choice(OPS),
    multiple=True,
    help=f"Only this operation; {OUTSIDE} for commits made outside gitmem. May be repeated.",
)
@text_option("--actor", "actors", multiple=True, help="Only by this name, or by a surface: human, model.")
@pass_call
def command(
    call: Call,
    ref: str | None,
    limit: int,
    since: str | None,
    until: str | None,
    ops: tuple[str, ...],
    actors: tuple[str, ...],
) -> int:
    """Show what was done, newest first.

    Of the whole vault, or of one record, through moves, promotions and merges: ID is an id, the beginning of one, a key
    or a path; the whole id where the record is no longer there. A line has the operation's id, cut to what `gitmem
    undo` takes (- for a commit made outside gitmem), its commit, the time, who did it (a person or a model), the
    operation, [undone] if it was taken back, and its title; below it stands what was noted with it, such as a reason.
    Writes nothing. Exit code 1 when there is nothing to show.
    """
    from gitmem.service.log import LogFilters

    filters = LogFilters(since, until, ops, actors)
    return say_answer(call, lambda memory: memory.log(ref, limit, filters), _format, nothing="no operations")


def _format(answer: Answer) -> str:
    rows = [
        (
            short_op_id(row["op_id"]),
            short(row["commit"]),
            row["time"],
            safe_line(f"{row['actor']} ({row['surface']})" if row["surface"] else row["actor"]),
            safe_line(row["op"]),
            safe_line(f"[undone] {row['title']}" if row["undone_by"] else row["title"]),
        )
        for row in answer.rows
    ]
    columns = find_columns()
    lines = []
    for head, row in zip(align(rows, columns), answer.rows, strict=True):
        lines += [head, *_note_lines(row["note"], columns)]
    return "\n".join(lines)


def _note_lines(note: str, columns: int | None) -> list[str]:
    said = [safe_line(line) for line in note.splitlines() if line.strip()]
    if len(said) > MAX_NOTE_LINES:
        said[MAX_NOTE_LINES - 1 :] = ["…"]
    return align([(f"    {line}",) for line in said], columns)
