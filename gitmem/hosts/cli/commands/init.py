"""``gitmem init``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gitmem.errors import InputError
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.plain import short
from gitmem.hosts.cli.preview import Preview
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.settings import SHARD_COUNTS, Scope, VaultEntry

if TYPE_CHECKING:
    from gitmem.service.init import NewVault


@verb(
    "init",
    """
gitmem init                       the global vault, in gitmem's home
gitmem init --workspace           a vault in gitmem's home for the project around this folder
gitmem init ~/notes/memory        a stand-alone vault, to open in Obsidian
gitmem init ~/notes/heron --workspace --project ~/src/heron
""",
)
@click.argument("path", required=False, type=click.Path())
@click.option("--workspace", is_flag=True, help="Make it the vault of one project.")
@click.option(
    "--project", metavar="FOLDER", type=click.Path(), help="The project's folder, if not the one around here."
)
@click.option("--name", type=text, help="What --vault may call it; else taken from the folder.")
@click.option(
    "--catalog-shards",
    type=click.Choice([str(number) for number in SHARD_COUNTS]),
    help="Over how many files catalog.json is spread: 1 (unless given), 32 from about 2,000 records on, 1024.",
)
@op_id_option
@pass_call
def command(
    call: Call,
    /,
    path: str | None,
    name: str | None,
    project: str | None,
    catalog_shards: str | None,
    op_id: OpId | None,
    *,
    workspace: bool,
) -> int:
    """Make a vault, or find that it is there already.

    Writes a new Git repository with one commit, and its place into gitmem's home. A project's own repository is never
    written to. A vault that is there already stays as it is.
    """
    from gitmem.service.init import NewVault
    from gitmem.wiring import make_vault

    folder = call.environment.folder
    wanted = NewVault(
        scope=Scope.WORKSPACE if path is not None or workspace or project else Scope.GLOBAL,
        path=os.path.realpath(os.path.join(folder, os.path.expanduser(path))) if path else path,
        project=_find_project(folder, project) if workspace or project else "",
        name=name or "",
        catalog_shards=int(catalog_shards or SHARD_COUNTS[0]),
    )
    home = call.environment.home
    entry, receipt = run_confirmed(call, lambda actor: make_vault(home, wanted, actor, op_id), lambda: _preview(wanted))
    ignored = [] if receipt.changed else list(_find_ignored(call, entry, name, catalog_shards))
    receipt = replace(receipt, notices=(*receipt.notices, *ignored, *_find_namesakes(home, entry)))
    vault = {"name": entry.name, "id": entry.vault_id, "scope": entry.scope.value, "path": entry.path}
    call.print_result({**write_document(receipt), "vault": vault}, _format(entry, receipt))
    return 0


def _find_project(folder: str, project: str | None) -> str:
    from gitmem.service.locate import find_project_root

    named = os.path.join(folder, os.path.expanduser(project)) if project else folder
    if not os.path.isdir(named):
        raise InputError("no-such-folder", f"{project!r} is not a folder", "Name the project's folder.")
    return find_project_root(named)


def _preview(wanted: NewVault) -> Preview:
    place = wanted.path or "gitmem's home"
    named = wanted.name or os.path.basename(wanted.project or wanted.path or "") or wanted.scope.value
    effect = "a new Git repository with one commit, unless the vault is there already"
    return Preview("init", named, effect, asked=(("scope", wanted.scope.value), ("folder", place)))


def _find_ignored(call: Call, entry: VaultEntry, name: str | None, catalog_shards: str | None) -> Iterator[str]:
    if name not in (None, entry.name):
        yield f"--name was not applied: the vault is called {entry.name}"
    if catalog_shards is not None:
        from gitmem.wiring import open_memory

        with open_memory(call.environment.home, call.environment.folder, entry.path) as memory:
            shards = memory.vault.manifest.catalog_shards
        if int(catalog_shards) != shards:
            yield f"--catalog-shards was not applied: the vault has {shards}"


def _find_namesakes(home: str, entry: VaultEntry) -> Iterator[str]:
    from gitmem.service.locate import list_vaults

    if any(one.name == entry.name and one.vault_id != entry.vault_id for one in list_vaults(home)):
        yield f"another vault is called {entry.name}, too; --vault takes the path or the id of either"


def _format(entry: VaultEntry, receipt: Receipt) -> str:
    head = f"init: commit {short(receipt.commit)}" if receipt.changed else "init: the vault is there already"
    facts = [
        ("vault", safe_line(f"{entry.name} ({entry.scope.value}, {entry.vault_id})")),
        ("folder", safe_line(entry.path)),
        *([("project", safe_line(entry.project))] if entry.project else []),
    ]
    return "\n".join([head, *align(facts), *(f"notice: {safe_line(notice)}" for notice in receipt.notices)])
