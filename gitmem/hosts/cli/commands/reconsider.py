"""``gitmem reconsider``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_candidates
from gitmem.hosts.cli.deciding import decide_and_say
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text


@verb("reconsider", "gitmem inbox --decided\ngitmem reconsider m7k2q9")
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_candidates)
@pass_call
def command(call: Call, refs: tuple[str, ...]) -> int:
    """Take a rejection or a deferral back: the candidate waits again.

    ID is an id or the beginning of one, of what was rejected, deferred or expired. A person has to confirm it at the
    terminal, unless it is the agent's own proposal that sleeps and no person deferred it. What was accepted is in the
    vault: `gitmem undo` takes that back. Writes nothing into the repository.
    """
    return decide_and_say(
        call,
        "reconsider",
        refs,
        lambda memory, actor: memory.reconsider(refs, actor),
        "waits in the inbox again. Nothing is committed",
    )
