"""``gitmem search``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.group import Verb, verb
from gitmem.hosts.cli.hits import format_advice, format_fields, format_found
from gitmem.hosts.cli.options import as_of_option, filter_options, read_filters, text
from gitmem.hosts.cli.output import RECORD_FIELDS
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer, Sort
from gitmem.service.query import FIELDS, SearchOptions

MAX_LIMIT = 100
MAX_OFFSET = 10_000
_MINUS = "\0-"


class _Words(Verb):
    """Takes ``-word`` as a word of the question, not as options of one letter each."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hide the minus of such words while click looks for options; NUL is in no argument."""
        end = args.index("--") if "--" in args else len(args)
        options = [one for one in self.params if isinstance(one, click.Option) and not one.is_flag]
        takes_value = {name for option in options for name in option.opts}
        before = ["", *args]
        hidden = [
            f"{_MINUS}{arg[1:]}" if _is_word(arg) and before[i] not in takes_value else arg
            for i, arg in enumerate(args[:end])
        ]
        return super().parse_args(ctx, hidden + args[end:])


def _is_word(arg: str) -> bool:
    return arg[:1] == "-" and arg[1:2] not in ("", "-") and arg != "-h"


def _show_minus(value: str) -> str:
    return text(value.replace(_MINUS, "-"))


def _parse_fields(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(",")) if value is not None else ()
    for name in names:
        if name not in RECORD_FIELDS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(RECORD_FIELDS)}")
    return names


@verb(
    "search",
    """
gitmem search test workers
gitmem search '"two workers" -redis' --tag tool/pytest --limit 3
gitmem search database connections --sort updated --since 2026-11 --as-of 2026-11-30
gitmem search retry policy --all-vaults --fields id,title,snippet --json
""",
    _Words,
)
@click.argument("words", nargs=-1, required=True, type=_show_minus)
@filter_options
@click.option("--exclude", multiple=True, type=text, metavar="WORD", help="Not what has this word or phrase.")
@click.option("--in", "inside", type=click.Choice(FIELDS), multiple=True, help="Look only in this part of a record.")
@click.option("--episodes", is_flag=True, help="Search what happened (episodes and tasks) instead of what is known.")
@click.option("--all-vaults", is_flag=True, help="Search the global vault, too.")
@click.option("--sort", type=click.Choice([sort.value for sort in Sort]), default="relevance", show_default=True)
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=10, show_default=True, help="At most so many.")
@click.option("--offset", type=click.IntRange(0, MAX_OFFSET), default=0, show_default=True, help="Pass over so many.")
@click.option(
    "--fields",
    metavar="NAME,…",
    callback=_parse_fields,
    help="Print only these members of each record: id, path, title, snippet, body, …",
)
@as_of_option
@pass_call
def command(
    call: Call, /, words: tuple[str, ...], limit: int, as_of: str | None, fields: tuple[str, ...], **values: Any
) -> int:
    """Find records by words, the best match first.

    Words are looked for in all their forms, records with all of them come first. "Quoted words" must stand side by
    side; -word leaves out what has the word, but not in what looks like a command line: --exclude always does. Retired
    records, episodes and tasks answer only when asked for. --as-of answers as the vault was then. Writes nothing into
    the repository; brings the search catalog in the runtime folder up to date. Exit code 1 when nothing matches.
    """
    filters = read_filters(values)
    options = SearchOptions(
        offset=values["offset"],
        sort=Sort(values["sort"]),
        fields=values["inside"],
        exclude=values["exclude"],
        episodes=values["episodes"],
        all_vaults=values["all_vaults"],
    )
    answers: list[Answer] = []

    def show(answer: Answer) -> str:
        answers.append(answer)
        return format_fields(answer, fields) if fields else format_found(answer, find_columns())

    code = say_answer(
        call,
        lambda memory: memory.search(" ".join(words), filters, limit, as_of, options),
        show,
        nothing="no record matches",
        fields=fields,
    )
    for answer in answers:
        call.warn(format_advice(answer))
    return code
