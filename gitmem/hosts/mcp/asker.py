"""Who asks, and of which vault: the actor that every call acts as, and the folder that the client works in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from gitmem.hosts.environment import Environment, check_home
from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import new_token
from gitmem.service.memory import Memory
from gitmem.service.vault import Options
from gitmem.text import slug
from gitmem.wiring import open_memory

DEFAULT_HOST = "mcp"
LOCK_WAIT_S = 5.0
"""How long a write waits for another: some hosts give a tool no more than 10 s."""
_MAX_NAME_BYTES = 60


@dataclass(frozen=True)
class Asker:
    """What one call knows of its surroundings. ``actor`` is always a model's; there is no way to be a person here."""

    environment: Environment
    named: str | None
    folder: str
    actor: Actor

    def open_memory(self) -> Memory:
        """Return the memory that is meant, opened for this call and thread alone. Raises where there is none."""
        around = self.environment
        check_home(around.home, self.folder)
        options = Options(lock_wait_s=LOCK_WAIT_S, memory_catalog=around.memory_catalog, strict=around.strict)
        return open_memory(around.home, self.folder, self.named, replace(options, agent_socket=around.agent_socket))


@dataclass(frozen=True)
class Session:
    """One run of the server: a session of its own, unless the host named one."""

    environment: Environment
    named: str | None
    host: str
    session: str

    def make_asker(self, client: str, folder: str) -> Asker:
        """Return who asks when a client called ``client`` works in ``folder`` (empty: where the process was started).

        What a client calls itself counts where neither ``--host`` nor the environment says which host this is.
        """
        around = self.environment
        host = self.host or slug(client, _MAX_NAME_BYTES) or DEFAULT_HOST
        email = f"{slug(around.actor) or 'agent'}@agents.gitmem.invalid"
        actor = Actor(Surface.MODEL, around.actor, email, host, self.session)
        return Asker(around, self.named, around.project or folder or around.folder, actor)


def begin_session(environment: Environment, named: str | None, host: str) -> Session:
    """Return the session of this process; ``named`` is the vault that was asked for, ``host`` the host that says so."""
    known = "" if environment.host == "cli" else environment.host
    session = environment.session or f"{DEFAULT_HOST}-{new_token(8)}"
    return Session(environment, named, host or known, session)


def pick_folder(uris: Sequence[str]) -> str:
    """Return the first of a client's roots that is a folder on this machine, empty for none. Looks at the disk."""
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            folder = url2pathname(parts.path) if os.name == "nt" else unquote(parts.path)
            if os.path.isabs(folder) and "\0" not in folder and os.path.isdir(folder):
                return folder
    return ""
