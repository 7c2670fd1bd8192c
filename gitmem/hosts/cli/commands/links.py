"""``gitmem links``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.reading import find_columns, say_answer
from gitmem.model.answer import Answer


@verb("links", "gitmem links m7k2q9x4c0de")
@click.argument("ref", metavar="ID", type=text)
@pass_call
def command(call: Call, ref: str) -> int:
    """Show where a record's links lead, and what links to it.

    ID is an id, the beginning of one, a key or a path. Writes nothing. Exit code 0 even when there are no links.
    """
    return say_answer(call, lambda memory: memory.links(ref), _format)


def _format(answer: Answer) -> str:
    return "\n".join(align([_cells(row) for row in answer.rows], find_columns())) or "no links"


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    place = row["source"] if row["line"] is None else f"line {row['line']}"
    end = row["path"] or f"nothing is called {row['target']}"
    if row["others"]:
        end += f" (or {', '.join(row['others'])})"
    return ("to" if row["direction"] == "out" else "from", safe_line(place), safe_line(end))
