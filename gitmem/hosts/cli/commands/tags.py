"""``gitmem tags``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, find_columns, safe_line
from gitmem.hosts.cli.complete import complete_tags
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, clean_tags, filter_options, read_filters, tag_option, text
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.tags import MAX_TAGS, Vocabulary

_INDENT = "  "


@verb(
    "tags",
    """
gitmem tags
gitmem tags tool --flat
gitmem tags --with tool/pytest --min 2
gitmem tags --kind decision --since 2026-11 --json
""",
)
@click.argument("namespace", metavar="[NAMESPACE]", default="", type=text, shell_complete=complete_tags)
@tag_option("--with", "beside", help="Only of records that also have this tag. May be repeated: all of them.")
@click.option("--flat", "is_flat", is_flag=True, help="As a list, the most frequent first, and not as a tree.")
@click.option("--min", "min_count", type=click.IntRange(1), default=1, help="Only with so many records or more.")
@click.option("--limit", type=click.IntRange(1), default=MAX_TAGS, show_default=True, help="At most so many.")
@filter_options
@as_of_option
@pass_call
def command(call: Call, /, as_of: str | None, **values: Any) -> int:
    """Show which tags there are, and how many records have each.

    As a tree: a tag like tool/pytest stands below tool. Behind a tag stands how many records have it or one below it,
    and where these differ, how many have it itself. With NAMESPACE only what is there and below it; with --with what
    occurs together. Tags that differ in case are one. Private records don't count. Writes nothing into the repository.
    Exit code 1 when there are none.
    """
    names = ("namespace", "beside", "is_flat", "min_count", "limit")
    wanted = Vocabulary(**{name: values[name] for name in names} | {"beside": clean_tags(values["beside"])})
    filters = read_filters(values)
    return say_answer(
        call,
        lambda memory: memory.tags(filters, wanted, as_of),
        lambda answer: _format(answer, is_flat=wanted.is_flat),
        nothing="no tags",
    )


def _format(answer: Answer, *, is_flat: bool) -> str:
    counts = [str(row["own"] if is_flat else row["total"]) for row in answer.rows]
    columns = max(map(len, counts), default=0)
    top = min((row["depth"] for row in answer.rows), default=0)
    cells = [
        (_name(row, top, is_flat=is_flat), number.rjust(columns), "" if is_flat else _tell_own(row))
        for row, number in zip(answer.rows, counts, strict=True)
    ]
    omitted = answer.extra["omitted"]
    more = [f"… and {count(omitted, 'less frequent tag')}"] if omitted else []
    return "\n".join([*align(cells, find_columns()), *more])


def _name(row: dict[str, Any], top: int, *, is_flat: bool) -> str:
    if is_flat or row["depth"] == top:
        return safe_line(row["tag"])
    return _INDENT * int(row["depth"] - top) + safe_line(row["name"])


def _tell_own(row: dict[str, Any]) -> str:
    return f"({row['own']} itself)" if 0 < row["own"] < row["total"] else ""
