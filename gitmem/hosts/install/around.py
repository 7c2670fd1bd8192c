"""What every host's description is made from: where, for whom, and by which command. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitmem.hosts.environment import HostFolders
from gitmem.hosts.hooks.families import FAMILIES
from gitmem.hosts.install.command import format_command
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, WantedFile
from gitmem.model.event import EventKind

ANSWER_TIMEOUT_S = 30
KEEP_TIMEOUT_S = 10
END_TIMEOUT_S = 5
"""How long a host waits for a hook that answers, one that only keeps, and one at the end of a session.

Each is longer than what the hook takes by itself at most, so that the interpreter may start slowly on a busy machine.
"""
ANSWERED = (EventKind.SESSION_START, EventKind.PROMPT, EventKind.COMPACTION)
"""Events that may have an answer."""


class InstallScope(StrEnum):
    """For whom a host is set up: the person, in all projects, or one project."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True)
class Around:
    """``project`` is the project's folder, empty in the scope of the person; ``command`` starts gitmem.

    ``variables`` are those that the server needs, ``skill`` is the skill's text.
    """

    folders: HostFolders
    scope: InstallScope
    project: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    skill: str = ""

    @property
    def is_project(self) -> bool:
        """Whether it is for one project."""
        return self.scope is InstallScope.PROJECT

    def hook_line(self, host: str) -> str:
        """Return the shell line of ``host``'s hooks."""
        return format_command([*self.command, "hook", "--host", host])

    def server_entry(self, host: str, **more: Any) -> dict[str, Any]:
        """Return the entry of the MCP server in the form that most hosts share."""
        program, *args = [*self.command, "mcp", "--host", host]
        entry = {**more, "command": program, "args": args}
        return {**entry, "env": dict(self.variables)} if self.variables else entry

    def skill_file(self, folder: str) -> WantedFile:
        """Return the skill's file in ``folder``, which holds skills."""
        return WantedFile(
            f"{folder}/{SERVER}/SKILL.md", Form.WHOLE, self.skill, mentions_machine=False, is_private=False
        )


def list_events(host: str) -> dict[str, EventKind]:
    """Return the events of ``host`` that gitmem makes use of, and what they mean."""
    family = next(one for one in FAMILIES if one.host == host)
    return {name: kind for name, kind in family.events.items() if kind is not None}


def timeout_s(kind: EventKind) -> int:
    """Return how long a host waits for gitmem's hook of such an event at most."""
    if kind is EventKind.SESSION_END:
        return END_TIMEOUT_S
    return ANSWER_TIMEOUT_S if kind in ANSWERED else KEEP_TIMEOUT_S


def group_hooks(events: Mapping[str, EventKind], handler: Callable[[EventKind], dict[str, Any]]) -> dict[str, Any]:
    """Return for each event the group, of one handler, that most hosts' files have."""
    return {event: {"hooks": [handler(kind)]} for event, kind in events.items()}
