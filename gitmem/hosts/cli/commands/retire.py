"""``gitmem retire``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text, text_option
from gitmem.hosts.cli.preview import Preview, get_shown, preview_records, with_asked
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

_EFFECT = "moves it to retired/, where it is kept but no longer delivered, in one commit"
_EFFECT_OF_MANY = "moves them to retired/, where they are kept but no longer delivered, in one commit"


@verb(
    "retire",
    """
gitmem retire m7k2q9x4c0de --reason "The cache is gone since release 12"
gitmem retire m7k2q9 --reason "Thirty seconds since July" --superseded-by x4c0dem7k2q9
gitmem retire m7k2q9 x4c0de --reason "The old deployment is gone"
""",
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_records)
@click.option("--reason", type=text, required=True, help="Why it no longer holds; it stands in the commit.")
@text_option("--superseded-by", help="The newer record that takes its place; the two will link to each other.")
@op_id_option
@pass_call
def command(call: Call, refs: tuple[str, ...], reason: str, superseded_by: str | None, op_id: OpId | None) -> int:
    """Take records out of use and keep them, with a reason.

    ID is an id, the beginning of one, a key or a path. Moves the record's file into retired/ and commits it; several
    in one commit, all or none. Unless it is the agent's own unreviewed observation, a person has to confirm it at the
    terminal.
    """
    return write_record(
        call,
        lambda memory, actor: memory.retire_all(refs, reason, actor, superseded_by, op_id),
        lambda memory: _preview(memory, refs, reason, superseded_by),
    )


def _preview(memory: Memory, refs: tuple[str, ...], reason: str, superseded_by: str | None) -> Preview:
    effect = _EFFECT if len(refs) == 1 else _EFFECT_OF_MANY
    shown = with_asked(preview_records(memory, "retire", refs, effect), [("reason", reason)])
    if superseded_by is None:
        return shown
    newer = get_shown(memory.show(superseded_by))
    return with_asked(shown, [("superseded by", f"{newer.id} {newer.title}")])
