"""``gitmem promote``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.output import handed_document
from gitmem.hosts.cli.plain import format_handed
from gitmem.hosts.cli.preview import Preview, describe_record, preview_records, vault_name
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

_EFFECT = "moves it to promoted/ as reviewed knowledge and marks it verified today, in one commit"
_EFFECT_OF_MANY = "moves them to promoted/ as reviewed knowledge and marks them verified today, in one commit"


_EFFECT_GLOBAL = (
    "puts {it} into promoted/ of the global vault {name!r}, for every workspace, and marks {it} verified today; "
    "retires {it} here; one commit in each vault"
)


@verb(
    "promote",
    """
gitmem promote m7k2q9x4c0de
gitmem promote test-workers x4c0de m7k2
gitmem promote m7k2q9x4c0de --to global
""",
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True, type=text, shell_complete=complete_records)
@click.option(
    "--to",
    type=click.Choice(["global"]),
    help="Put it into the global vault, where it holds for every workspace, and retire it here.",
)
@op_id_option
@pass_call
def command(call: Call, refs: tuple[str, ...], to: str | None, op_id: OpId | None) -> int:
    """Move observations to the reviewed knowledge, as a person.

    ID is an id, the beginning of one, a key or a path. Moves the record's file into promoted/ under the same name and
    commits it; several in one commit, all or none. With --to global, a workspace's observation or reviewed record goes
    to the global vault under the same id and name, and is retired here; both or neither. A person has to confirm it at
    the terminal.
    """
    if to is not None:
        return _promote_to_global(call, refs, op_id)
    return write_record(
        call,
        lambda memory, actor: memory.promote_all(refs, actor, op_id),
        lambda memory: preview_records(memory, "promote", refs, _EFFECT if len(refs) == 1 else _EFFECT_OF_MANY),
    )


def _promote_to_global(call: Call, refs: tuple[str, ...], op_id: OpId | None) -> int:
    with call.open_memory() as memory:
        handed = run_confirmed(
            call, lambda actor: memory.promote_to_global(refs, actor, op_id), lambda: _preview(memory, refs)
        )
        call.print_result(handed_document(handed), format_handed(handed))
    return 0


def _preview(memory: Memory, refs: tuple[str, ...]) -> Preview:
    name, going = memory.find_going(refs)
    items = []
    for one in going:
        facts, _text = describe_record(one.record)
        there = [("there", one.after.path), ("here", f"{one.retired} (retired)")]
        told = [("plain text there", f"{one.unlinked} of its links")] if one.unlinked else []
        items.append(((*facts, *there, *told), one.after.body.strip("\n")))
    seen = tuple((one.record.id, one.record.fingerprint) for one in going)
    effect = _EFFECT_GLOBAL.format(it="it" if len(going) == 1 else "them", name=name)
    if len(items) == 1:
        facts, text = items[0]
        return Preview("promote", vault_name(memory), effect, facts=facts, texts=(("text there", text),), seen=seen)
    return Preview("promote", vault_name(memory), effect, items=tuple(items), seen=seen)
