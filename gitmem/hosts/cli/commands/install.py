"""``gitmem install``."""

from __future__ import annotations

import os

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.installing import Asked, run_plan
from gitmem.hosts.cli.reading import print_answer
from gitmem.hosts.install.around import InstallScope
from gitmem.hosts.install.hosts import DESCRIBE
from gitmem.hosts.install.installing import Standing, list_standings
from gitmem.model.answer import Answer, Status

SCOPES = [scope.value for scope in InstallScope]


@verb(
    "install",
    """
gitmem install
gitmem install claude-code
gitmem install codex --scope project --dry-run
gitmem install gemini --yes
""",
)
@click.argument("host", required=False, metavar="HOST", type=click.Choice(list(DESCRIBE)))
@click.option("--scope", type=click.Choice(SCOPES), default=SCOPES[0], help="For you in all projects (user), or here.")
@click.option("--yes", is_flag=True, help="Make the changes without asking.")
@click.option("--dry-run", is_flag=True, help="Show the changes; make none.")
@pass_call
def command(call: Call, host: str | None, scope: str, *, yes: bool, dry_run: bool) -> int:
    """Set an agent's host up to use gitmem; without HOST, list hosts.

    Writes gitmem's hooks, its MCP server and its skill into the host's own configuration, and nothing else: comments,
    order and what others put there stay. Every change is shown before it is made. Run it again after an update of
    gitmem. The host's own memory and instruction files are never touched. Makes no vault; see `gitmem init`.
    """
    if host is None:
        rows = tuple(map(_row, list_standings(call.environment)))
        return print_answer(call, Answer(Status.OK, None, rows=rows), "", lambda _answer: _format(rows))
    return run_plan(call, Asked("install", host, InstallScope(scope), yes, dry_run))


def _row(standing: Standing) -> dict[str, object]:
    return {
        "host": standing.host,
        "install_scope": standing.scope.value,
        "project": standing.project or None,
        "installed": standing.is_installed,
        "current": standing.is_current,
        "interpreters_gone": list(standing.gone),
        "message": standing.trouble or None,
    }


def _format(rows: tuple[dict[str, object], ...]) -> str:
    return "\n".join(align([(str(row["host"]), _say_where(row), _say_state(row)) for row in rows]))


def _say_where(row: dict[str, object]) -> str:
    return safe_line(os.path.basename(str(row["project"]))) if row["project"] else "you"


def _say_state(row: dict[str, object]) -> str:
    if row["message"]:
        return safe_line(row["message"])
    if row["interpreters_gone"]:
        return "installed, but its interpreter is gone; install it again"
    if not row["installed"]:
        return "not installed"
    return "installed" if row["current"] else "installed by another version or interpreter; install it again"
