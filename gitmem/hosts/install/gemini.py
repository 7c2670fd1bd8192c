"""What Gemini CLI gets."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.install.around import Around, group_hooks, list_events, timeout_s
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile
from gitmem.model.event import EventKind

HOST = "gemini"


def describe(around: Around) -> Wanted:
    """Return its files. Its timeouts are in milliseconds.

    The skill lies where Codex has it, too: from a second one of that name it warns at every start.
    """
    line = around.hook_line(HOST)

    def handler(kind: EventKind) -> dict[str, Any]:
        return {"type": "command", "name": SERVER, "command": line, "timeout": timeout_s(kind) * 1000}

    folder = f"{around.project}/.gemini" if around.is_project else around.folders.gemini
    settings = WantedFile(
        f"{folder}/settings.json",
        Form.JSON,
        hooks=group_hooks(list_events(HOST), handler),
        server=("mcpServers", SERVER),
        server_entry=around.server_entry(HOST),
    )
    agents = f"{around.project}/.agents" if around.is_project else around.folders.agents
    notice = "Gemini CLI reads a project's settings only where you have trusted its folder, and warns of new hooks once"
    notices = (notice,) if around.is_project else ()
    return Wanted((settings, around.skill_file(f"{agents}/skills")), notices)
