"""``gitmem list``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, filter_options, read_filters, text
from gitmem.hosts.cli.plain import format_records
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.list_records import SORTS


@verb(
    "list",
    """
gitmem list
gitmem list --tag client/acme --tag tool/pytest --summary
gitmem list --state promoted --sort updated --limit 20
gitmem list --due
gitmem list --as-of 2w --json
""",
)
@filter_options
@click.option(
    "--due",
    is_flag=False,
    flag_value="today",
    type=text,
    metavar="[DATE]",
    help="Only what is due for review by then; today without DATE.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    help="Times newest first, reviews the longest due first. [default: title, with --due review]",
)
@click.option("--limit", type=click.IntRange(1), help="At most so many; all without it.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Leave out so many at the beginning.")
@click.option("--summary", is_flag=True, help="Show the summary of each record on a line of its own.")
@as_of_option
@pass_call
def command(call: Call, /, limit: int | None, as_of: str | None, *, summary: bool, **values: Any) -> int:
    """List records by state, kind, tags, dates or what is due.

    A line has id, state, kind, what to mind, title and tags, and the summary where there is room. What is out of date,
    superseded, not valid yet or due for review is marked so. Reads no more files than it shows. Writes nothing into the
    repository. Exit code 1 when there is nothing to list.
    """
    filters = replace(read_filters(values), due=values["due"])
    sort = values["sort"] or ("review" if values["due"] else "title")
    return say_answer(
        call,
        lambda memory: memory.list(filters, limit, as_of, sort=sort, offset=values["offset"]),
        lambda answer: _format(answer, with_summary=summary),
        nothing="no records",
    )


def _format(answer: Answer, *, with_summary: bool) -> str:
    omitted = answer.extra["omitted"]
    more = [f"… and {omitted} more"] if omitted else []
    return "\n".join([format_records(answer.hits, find_columns(), with_summary=with_summary), *more])
