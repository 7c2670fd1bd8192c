"""``gitmem maintain``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option
from gitmem.hosts.cli.output import maintain_document
from gitmem.hosts.cli.plain import format_maintenance, format_receipt
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.model.ids import OpId

_EFFECT = "packs the repository, writes Git's commit graph and lets the catalog grow; no record changes"


@verb("maintain", "gitmem maintain\ngitmem maintain --dry-run\ngitmem --vault ~/notes maintain --json")
@click.option("--dry-run", is_flag=True, help="Look and say what there is to do; write nothing.")
@op_id_option
@pass_call
def command(call: Call, op_id: OpId | None, *, dry_run: bool) -> int:
    """Pack the vault's repository and keep its history fast.

    Writes no record. Makes packs of loose objects and larger packs of small ones, brings Git's commit graph up to
    date, removes what crashes of gitmem left, and spreads a catalog that has grown over more files, which is the only
    commit it may make. Drops nothing, not even what no branch reaches. A part of this runs by itself, about every
    sixty operations.
    """
    with call.open_memory() as memory:
        receipt, done = run_confirmed(
            call,
            lambda actor: memory.maintain(actor, op_id, dry_run=dry_run),
            lambda: Preview("maintain", vault_name(memory), _EFFECT),
        )
    said = [format_receipt(receipt)] if receipt.changed else []
    call.print_result(maintain_document(receipt, done), "\n".join([*said, format_maintenance(done)]))
    return 0
