"""``gitmem promote``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import preview_record
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId

_EFFECT = "moves it to promoted/ as reviewed knowledge and marks it verified today, in one commit"


@verb("promote", "gitmem promote m7k2q9x4c0de\ngitmem promote test-workers")
@click.argument("ref", metavar="ID", type=text, shell_complete=complete_records)
@op_id_option
@pass_call
def command(call: Call, ref: str, op_id: OpId | None) -> int:
    """Move an observation to the reviewed knowledge, as a person.

    ID is an id, the beginning of one, a key or a path. Moves the record's file into promoted/ under the same name and
    commits it. A person has to confirm it at the terminal.
    """
    return write_record(
        call,
        lambda memory, actor: memory.promote(ref, actor, op_id),
        lambda memory: preview_record(memory, "promote", ref, _EFFECT),
    )
