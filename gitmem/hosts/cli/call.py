"""One run of the command: what the surroundings are, what was asked for, and who asks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from gitmem.errors import UnavailableError
from gitmem.hosts.cli.columns import fits_terminal
from gitmem.hosts.environment import Environment
from gitmem.model.authority import Actor, Proof, Surface, model_actor
from gitmem.text import slug

if TYPE_CHECKING:
    from gitmem.service.memory import Memory


@dataclass
class Call:
    """What every verb is handed. All but ``environment`` is set while the command line is parsed.

    ``as_person`` says that a person wants to confirm a write, even one that a model may do, and have it as their own;
    ``by_prompt`` that the person typed the command as a prompt in a host, whose hook runs it;
    ``strict`` that the read is to look at every note.
    ``pages`` says that long output may be shown page by page.
    """

    environment: Environment
    vault: str | None = None
    as_json: bool = False
    as_person: bool = False
    by_prompt: bool = False
    strict: bool = False
    pages: bool = True

    def open_memory(self) -> Memory:
        """Return the memory that ``--vault`` or the working folder means. Raises when there is none; makes nothing."""
        from gitmem.service.vault import Options
        from gitmem.wiring import open_memory

        around = self.environment
        options = Options(
            memory_catalog=around.memory_catalog,
            strict=self.strict or around.strict,
            agent_socket=around.agent_socket,
        )
        if around.failpoint:
            options = replace(options, probe=self._make_probe())
        return open_memory(around.home, around.folder, self.vault, options)

    def model(self) -> Actor:
        """Return the actor of a call that no person has confirmed: an agent's shell looks the same."""
        around = self.environment
        return model_actor(around.actor, around.host, around.session)

    def person(self) -> Actor:
        """Return the person at the terminal, as Git knows them, else by login name. Only after a confirmation.

        One who typed the command as a prompt has confirmed it by that, and is known to have shown less.
        """
        from gitmem.wiring import read_identity

        login = self.environment.login
        known = read_identity(self.environment.identity_files)
        name, email = known or (login, f"{slug(login) or 'person'}@users.gitmem.invalid")
        proof = Proof.PROMPT if self.by_prompt else Proof.CODE
        return replace(self._actor(Surface.HUMAN, name, email), proof=proof)

    def paints(self, stream: TextIO) -> bool:
        """Tell whether ``stream`` gets colours: it is a terminal and nobody asked for none."""
        return self.environment.color and stream.isatty()

    def print_result(self, document: dict[str, Any], text: str) -> None:
        """Print a command's one result: ``document`` as JSON with ``--json``, else ``text`` if there is any."""
        from gitmem.hosts.cli.output import format_json

        if self.as_json:
            self._print(format_json(document, sys.stdout.encoding), color=True)
        else:
            self.print_text(text)

    def print_paged(self, text: str) -> None:
        """Print ``text`` as ``print_text`` does; page by page where it is longer than the terminal that shows it."""
        can_page = self.pages and self.environment.pager and sys.stdin.isatty() and not self.as_json
        if can_page and not fits_terminal(sys.stdout, text):
            click.echo_via_pager(text, color=None if self.paints(sys.stdout) else False)
        else:
            self.print_text(text)

    def print_text(self, text: str) -> None:
        """Print ``text``, if there is any and no ``--json``, on standard output."""
        if text and not self.as_json:
            self._print(text, color=self.paints(sys.stdout))

    def warn(self, text: str) -> None:
        """Print ``text`` beside the result, on standard error; with ``--json`` not at all, the document says it."""
        if text and not self.as_json:
            click.echo(text, err=True, color=self.paints(sys.stderr))

    def _print(self, text: str, *, color: bool) -> None:
        try:
            click.echo(text, color=color)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise output_error(error) from error

    def _make_probe(self) -> Callable[[str], None]:
        from gitmem.hosts.cli.failpoint import make_probe
        from gitmem.service.vault import list_steps

        return make_probe(self.environment.failpoint, list_steps())

    def _actor(self, surface: Surface, name: str, email: str) -> Actor:
        return Actor(surface, name, email, self.environment.host, self.environment.session)


def output_error(error: OSError) -> UnavailableError:
    """Return what is said where standard output can't be written."""
    return UnavailableError("output-failed", f"standard output can't be written: {error.strerror or error}")


pass_call = click.make_pass_decorator(Call)
"""Decorates a verb's function: it gets the ``Call`` first."""
