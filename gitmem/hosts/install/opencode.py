"""What OpenCode gets."""

from __future__ import annotations

import json
import os

from gitmem.hosts.install.around import Around
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile
from gitmem.resources import read_text

HOST = "opencode"
SHIM = "hosts/opencode/gitmem.js"
PLACEHOLDER = "__GITMEM_COMMAND__"
"""Stands in the shim for the command of the hook, as a list of JSON."""
_CONFIGS = ("opencode.jsonc", "opencode.json")
_NEW = {"$schema": "https://opencode.ai/config.json"}
"""What it writes into a configuration by itself; a new one has it from the beginning."""
_TIMEOUT_MS = 30_000
"""It gives a server 5 s by itself, which Python may need on a machine that is busy."""


def describe(around: Around) -> Wanted:
    """Return its files: it runs no commands as hooks, so a small plugin does. Looks which configuration is there."""
    folder = f"{around.project}/.opencode" if around.is_project else around.folders.opencode
    roots = (around.project, folder) if around.is_project else (folder,)
    shim = read_text("templates", SHIM).replace(
        PLACEHOLDER, json.dumps([*around.command, "hook", "--host", HOST], ensure_ascii=False)
    )
    places = [f"{root}/{name}" for root in roots for name in _CONFIGS]
    there = [place for place in places if os.path.lexists(place)]
    command = [*around.command, "mcp", "--host", HOST]
    entry: dict[str, object] = {"type": "local", "command": command, "enabled": True, "timeout": _TIMEOUT_MS}
    entry |= {"environment": dict(around.variables)} if around.variables else {}
    config = WantedFile(
        there[0] if there else f"{roots[0]}/{_CONFIGS[1]}",
        Form.JSON,
        server=("mcp", SERVER),
        server_entry=entry,
        extra=_NEW,
    )
    plugin = WantedFile(f"{folder}/plugins/gitmem.js", Form.WHOLE, shim, is_private=False)
    return Wanted((plugin, config, around.skill_file(f"{folder}/skills")))
