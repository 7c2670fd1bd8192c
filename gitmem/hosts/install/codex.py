"""What Codex gets."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.install.around import Around, group_hooks, list_events, timeout_s
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile
from gitmem.model.event import EventKind

HOST = "codex"
_KNOWN = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SessionEnd")
"""Which of the events that it shares with Claude Code it has."""
_END_TIMEOUT_S = 3
"""The longest that it grants the end of a session."""
_START_TIMEOUT_S = 30
"""It gives a server 10 s by itself, which Python may need on a machine that is busy."""


def describe(around: Around) -> Wanted:
    """Return its files."""
    line = around.hook_line(HOST)

    def handler(kind: EventKind) -> dict[str, Any]:
        wait_s = _END_TIMEOUT_S if kind is EventKind.SESSION_END else timeout_s(kind)
        return {"type": "command", "command": line, "timeout": wait_s}

    events = {name: kind for name, kind in list_events(HOST).items() if name in _KNOWN}
    folder = f"{around.project}/.codex" if around.is_project else around.folders.codex
    agents = f"{around.project}/.agents" if around.is_project else around.folders.agents
    server = WantedFile(
        f"{folder}/config.toml",
        Form.TOML,
        server=("mcp_servers", SERVER),
        server_entry={**around.server_entry(HOST), "startup_timeout_sec": _START_TIMEOUT_S},
    )
    notices = ["Codex runs a hook only once you have trusted it, and again after each change: type /hooks in Codex"]
    if around.is_project:
        notices.append("Codex reads a project's files only where you have trusted the project")
    hooks = WantedFile(f"{folder}/hooks.json", Form.JSON, hooks=group_hooks(events, handler))
    return Wanted((hooks, server, around.skill_file(f"{agents}/skills")), tuple(notices))
