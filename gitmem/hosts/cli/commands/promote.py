"""``gitmem promote``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import preview_records
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId

_EFFECT = "moves it to promoted/ as reviewed knowledge and marks it verified today, in one commit"
_EFFECT_OF_MANY = "moves them to promoted/ as reviewed knowledge and marks them verified today, in one commit"


@verb("promote", "gitmem promote m7k2q9x4c0de\ngitmem promote test-workers x4c0de m7k2")
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_records)
@op_id_option
@pass_call
def command(call: Call, refs: tuple[str, ...], op_id: OpId | None) -> int:
    """Move observations to the reviewed knowledge, as a person.

    ID is an id, the beginning of one, a key or a path. Moves the record's file into promoted/ under the same name and
    commits it; several in one commit, all or none. A person has to confirm it at the terminal.
    """
    return write_record(
        call,
        lambda memory, actor: memory.promote_all(refs, actor, op_id),
        lambda memory: preview_records(memory, "promote", refs, _EFFECT if len(refs) == 1 else _EFFECT_OF_MANY),
    )
