"""``gitmem restore``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import preview_record
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId

_EFFECT = "moves it back where it was before it was retired and takes back its successor's links to it, in one commit"


@verb("restore", "gitmem restore m7k2q9x4c0de")
@click.argument("ref", metavar="ID", type=text, shell_complete=complete_records)
@op_id_option
@pass_call
def command(call: Call, ref: str, op_id: OpId | None) -> int:
    """Bring a retired record back to where it was.

    ID is an id, the beginning of one, a key or a path. Moves the record's file and commits it. Unless it is the
    agent's own unreviewed observation, a person has to confirm it at the terminal.
    """
    return write_record(
        call,
        lambda memory, actor: memory.restore(ref, actor, op_id),
        lambda memory: preview_record(memory, "restore", ref, _EFFECT),
    )
