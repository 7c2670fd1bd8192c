"""``gitmem uninstall``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.commands.install import SCOPES
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.installing import Asked, run_plan
from gitmem.hosts.install.around import InstallScope
from gitmem.hosts.install.hosts import DESCRIBE


@verb("uninstall", "gitmem uninstall claude-code\ngitmem uninstall codex --scope project --yes")
@click.argument("host", metavar="HOST", type=click.Choice(list(DESCRIBE)))
@click.option("--scope", type=click.Choice(SCOPES), default=SCOPES[0], help="For you in all projects (user), or here.")
@click.option("--yes", is_flag=True, help="Make the changes without asking.")
@click.option("--dry-run", is_flag=True, help="Show the changes; make none.")
@pass_call
def command(call: Call, host: str, scope: str, *, yes: bool, dry_run: bool) -> int:
    """Take gitmem out of a host's configuration again.

    Takes away what `gitmem install` wrote and nothing else. A skill that you edited stays, and so does every vault.
    Writes nothing but the host's configuration, and shows it before.
    """
    return run_plan(call, Asked("uninstall", host, InstallScope(scope), yes, dry_run))
