"""``gitmem defer``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_candidates
from gitmem.hosts.cli.deciding import decide_and_say
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text


@verb("defer", "gitmem defer m7k2q9\ngitmem defer m7k2q9 x4c0de --until 2026-12-24\ngitmem defer m7k2q9 --until 2w")
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_candidates)
@click.option(
    "--until",
    type=text,
    metavar="DATE",
    help="When it is to be listed again: 2026-12-24, tomorrow, 2w from now; in a week without it.",
)
@pass_call
def command(call: Call, refs: tuple[str, ...], until: str | None) -> int:
    """Let candidates sleep until a date; they are not listed before.

    ID is an id or the beginning of one. A person has to confirm it at the terminal, unless it is the agent's own
    proposal; with --human it is a person's deferral there, too, which no agent takes back. `gitmem inbox --all` lists
    deferred ones, too; `gitmem reconsider` wakes one. Writes nothing into the repository.
    """
    return decide_and_say(
        call,
        "defer",
        refs,
        lambda memory, actor: memory.defer(refs, until, actor),
        "leaves the list until that date. Nothing is committed",
        [("until", until or "in a week")],
    )
