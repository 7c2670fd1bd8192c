"""The command ``gitmem`` itself: its options, its sections, and how a verb is found and loaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import click

from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.complete import complete_vaults
from gitmem.version import VERSION

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Write", ("observe", "declare", "edit", "promote", "retire", "restore", "undo", "adopt", "import")),
    ("Read", ("search", "recall", "context", "list", "tags", "show", "links", "timeline", "log", "diff")),
    (
        "Review",
        (
            "propose",
            "inbox",
            "review",
            "accept",
            "reject",
            "withdraw",
            "defer",
            "reconsider",
            "curate",
            "journal",
            "onboard",
        ),
    ),
    ("Trust", ("verify", "keys", "policy", "settings")),
    ("Agents", ("install", "uninstall", "hook", "mcp", "report", "export")),
    ("Look after", ("init", "status", "check", "doctor", "eval", "maintain", "catalog", "tour", "completion")),
)
MAX_PURPOSE_CHARS = 66
"""What fits beside a verb's name on one line of a help page."""
MAX_FAMILY_CHARS = 3 * MAX_PURPOSE_CHARS
"""A command of a family may say its purpose on several lines of the family's page."""
_MODULES = {"eval": "evaluate", "list": "list_records", "import": "import_notes"}
"""Modules whose verb is a word of Python's own."""


class Verb(click.Command):
    """One command. The options of ``gitmem`` are accepted behind its name, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _shared_options()


class Family(click.Group):
    """A few commands on one thing. The options of ``gitmem`` are accepted behind its name, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _shared_options()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each with its whole purpose."""
        commands = [command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name)) is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(str(one.name), one.get_short_help_str(MAX_FAMILY_CHARS)) for one in commands])


class Verbs(click.Group):
    """The group of all verbs; each is loaded when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the verbs, in the order of the help page."""
        return [verb for _section, verbs in SECTIONS for verb in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command ``cmd_name``, loading its module, or ``None`` if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"gitmem.hosts.cli.commands.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb of a command line. Raises ``click.UsageError`` that names the nearest verb."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = get_close_matches(name, self.list_commands(ctx), 1)
            raise click.UsageError(f"no such command: {name}" + (f"; did you mean {near[0]}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs by section, each with its purpose."""
        for section, verbs in SECTIONS:
            commands = [command for verb in verbs if (command := self.get_command(ctx, verb)) is not None]
            with formatter.section(section):
                formatter.write_dl([(str(one.name), one.get_short_help_str(MAX_PURPOSE_CHARS)) for one in commands])


def verb(name: str, examples: str, form: type[Verb] = Verb) -> Callable[[Callable[..., int]], Verb]:
    """Return the decorator that makes a function the verb ``name``; its docstring is the help, ``examples`` follow.

    ``form`` is the class of the verb. The function returns the process's exit code.
    """
    return click.command(name, cls=form, epilog=_format_examples(examples))


def family(name: str, examples: str) -> Callable[[Callable[..., None]], Family]:
    """Return the decorator that makes a function the family ``name``, to which its verbs are added by ``add_command``.

    Its docstring is the help, ``examples`` follow.
    """
    return click.group(name, cls=Family, epilog=_format_examples(examples))


def _format_examples(examples: str) -> str:
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    return f"\b\nExamples:\n{lines}"


def _shared_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--vault"],
            metavar="PATH|NAME",
            expose_value=False,
            callback=_keep_vault,
            shell_complete=complete_vaults,
            help="Use this vault; else that of the working folder, else the global one.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_keep_json,
            help="Print one JSON document instead of text.",
        ),
        click.Option(
            ["--human"],
            is_flag=True,
            expose_value=False,
            callback=_keep_human,
            help="Ask me to confirm a write at the terminal, and record it as mine; without it, it is the agent's.",
        ),
        click.Option(
            ["--no-pager"],
            is_flag=True,
            expose_value=False,
            callback=_keep_no_pager,
            help="Print long output at once, not page by page in a terminal.",
        ),
    ]


def _keep_vault(ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Call).vault = value


def _keep_json(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        ctx.ensure_object(Call).as_json = True


def _keep_human(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        ctx.ensure_object(Call).as_person = True


def _keep_no_pager(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        ctx.ensure_object(Call).pages = False


@click.group(
    "gitmem",
    cls=Verbs,
    params=_shared_options(),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every verb has --help with examples. Exit codes: 0 done, 1 nothing found, 2 usage, 3 input, 4 state, "
    "5 policy, 6 unavailable, 7 integrity, 130 interrupted.",
)
@click.version_option(
    VERSION,
    prog_name="gitmem",
    message="%(prog)s %(version)s",
    help="Print the version, as plain text even with --json, and exit.",
)
def gitmem() -> None:
    """Keep a memory that people and coding agents share: Markdown records in Git, one commit an operation.

    What only a person may do asks for a code at the terminal; --human asks for it in every write and records that as
    yours. Reads write nothing into the repository.
    """
