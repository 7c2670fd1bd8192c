"""``gitmem export``."""

from __future__ import annotations

from gitmem.hosts.cli.group import family


@family("export", "gitmem export agents-md")
def command() -> None:
    """Write what the memory holds into files of other programs.

    Writes files that belong to the project, nothing into the vault; they change only when it is run again.
    """
