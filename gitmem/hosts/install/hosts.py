"""The hosts that gitmem knows how to set up, and how to look where it is set up already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from gitmem.errors import InputError
from gitmem.hosts.environment import Environment
from gitmem.hosts.install import claude_code, codex, cursor, dsh, gemini, opencode
from gitmem.hosts.install.around import Around, InstallScope
from gitmem.hosts.install.command import find_command
from gitmem.hosts.install.wanted import Wanted
from gitmem.resources import read_text

DESCRIBE: Mapping[str, Callable[[Around], Wanted]] = {
    one.HOST: one.describe for one in (claude_code, codex, gemini, cursor, opencode, dsh)
}
SKILL = "hosts/skill.md"


def look_around(environment: Environment, scope: InstallScope, project: str = "") -> Around:
    """Return what hosts' descriptions are made from; in the scope of a project that of the working folder by default.

    Raises ``InputError``: ``no-project`` where the working folder is
    the person's home folder, whose files are those of no project, ``no-home-folder``, ``not-text``.
    """
    from gitmem.service.locate import find_project_root

    folders = environment.host_folders
    if folders is None or not os.path.isabs(folders.user):
        raise InputError("no-home-folder", "the person's home folder is not known", "Set HOME and try again.")
    if scope is InstallScope.PROJECT and not project:
        project = find_project_root(environment.folder)
        if os.path.realpath(project) == os.path.realpath(folders.user):
            hint = "Change to the project's folder, or leave --scope out."
            raise InputError("no-project", "the home folder of a person is no project", hint)
    command = tuple(find_command(environment))
    variables = {"GITMEM_HOME": environment.home} if environment.home_is_named else {}
    for text in (*command, *variables.values(), project):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise InputError("not-text", "a path holds bytes that are no text", "Rename the folder and try again.")
    return Around(folders, scope, project, command, variables, read_text("templates", SKILL))
