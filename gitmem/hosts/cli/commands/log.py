"""``gitmem log``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.plain import short
from gitmem.hosts.cli.reading import find_columns, say_answer
from gitmem.model.answer import Answer


@verb("log", "gitmem log\ngitmem log m7k2q9x4c0de\ngitmem log --limit 100 --json")
@click.argument("ref", metavar="[ID]", required=False, type=text)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
@pass_call
def command(call: Call, ref: str | None, limit: int) -> int:
    """Show what was done, newest first.

    Of the whole vault, or of one record: ID is an id, the beginning of one, a key or a path. A line has the commit, the
    time, who did it (a person or a model), the operation and its title. Writes nothing. Exit code 1 when there is
    nothing to show.
    """
    return say_answer(call, lambda memory: memory.log(ref, limit), _format, nothing="no operations")


def _format(answer: Answer) -> str:
    rows = [
        (
            short(row["commit"]),
            row["time"],
            safe_line(f"{row['actor']} ({row['surface']})" if row["surface"] else row["actor"]),
            safe_line(row["op"]),
            safe_line(row["title"]),
        )
        for row in answer.rows
    ]
    return "\n".join(align(rows, find_columns()))
