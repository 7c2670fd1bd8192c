"""``gitmem restore``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import preview_records
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId

_EFFECT = "moves it back where it was before it was retired and takes back its successor's links to it, in one commit"
_EFFECT_OF_MANY = "moves them back where they were before they were retired and takes back links to them, in one commit"


@verb("restore", "gitmem restore m7k2q9x4c0de\ngitmem restore m7k2q9 x4c0de")
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_records)
@op_id_option
@pass_call
def command(call: Call, refs: tuple[str, ...], op_id: OpId | None) -> int:
    """Bring retired records back to where they were.

    ID is an id, the beginning of one, a key or a path. Moves the record's file and commits it; several in one
    commit, all or none. Unless it is the agent's own unreviewed observation, a person has to confirm it at the
    terminal.
    """
    return write_record(
        call,
        lambda memory, actor: memory.restore_all(refs, actor, op_id),
        lambda memory: preview_records(memory, "restore", refs, _EFFECT if len(refs) == 1 else _EFFECT_OF_MANY),
    )
