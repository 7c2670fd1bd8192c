"""``gitmem eval``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import read_file
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.evaluate import MAX_FILE_BYTES
from gitmem.text import shorten

_MAX_QUERY_CHARS = 100


def _read_least(_ctx: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, float]:
    least = {}
    for value in values:
        name, equals, number = value.partition("=")
        try:
            least[name] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE, as in recall.mrr=0.8")
    return least


@verb(
    "eval",
    """
gitmem eval questions.jsonl
gitmem eval questions.jsonl --min recall.abstention-recall=0.9 --min search.recall@5=0.8
gitmem --vault ~/notes --json eval questions.jsonl
""",
)
@click.argument("file", metavar="FILE.jsonl|-")
@click.option(
    "--min",
    "least",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_read_least,
    help="Exit with 7 where this measure is lower, as in recall.answered=0.95. May be repeated.",
)
@click.option(
    "--failures", type=click.IntRange(0), default=20, show_default=True, help="List at most so many in the text."
)
@pass_call
def command(call: Call, /, file: str, *, least: Mapping[str, float], failures: int) -> int:
    """Measure search and recall by questions that you labelled.

    Each line of FILE is a question: {"query": "…", "relevant": ["id, path or file name", …]}; "relevant": [] says that
    nothing in the vault answers it, so that a recall should be silent. "kind", "id" and "exclude" are optional. Told
    are recall, MRR and nDCG, how well silence is kept, times, and the failures to look at. Writes nothing.
    """
    data = read_file(call, file, MAX_FILE_BYTES + 1)
    return say_answer(call, lambda memory: memory.evaluate(data, least), lambda answer: _format(answer, failures))


def _format(answer: Answer, most: int) -> str:
    measures = answer.extra["measures"]
    names = list(next(iter(measures.values())))
    lines = [f"{answer.extra['queries']} queries"]
    lines += align([("", *measures), *((name, *(_show(one[name]) for one in measures.values())) for name in names)])
    lines += _format_kinds(answer.extra["by_kind"])
    gates = [row for row in answer.rows if "gate" in row]
    for row in gates:
        verdict = "reached" if row["severity"] == "ok" else "NOT REACHED"
        lines.append(f"{row['gate']} {_show(row['value'])}, at least {row['least']:g}: {verdict}")
    failed = [row for row in answer.rows if "gate" not in row]
    lines += [f"{len(failed)} failures" + (f", the first {most}:" if len(failed) > most > 0 else "")]
    for row in failed[:most]:
        query = safe_line(shorten(row["query"].strip(), _MAX_QUERY_CHARS))
        lines.append(f"  {row['mode']}  {safe_line(row['query_id'])}  {row['why']}: {query}")
        for name in ("relevant", "given"):
            if row[name]:
                lines.append(f"      {name}: {safe_line(', '.join(row[name]))}")
    return "\n".join(lines)


def _format_kinds(by_kind: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    rows = [
        (
            safe_line(kind),
            mode,
            *(_show(measures[name]) for name in ("recall@5", "mrr", "answered", "abstention-recall")),
        )
        for mode, kinds in by_kind.items()
        for kind, measures in kinds.items()
    ]
    return align([("kind", "", "recall@5", "mrr", "answered", "abstention-recall"), *rows]) if rows else []


def _show(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
