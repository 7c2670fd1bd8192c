"""``gitmem list``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, filter_options, read_filters
from gitmem.hosts.cli.plain import format_records
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer


@verb("list", "gitmem list\ngitmem list --state promoted --tag tool/pytest\ngitmem list --as-of 2w --json")
@filter_options
@click.option("--limit", type=click.IntRange(1), help="At most so many; all without it.")
@as_of_option
@pass_call
def command(call: Call, /, limit: int | None, as_of: str | None, **values: Any) -> int:
    """List records by title: id, state, kind, title and tags.

    Writes nothing into the repository. Exit code 1 when there is nothing to list.
    """
    filters = read_filters(values)
    return say_answer(
        call,
        lambda memory: memory.list(filters, limit, as_of),
        _format,
        nothing="no records",
    )


def _format(answer: Answer) -> str:
    omitted = answer.extra.get("omitted", 0)
    more = [f"… and {omitted} more"] if omitted else []
    return "\n".join([format_records(answer.hits, find_columns()), *more])
