"""A folder that is a plugin of Claude Code's: the hooks, the server and the skill of this machine's gitmem in one.

The folder is its own marketplace, so that Claude Code can install it from there, and is loaded as it is, too.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from gitmem.errors import StateError
from gitmem.hosts.install.around import Around, group_hooks, list_events, timeout_s
from gitmem.hosts.install.claude_code import HOST
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.place import Found, check_writable, look_at
from gitmem.hosts.install.plan import SHARED_MODE, FileEdit
from gitmem.model.event import EventKind
from gitmem.resources import read_text
from gitmem.version import VERSION

MANIFEST = ".claude-plugin/plugin.json"
_ABOUT = "Tells gitmem what happens, and Claude what it remembers."


def describe_plugin(around: Around) -> dict[str, str]:
    """Return the texts of the plugin's files by their paths within its folder. Pure.

    Its commands are lists of words, which no shell takes apart.
    """
    program, *words = [*around.command, "hook", "--host", HOST]

    def handler(kind: EventKind) -> dict[str, Any]:
        return {"type": "command", "command": program, "args": words, "timeout": timeout_s(kind)}

    hooks = {event: [group] for event, group in group_hooks(list_events(HOST), handler).items()}
    files = {
        ".claude-plugin/marketplace.json": _read("marketplace.json"),
        "hooks/hooks.json": _format({"description": _ABOUT, "hooks": hooks}),
        ".mcp.json": _format({"mcpServers": {SERVER: around.server_entry(HOST)}}),
        f"skills/{SERVER}/SKILL.md": around.skill,
    }
    # Claude Code takes a plugin up again only when its version is another: it has to tell of another Python, too.
    content = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:8]
    return {MANIFEST: _read("plugin.json").replace("__GITMEM_VERSION__", f"{VERSION}+{content}")} | files


def plan_plugin(folder: str, around: Around) -> tuple[FileEdit, ...]:
    """Return how to bring ``folder`` (absolute) to hold the plugin; files that are not the plugin's stay. Reads files.

    Raises ``StateError``: ``not-a-plugin-folder`` where it holds something else, and what ``look_at`` and
    ``check_writable`` raise.
    """
    _check_folder(folder)
    edits = []
    for name, text in describe_plugin(around).items():
        found = look_at(os.path.join(folder, *name.split("/")), folder)
        if found.data != text.encode():
            check_writable(found)
            mode = found.mode if found.data is not None else SHARED_MODE
            edits.append(FileEdit(found.path, found.target, found.data, text.encode(), mode))
    return tuple(edits)


def _check_folder(folder: str) -> None:
    try:
        is_empty = not os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"{folder} can't be looked into: {error.strerror or error}"
        raise StateError("not-a-plugin-folder", message, "Name another folder.", path=folder) from None
    if not is_empty and not _is_own(look_at(os.path.join(folder, *MANIFEST.split("/")), folder)):
        hint = "Name a folder that is empty or not there yet, or one that this command made."
        raise StateError("not-a-plugin-folder", f"{folder} holds something else than this plugin", hint, path=folder)


def _is_own(manifest: Found) -> bool:
    try:
        value = json.loads(manifest.data or b"")
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("name") == SERVER


def _read(name: str) -> str:
    return read_text("templates", f"hosts/claude-plugin/{name}")


def _format(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
