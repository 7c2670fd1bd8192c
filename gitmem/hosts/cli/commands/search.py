"""``gitmem search``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, filter_options, read_filters, text
from gitmem.hosts.cli.plain import format_hits
from gitmem.hosts.cli.reading import say_answer

MAX_LIMIT = 100


@verb(
    "search",
    """
gitmem search test workers
gitmem search "database connections" --tag tool/postgresql --limit 3
gitmem search "database connections" --as-of 2026-11-30
gitmem --json search 退款手续费
""",
)
@click.argument("words", nargs=-1, required=True, type=text)
@filter_options
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=10, show_default=True, help="At most so many.")
@as_of_option
@pass_call
def command(
    call: Call,
    /,
    words: tuple[str, ...],
    limit: int,
    as_of: str | None,
    **values: Any,
) -> int:
    """Find records by words, the best match first.

    --as-of answers as the vault was then. Writes nothing into the repository; brings the search catalog in the runtime
    folder up to date. Exit code 1 when nothing matches.
    """
    filters = read_filters(values)
    return say_answer(
        call,
        lambda memory: memory.search(" ".join(words), filters, limit, as_of),
        lambda answer: format_hits(answer.hits, find_columns()),
        nothing="no record matches",
    )
