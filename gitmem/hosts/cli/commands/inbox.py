"""``gitmem inbox``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.complete import complete_candidates
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.inbox_text import format_candidate, format_decided, format_inbox, tell_nothing
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.reading import print_answer
from gitmem.model.answer import Answer
from gitmem.model.candidate import InboxFilters


@verb(
    "inbox",
    """
gitmem inbox
gitmem inbox m7k2q9
gitmem inbox --group tool/pytest --all
gitmem inbox --decided --limit 20
""",
)
@click.argument("ref", metavar="[ID]", required=False, type=text, shell_complete=complete_candidates)
@click.option("--group", type=text, help="Only this topic, as the list heads it.")
@click.option("--all", "everything", is_flag=True, help="Deferred candidates, too.")
@click.option(
    "--decided", is_flag=True, help="What was accepted, rejected, withdrawn or expired instead, newest first."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many; all without it.")
@pass_call
def command(call: Call, /, ref: str | None, group: str | None, limit: int | None, **flags: bool) -> int:
    """List what waits for a person, by topic, or show one whole.

    A line has id, kind or what is to be done, worth, and title; how often it was proposed and whether it contradicts a
    record stand before the title. One candidate is shown with its text, evidence and reasons, with the records and
    candidates near it, and with what policy says. ID is an id or the beginning of one. Writes nothing into the
    repository. Exit code 1 when nothing waits.
    """
    everything, decided = flags["everything"], flags["decided"]
    if ref is not None and (group is not None or everything or decided or limit is not None):
        raise click.UsageError("one candidate is shown whole; leave the other options out")
    filters = InboxFilters(group=group, deferred=everything, decided=decided)

    def show(answer: Answer) -> str:
        if ref is not None:
            return format_candidate(answer.rows[0])
        return (format_decided if decided else format_inbox)(answer, find_columns(), limit) if answer.rows else ""

    with call.open_memory() as memory:
        answer = memory.inbox(filters, ref)
        return print_answer(call, answer, memory.vault.layout.repo, show, tell_nothing(answer, filters))
