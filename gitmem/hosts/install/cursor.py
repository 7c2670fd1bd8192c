"""What Cursor gets."""

from __future__ import annotations

from gitmem.hosts.install.around import Around, list_events, timeout_s
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile

HOST = "cursor"
_TWICE = ("afterFileEdit",)
"""What this tells, ``postToolUse`` tells too."""


def describe(around: Around) -> Wanted:
    """Return its files. Its hooks are a flat list."""
    line = around.hook_line(HOST)
    events = {name: kind for name, kind in list_events(HOST).items() if name not in _TWICE}
    folder = f"{around.project}/.cursor" if around.is_project else around.folders.cursor
    hooks = WantedFile(
        f"{folder}/hooks.json",
        Form.JSON,
        hooks={name: {"command": line, "timeout": timeout_s(kind)} for name, kind in events.items()},
        extra={"version": 1},
    )
    server = WantedFile(
        f"{folder}/mcp.json", Form.JSON, server=("mcpServers", SERVER), server_entry=around.server_entry(HOST)
    )
    return Wanted((hooks, server, around.skill_file(f"{folder}/skills")))
