"""``gitmem undo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_operations
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.writing import write_and_say
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.undo import Undoing

_EFFECT = "these files become what they were before that operation, in one new commit; history keeps both"


@verb("undo", "gitmem undo m7k2q9x4\ngitmem undo 3f9a1c0\ngitmem log --limit 5")
@click.argument("op", metavar="OP", type=text, shell_complete=complete_operations)
@op_id_option
@pass_call
def command(call: Call, op: str, op_id: OpId | None) -> int:
    """Take back one operation, where nobody has built on it.

    OP is an operation's id or at least its first 4 characters, as `gitmem log` shows it, or at least 7 of its commit's.
    Commits the inverse: every record that the operation touched becomes what it was before, byte for byte. What it
    moved goes back; what it made goes, and stays in history. An undo can be undone, too. Where a record was changed
    since, nothing is written, and the error names who changed it. Unless it is the agent's own operation on its own
    unreviewed observations, a person has to confirm it at the terminal.
    """
    with call.open_memory() as memory:
        wanted = _Wanted(memory, op, op_id)
        return write_and_say(call, wanted.run, wanted.preview)


class _Wanted:
    """What is shown is what is done: the very files of the preview."""

    def __init__(self, memory: Memory, op: str, op_id: OpId | None) -> None:
        self.memory, self.op, self.op_id = memory, op, op_id
        self.shown: Undoing | None = None

    def run(self, actor: Actor) -> Receipt:
        """Do what was shown, or, before anything was, what there is to undo."""
        return self.memory.undo(self.op, actor, self.op_id, self.shown)

    def preview(self) -> Preview:
        """Return what would be done, read now."""
        self.shown = self.memory.find_undoing(self.op)
        return _preview(self.memory, self.shown)


def _preview(memory: Memory, undoing: Undoing) -> Preview:
    undone = undoing.operation
    asked = (
        ("operation", f"{undone.op} {undone.op_id}"),
        ("title", undone.title),
        ("made by", undone.by),
        ("time", undone.time),
        *(("noted", line) for line in undone.note.splitlines() if line.strip()),
    )
    facts = tuple((one.path, one.change) for one in undoing.files)
    texts = [(f"{one.path} ({one.change})", one.shown.rstrip("\n")) for one in undoing.files]
    texts += [("notice", notice) for notice in undoing.notices]
    return Preview("undo", vault_name(memory), _EFFECT, asked, facts, tuple(texts))
