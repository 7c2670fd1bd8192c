"""``gitmem adopt``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.writing import write_and_say
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.edited import EditedNote

_EFFECT = "commits these files as your own edits in one commit; new ones become records, deleted ones are retired"


@verb("adopt", "gitmem adopt\ngitmem adopt promoted/run-tests-with-two-workers-m7k2q9.md\ngitmem adopt .")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=text)
@op_id_option
@pass_call
def command(call: Call, paths: tuple[str, ...], op_id: OpId | None) -> int:
    """Commit what you edited outside gitmem, as your operation.

    Without PATH every uncommitted note is taken; `gitmem status` lists them. PATH is a note or a folder. A plain note
    that PATH names becomes a record even when it is committed. Commits the notes as they lie on disk and adds the
    properties that make a new note a record; one note that can't be committed stops all. A person has to confirm it at
    the terminal.
    """
    with call.open_memory() as memory:
        root = memory.vault.layout.repo
        chosen = [_resolve(call.environment.folder, root, path) for path in paths]
        adoption = _Adoption(memory, chosen, op_id, paths)
        return write_and_say(call, adoption.run, adoption.preview)


def _resolve(folder: str, root: str, path: str) -> str:
    """Return the path that is meant: absolute from the working folder, or as it is given, from the vault's root.

    What is there from the working folder is meant, unless that lies outside the vault, which has one of that name. A
    note that was deleted is nowhere; inside the vault it is looked for where its folder is.
    """
    here = os.path.join(folder, os.path.expanduser(path))
    in_vault = os.path.join(root, path)
    is_in_vault = os.path.normpath(path) != "." and os.path.lexists(in_vault)
    if os.path.lexists(here):
        return here if _lies_in(here, root) or not is_in_vault else path
    return here if not is_in_vault and _lies_in(folder, root) and os.path.isdir(os.path.dirname(here)) else path


def _lies_in(place: str, root: str) -> bool:
    return os.path.join(os.path.realpath(place), "").startswith(os.path.join(os.path.realpath(root), ""))


class _Adoption:
    """What is shown is what is committed: the very bytes of the preview."""

    def __init__(self, memory: Memory, paths: list[str], op_id: OpId | None, typed: tuple[str, ...]) -> None:
        self.memory, self.paths, self.op_id, self.typed = memory, paths, op_id, typed
        self.shown: list[EditedNote] | None = None

    def run(self, actor: Actor) -> Receipt:
        """Commit the notes that were shown, or, before any were, those under the paths."""
        return self.memory.adopt(self.paths, actor, self.op_id, self.shown, self.typed)

    def preview(self) -> Preview:
        """Return all that would be committed, read now."""
        self.shown = self.memory.find_edited(self.paths)
        facts = tuple((note.path, _tell(note)) for note in self.shown)
        texts = tuple((f"{note.path} ({note.change})", note.shown) for note in self.shown)
        return Preview("adopt", vault_name(self.memory), _EFFECT, facts=facts, texts=texts)


def _tell(note: EditedNote) -> str:
    return f"{note.change}; another version is staged and will be kept aside" if note.staged_apart else note.change
