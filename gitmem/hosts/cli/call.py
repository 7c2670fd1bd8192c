"""One run of the command: what the surroundings are, what was asked for, and who asks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from gitmem.hosts.environment import Environment
from gitmem.model.authority import Actor, Surface
from gitmem.text import slug

if TYPE_CHECKING:
    from gitmem.service.memory import Memory


@dataclass
class Call:
    """What every verb is handed. ``vault`` and ``as_json`` are set while the command line is parsed."""

    environment: Environment
    vault: str | None = None
    as_json: bool = False

    def open_memory(self) -> Memory:
        """Return the memory that ``--vault`` or the working folder means. Raises when there is none; makes nothing."""
        from gitmem.service.vault import Options
        from gitmem.wiring import open_memory

        around = self.environment
        options = Options(probe=self._make_probe()) if around.failpoint else Options()
        return open_memory(around.home, around.folder, self.vault, options)

    def model(self) -> Actor:
        """Return the actor of a call that no person has confirmed: an agent's shell looks the same."""
        name = self.environment.actor
        return self._actor(Surface.MODEL, name, f"{slug(name) or 'agent'}@agents.gitmem.invalid")

    def person(self) -> Actor:
        """Return the person at the terminal, as Git knows them, else by login name. Only after a confirmation."""
        from gitmem.wiring import read_identity

        login = self.environment.login
        known = read_identity(self.environment.identity_files)
        name, email = known or (login, f"{slug(login) or 'person'}@users.gitmem.invalid")
        return self._actor(Surface.HUMAN, name, email)

    def paints(self, stream: TextIO) -> bool:
        """Tell whether ``stream`` gets colours: it is a terminal and nobody asked for none."""
        return self.environment.color and stream.isatty()

    def print_result(self, document: dict[str, Any], text: str) -> None:
        """Print a command's one result: ``document`` as JSON with ``--json``, else ``text`` if there is any."""
        from gitmem.hosts.cli.output import format_json

        if self.as_json:
            click.echo(format_json(document, sys.stdout.encoding), color=True)
        elif text:
            click.echo(text, color=self.paints(sys.stdout))

    def warn(self, text: str) -> None:
        """Print ``text`` beside the result, on standard error; with ``--json`` not at all, the document says it."""
        if text and not self.as_json:
            click.echo(text, err=True, color=self.paints(sys.stderr))

    def _make_probe(self) -> Callable[[str], None]:
        from gitmem.hosts.cli.failpoint import make_probe
        from gitmem.service.vault import list_steps

        return make_probe(self.environment.failpoint, list_steps())

    def _actor(self, surface: Surface, name: str, email: str) -> Actor:
        return Actor(surface, name, email, self.environment.host, self.environment.session)


pass_call = click.make_pass_decorator(Call)
"""Decorates a verb's function: it gets the ``Call`` first."""
