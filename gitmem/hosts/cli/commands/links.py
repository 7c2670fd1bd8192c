"""``gitmem links``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, find_columns, safe_line
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer


@verb("links", "gitmem links m7k2q9x4c0de")
@click.argument("ref", metavar="ID", type=text, shell_complete=complete_records)
@pass_call
def command(call: Call, ref: str) -> int:
    """Show where a record's links lead, and what links to it.

    ID is an id, the beginning of one, a key or a path. A line has the direction, the properties and lines that hold the
    link (of the other record where it leads here), and the other end. Writes nothing. Exit code 0 even when there are
    no links.
    """
    return say_answer(call, lambda memory: memory.links(ref), _format)


def _format(answer: Answer) -> str:
    ends: dict[tuple[str, str], list[str]] = {}
    for row in answer.rows:
        places = ends.setdefault((row["direction"], _end(row)), [])
        place = row["source"] if row["line"] is None else f"line {row['line']}"
        if place not in places:
            places.append(place)
    return "\n".join(align([_cells(*end, places) for end, places in ends.items()], find_columns())) or "no links"


def _end(row: dict[str, Any]) -> str:
    unnamed = "a private note" if row["private"] else f"nothing is called {row['target']}"
    end = row["path"] or unnamed
    return end + (f" (or {', '.join(row['others'])})" if row["others"] else "")


def _cells(direction: str, end: str, places: list[str]) -> tuple[str, str, str]:
    where = safe_line(", ".join(places))
    return ("to", where, safe_line(end)) if direction == "out" else ("from", f"its {where}", safe_line(end))
