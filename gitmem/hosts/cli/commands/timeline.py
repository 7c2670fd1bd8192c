"""``gitmem timeline``."""

from __future__ import annotations

import datetime
from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, filter_options, read_filters, text
from gitmem.hosts.cli.plain import count, format_records
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.query import Filters
from gitmem.service.timeline import GROUPS, MAX_RECORDS, Stretch

_SOME_TIME = "2026-11-30T14:00:00Z"


@verb(
    "timeline",
    """
gitmem timeline
gitmem timeline upgrade postgres
gitmem timeline --by week --since 2026-10 --tag client/acme
gitmem timeline --kind episode --by session --json
""",
)
@click.argument("words", nargs=-1, type=text)
@click.option("--by", type=click.Choice(GROUPS), default="day", show_default=True, help="Group by this.")
@click.option("--updated", "by_update", is_flag=True, help="Go by when records were updated, not created.")
@click.option("--limit", type=click.IntRange(1, MAX_RECORDS), default=50, show_default=True, help="At most so many.")
@filter_options
@as_of_option
@pass_call
def command(call: Call, /, words: tuple[str, ...], as_of: str | None, **values: Any) -> int:
    """Tell when records came to be, newest first.

    By day, by week (from Monday, numbered as in ISO 8601) or by session; times are in UTC. With WORDS only what answers
    these best. What counts is when a record was created, which for an episode is when it happened; --since and --until
    go by that, too. Episodes and tasks are among the records and marked *. Records without a date are counted. Writes
    nothing into the repository. Exit code 1 when there is nothing to tell.
    """
    stretch = Stretch(" ".join(words), values["by"], values["by_update"], values["limit"])
    filters = read_filters(values)
    return say_answer(
        call,
        lambda memory: memory.timeline(filters, stretch, as_of),
        lambda answer: _format(answer, stretch.by),
        nothing=_say_nothing(stretch, filters),
    )


def _say_nothing(stretch: Stretch, filters: Filters) -> str:
    when = " in that time" if filters.since or filters.until else ""
    return f"no record matches{when}" if stretch.words.strip() else f"no records{when}"


def _format(answer: Answer, by: str) -> str:
    columns = find_columns()
    width = None if columns is None else max(1, columns - len(_format_time(_SOME_TIME, by)) - 3)
    records = format_records([row["hit"] for row in answer.rows], width).split("\n") if answer.rows else []
    lines: list[str] = []
    group = None
    for row, record in zip(answer.rows, records, strict=True):
        if row["group"] != group:
            group = row["group"]
            lines += ["", click.style(_format_group(group, by), bold=True)]
        mark = "*" if row["is_episode"] else " "
        lines.append(f"{_format_time(row['time'], by)} {mark} {record}")
    return "\n".join([*lines[1:], *_list_rest(answer)])


def _format_group(name: str, by: str) -> str:
    if by == "day":
        return f"{name} {datetime.date.fromisoformat(name):%A}"
    if by == "week":
        monday = datetime.date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
        return f"{name} ({monday} to {monday + datetime.timedelta(days=6)})"
    return safe_line(name) or "no session"


def _format_time(time: str, by: str) -> str:
    return time[11:16] if by == "day" else time[:16].replace("T", " ")


def _list_rest(answer: Answer) -> list[str]:
    extra = answer.extra
    rest = [f"… and {count(extra['omitted'], 'older record')}"] if extra["omitted"] else []
    if extra["undated"]:
        rest.append(f"{count(extra['undated'], 'record')} without a date")
    return ["", *rest] if rest else []
