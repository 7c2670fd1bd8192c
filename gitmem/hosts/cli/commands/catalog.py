"""``gitmem catalog``."""

from __future__ import annotations

import sys

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.plain import format_catalog
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.memory import Memory


@family(
    "catalog",
    "gitmem catalog status\ngitmem catalog rebuild\ngitmem --vault ~/notes catalog rebuild --json",
)
def command() -> None:
    """Show the search catalog, or make it afresh.

    It is made from the notes and lies in the runtime folder; whatever becomes of it, answers are the same. With
    GITMEM_CATALOG=memory in the environment each command makes its own in memory. Writes nothing into the repository.
    """


@verb("status", "gitmem catalog status\ngitmem --vault ~/notes catalog status --json")
@pass_call
def show_status(call: Call) -> int:
    """Show where the search catalog is, how large, and whether it can be used.

    Makes none where there is none yet, and replaces a damaged one.
    """
    return say_answer(call, lambda memory: memory.catalog_status(), _format)


@verb("rebuild", "gitmem catalog rebuild\ngitmem --vault ~/notes catalog rebuild --json")
@pass_call
def rebuild(call: Call) -> int:
    """Make the search catalog afresh from the notes.

    There is never a need to: a damaged catalog is replaced by the next read. Others can read meanwhile; they see what
    was there until it is done.
    """
    return say_answer(call, lambda memory: _rebuild(call, memory), _format)


def _rebuild(call: Call, memory: Memory) -> Answer:
    show = not call.as_json and sys.stderr.isatty()
    with click.progressbar(length=1, label="Reading notes", file=sys.stderr, hidden=not show) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        return memory.rebuild_catalog(progress)


def _format(answer: Answer) -> str:
    return f"search catalog: {format_catalog(answer.extra['catalog'])}"


command.add_command(show_status)
command.add_command(rebuild)
