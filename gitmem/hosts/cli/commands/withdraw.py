"""``gitmem withdraw``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_candidates
from gitmem.hosts.cli.deciding import decide_and_say
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text


@verb("withdraw", 'gitmem withdraw m7k2q9 --reason "I had read an old branch"')
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_candidates)
@click.option("--reason", type=text, required=True, help="Why it should not have been proposed.")
@pass_call
def command(call: Call, refs: tuple[str, ...], reason: str) -> int:
    """Take back what you proposed; it may be proposed again.

    ID is an id or the beginning of one. An agent takes back what it proposed itself, nobody else did, and no person
    deferred; for all else a person has to confirm it at the terminal. Writes nothing into the repository.
    """
    return decide_and_say(
        call,
        "withdraw",
        refs,
        lambda memory, actor: memory.withdraw(refs, reason, actor),
        "takes it out of the inbox; the same may be proposed again. Nothing is committed",
        [("reason", reason)],
    )
