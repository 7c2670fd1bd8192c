"""What ``gitmem doctor`` says of the hosts that are set up: nothing of those that are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts.environment import Environment
from gitmem.hosts.install.around import InstallScope
from gitmem.hosts.install.installing import Standing, list_standings

Row = dict[str, Any]


def check_hosts(environment: Environment) -> list[Row]:
    """Return findings as ``gitmem doctor`` has them. Reads; raises nothing for the state of a host's files."""
    if environment.host_folders is None:
        return []
    standings = list_standings(environment)
    rows = [_row(standing) for standing in standings if standing.is_installed or standing.trouble]
    return [*rows, *_iter_doubled([one for one in standings if one.is_installed])]


def _row(standing: Standing) -> Row:
    host, command = standing.host, f"gitmem install {standing.host} --scope {standing.scope.value}"
    if standing.trouble:
        message = f"whether {host} is set up for {standing.where} can't be told: {standing.trouble}"
        return _finding("warning", "host-unreadable", message, "Mend the file.")
    if standing.gone:
        message = f"{host} starts gitmem for {standing.where} by a file that is gone: {standing.gone[0]}"
        return _finding("error", "interpreter-gone", message, f"Run `{command}` with the one to use.", standing.gone[0])
    if not standing.is_current:
        message = f"{host} is set up for {standing.where}, by another version or interpreter, or not in full"
        return _finding("warning", "host-outdated", message, f"`{command} --dry-run` shows what would change.")
    return _finding("ok", "host", f"{host} is set up for {standing.where}")


def _iter_doubled(installed: list[Standing]) -> Iterator[Row]:
    persons = {one.host for one in installed if one.scope is InstallScope.USER}
    for one in installed:
        if one.scope is InstallScope.PROJECT and one.host in persons:
            message = f"{one.host} is set up for you and for {one.where}: there gitmem runs twice"
            hint = f"Uninstall one: `gitmem uninstall {one.host}`, with --scope user or --scope project."
            yield _finding("warning", "host-twice", message, hint)


def _finding(severity: str, code: str, message: str, hint: str = "", path: str | None = None) -> Row:
    return {"severity": severity, "code": code, "message": message, "hint": hint, "path": path}
