"""``gitmem export``."""

from __future__ import annotations

import os

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.export_text import export_document, format_export, list_notices
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.options import text

OUT_OF_STEP = 1
NOTHING_CONFIRMED = 1


@family(
    "export",
    "gitmem export agents-md\ngitmem export agents-md CLAUDE.md --check\ngitmem export claude-plugin ~/gitmem-plugin",
)
def command() -> None:
    """Write the memory, or gitmem itself, into files of other programs.

    Writes files that are not the memory's, nothing into the vault; they change only when it is run again.
    """


@verb(
    "agents-md",
    """
gitmem export agents-md
gitmem export agents-md CLAUDE.md --dry-run
gitmem export agents-md --check
gitmem export agents-md --remove
gitmem --vault global export agents-md ~/.claude/CLAUDE.md
""",
)
@click.argument("file", metavar="FILE", type=text, required=False)
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when FILE is not in step, for CI.")
@click.option("--dry-run", is_flag=True, help="Write nothing; show how FILE would change.")
@click.option("--remove", is_flag=True, help="Take the section out, and leave the rest of FILE as it was before.")
@click.option(
    "--discard-edits", is_flag=True, help="Make the section afresh where it was edited by hand; a copy is kept."
)
@click.option(
    "--max-chars", type=click.IntRange(1), metavar="N", help="At most so many characters; as before, or else 8000."
)
@pass_call
def agents_md(call: Call, /, file: str | None, max_chars: int | None, **how: bool) -> int:
    """Write confirmed conventions into a section of AGENTS.md or CLAUDE.md.

    That is boundaries and preferences that a person declared, and conventions and procedures that one reviewed, of
    this vault alone. Without FILE it is AGENTS.md of the project. Writes one section between two marks; everything
    else in FILE stays byte for byte. Run it again to bring it in step. Exit code 1 when there is nothing to write yet.
    """
    from gitmem.service.agents_md import Wanted, render_diff

    looks_only = how["check"] or how["dry_run"]
    wanted = Wanted(max_chars, removes=how["remove"], discards_edits=how["discard_edits"], writes=not looks_only)
    with call.open_memory() as memory:
        folder = call.environment.folder
        named = None if file is None else os.path.abspath(os.path.join(folder, os.path.expanduser(file)))
        export = memory.export_agents_md(named or memory.find_agents_file(folder), wanted)
    diff = render_diff(export)
    call.print_result(
        export_document(export, diff, is_written=not looks_only),
        format_export(export, diff, folder, is_written=not looks_only),
    )
    call.warn("\n".join(f"notice: {notice}" for notice in list_notices(export)))
    if how["check"]:
        return 0 if export.in_step else OUT_OF_STEP
    if not wanted.removes and not export.records:
        call.warn("nothing has been declared or reviewed yet by a person")
        return NOTHING_CONFIRMED
    return 0


@verb(
    "claude-plugin",
    "gitmem export claude-plugin ~/gitmem-plugin\ngitmem export claude-plugin ~/gitmem-plugin --dry-run",
)
@click.argument("folder", metavar="FOLDER", type=text)
@click.option("--dry-run", is_flag=True, help="Show the files; write none.")
@pass_call
def claude_plugin(call: Call, folder: str, *, dry_run: bool) -> int:
    """Write gitmem of this machine into FOLDER, as a plugin of Claude Code's.

    It holds the hooks, the skill and the MCP server, and is its own marketplace. Use it or `gitmem install
    claude-code`, not both. FOLDER is new, empty, or one that this command made; run it again after an update of gitmem.
    """
    from gitmem.hosts.cli.plugin_export import export_plugin

    return export_plugin(call, folder, dry_run=dry_run)


command.add_command(agents_md)
command.add_command(claude_plugin)
