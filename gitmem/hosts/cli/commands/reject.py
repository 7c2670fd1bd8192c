"""``gitmem reject``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_candidates
from gitmem.hosts.cli.deciding import decide_and_say
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text

_EFFECT = "takes it out of the inbox; the same is not proposed again. Nothing is committed"
_EFFECT_OF_MANY = "takes them out of the inbox; the same is not proposed again. Nothing is committed"


@verb(
    "reject",
    """
gitmem reject m7k2q9 --reason "It held for one day only"
gitmem reject m7k2q9 x4c0de --reason "The README says it better"
""",
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_candidates)
@click.option(
    "--reason", type=text, required=True, help="Why it should not be kept; whoever proposes it again is told."
)
@pass_call
def command(call: Call, refs: tuple[str, ...], reason: str) -> int:
    """Reject candidates, so that the same is not proposed again.

    ID is an id or the beginning of one. A person has to confirm it at the terminal; an agent takes its own back with
    `gitmem withdraw`. `gitmem inbox --decided` lists what was rejected, `gitmem reconsider` takes that back. Writes
    nothing into the repository.
    """
    effect = _EFFECT if len(refs) == 1 else _EFFECT_OF_MANY
    return decide_and_say(
        call, "reject", refs, lambda memory, actor: memory.reject(refs, reason, actor), effect, [("reason", reason)]
    )
