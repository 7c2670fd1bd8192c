"""What Claude Code gets."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.install.around import Around, group_hooks, list_events, timeout_s
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile
from gitmem.model.event import EventKind

HOST = "claude-code"


def describe(around: Around) -> Wanted:
    """Return its files. A project's are those that Claude Code itself keeps out of Git, or outside of the project.

    An interpreter's path is good on one machine only. So the hooks stand in ``settings.local.json``, and the server in
    the project's part of ``.claude.json``, not in the files that teams share.
    """
    line = around.hook_line(HOST)

    def handler(kind: EventKind) -> dict[str, Any]:
        return {"type": "command", "command": line, "timeout": timeout_s(kind)}

    folder = f"{around.project}/.claude" if around.is_project else around.folders.claude
    name = "settings.local.json" if around.is_project else "settings.json"
    place = ("projects", around.project, "mcpServers", SERVER) if around.is_project else ("mcpServers", SERVER)
    hooks = WantedFile(f"{folder}/{name}", Form.JSON, hooks=group_hooks(list_events(HOST), handler))
    server = WantedFile(
        f"{around.folders.claude_state}/.claude.json",
        Form.JSON,
        server=place,
        server_entry=around.server_entry(HOST, type="stdio"),
        server_keeps=len(place) - 1 if around.is_project else 0,  # there it has an empty object by itself
    )
    return Wanted((hooks, server, around.skill_file(f"{folder}/skills")))
