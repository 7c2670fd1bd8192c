"""``gitmem check``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option
from gitmem.hosts.cli.plain import count, format_findings
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.reading import say_answer
from gitmem.hosts.cli.writing import write_record
from gitmem.model.answer import Answer
from gitmem.model.ids import OpId


@verb("check", "gitmem check\ngitmem check --json\ngitmem check --repair-views")
@click.option("--repair-views", is_flag=True, help="Bring INDEX.md and the catalog in step with the records.")
@op_id_option
@pass_call
def command(call: Call, op_id: OpId | None, *, repair_views: bool) -> int:
    """Check every record, link and view of the vault.

    Writes nothing; --repair-views, which does not check, commits the views anew if they differ. Exit code 7 when there
    are errors; warnings are for a person to look at.
    """
    if repair_views:
        return write_record(
            call,
            lambda memory, actor: memory.repair_views(actor, op_id),
            lambda memory: Preview("check --repair-views", vault_name(memory), "makes INDEX.md and the catalog anew"),
        )
    if op_id is not None:
        raise click.UsageError("--op-id names an operation; use it with --repair-views")
    return say_answer(call, lambda memory: memory.check(), _format)


def _format(answer: Answer) -> str:
    errors = sum(row["severity"] == "error" for row in answer.rows)
    warnings = len(answer.rows) - errors
    total = f"{count(answer.extra['notes'], 'note')}: {count(errors, 'error')}, {count(warnings, 'warning')}"
    return "\n".join([*format_findings(answer.rows).splitlines(), total])
