"""``gitmem adopt``."""

from __future__ import annotations

import os

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.preview import Preview, preview_files
from gitmem.hosts.cli.writing import write_record
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

_EFFECT = "commits these files as your own edits; new ones become records, in one commit"


@verb("adopt", "gitmem adopt\ngitmem adopt promoted/run-tests-with-two-workers-m7k2q9.md")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=text)
@op_id_option
@pass_call
def command(call: Call, paths: tuple[str, ...], op_id: OpId | None) -> int:
    """Commit what you edited outside gitmem, as your operation.

    Without PATH every uncommitted note is taken; `gitmem status` lists them. Commits the notes as they are and adds the
    properties that make a new note a record. A person has to confirm it at the terminal.
    """
    chosen = [_resolve(call.environment.folder, path) for path in paths]
    return write_record(
        call,
        lambda memory, actor: memory.adopt(chosen, actor, op_id),
        lambda memory: _preview(memory, chosen),
    )


def _resolve(folder: str, path: str) -> str:
    here = os.path.join(folder, path)
    return here if os.path.lexists(here) else path


def _preview(memory: Memory, chosen: list[str]) -> Preview:
    root = os.path.realpath(memory.vault.layout.repo)
    inside = [os.path.relpath(os.path.realpath(path), root) if os.path.isabs(path) else path for path in chosen]
    files = [
        (row["path"], row["change"])
        for row in memory.status().rows
        if not inside or any(f"{row['path']}/".startswith(f"{path.strip('/')}/") for path in inside)
    ]
    return preview_files(memory, "adopt", files, _EFFECT)
