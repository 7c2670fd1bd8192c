"""What of a host's configuration is gitmem's own: known by what it starts, not by where it stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitmem.hosts.install.command import find_verb, parse_command
from gitmem.hosts.install.json_edit import Place

SERVER = "gitmem"
"""The name under which hosts list the MCP server."""


def find_words(entry: Any) -> list[str]:
    """Return the words of the command that a hook's handler or a server's entry starts; none for anything else."""
    if not isinstance(entry, dict):
        return []
    command, args = entry.get("command"), entry.get("args")
    if isinstance(command, list):
        words = command
    elif isinstance(command, str):
        words = [command, *args] if isinstance(args, list) else parse_command(command)
    else:
        words = []
    return words if all(isinstance(word, str) for word in words) else []


def is_own_hook(entry: Any) -> bool:
    """Tell whether a handler runs ``gitmem hook``."""
    return find_verb(find_words(entry)) == "hook"


def is_own_server(entry: Any) -> bool:
    """Tell whether a server's entry runs ``gitmem mcp``."""
    return find_verb(find_words(entry)) == "mcp"


def iter_own_hooks(hooks: Any) -> Iterator[Place]:
    """Yield where, within the value of ``hooks``, gitmem's own stand: an event, a position, and for a handler among
    others in its group two steps more. In order.
    """
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            if is_own_hook(group):
                yield (event, at)
                continue
            handlers = group.get("hooks") if isinstance(group, dict) else None
            own = [i for i, one in enumerate(handlers if isinstance(handlers, list) else ()) if is_own_hook(one)]
            if own and len(own) == len(handlers or ()):
                yield (event, at)
            else:
                yield from ((event, at, "hooks", i) for i in own)
