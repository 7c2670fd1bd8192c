"""``gitmem settings``."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.preview import Preview
from gitmem.hosts.cli.reading import print_answer
from gitmem.model.answer import Answer
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt

_MAX_TIMEOUT_S = 60
_EFFECT = "changes settings.json in gitmem's home; it holds for every vault on this machine, and no vault is changed"
_STARTS = "gitmem starts this program, with every text that is to be written, in each write; " + _EFFECT


@family(
    "settings",
    "gitmem settings show\ngitmem settings set secret-scanner -- /usr/local/bin/scan --strict\n"
    "gitmem settings set signing-key ~/.ssh/id_ed25519\ngitmem settings unset secret-scanner",
)
def command() -> None:
    """Show or change what belongs to you on this machine.

    The settings lie in gitmem's home, never in a vault, since programs are started by them. Changing one takes a
    person at the terminal. Writes nothing into a repository.
    """


@verb("show", "gitmem settings show\ngitmem settings show --json")
@pass_call
def show(call: Call) -> int:
    """Show all settings of this home."""
    from gitmem.wiring import show_settings

    return print_answer(call, show_settings(call.environment.home), "", _format)


@family(
    "set",
    "gitmem settings set secret-scanner -- /usr/local/bin/scan --strict\n"
    "gitmem settings set signing-key ~/.ssh/id_ed25519",
)
def set_family() -> None:
    """Change a setting of this home, as a person."""


@verb(
    "secret-scanner",
    "gitmem settings set secret-scanner -- /usr/local/bin/scan --strict\n"
    "gitmem settings set secret-scanner --timeout-s 10 -- /usr/bin/python3 /home/sam/scan.py",
)
@click.option(
    "--timeout-s",
    type=click.FloatRange(0, _MAX_TIMEOUT_S, min_open=True),
    metavar="SECONDS",
    help="How long it may take; 5 seconds unless you say so.",
)
@click.argument("program", nargs=-1, required=True, metavar="-- PROGRAM [ARGUMENT]...")
@pass_call
def set_scanner(call: Call, program: tuple[str, ...], timeout_s: float | None) -> int:
    """Have a program look for secrets beside gitmem's own scanner.

    It is started in every write with all texts that would be written, and is tried now. See docs/secrets.md for what
    it is given and has to answer.
    """
    from gitmem.wiring import set_secret_scanner

    home = call.environment.home
    asked = [("program", program[0]), *(("argument", one) for one in program[1:])]
    asked += [("timeout", f"{timeout_s:g} s")] if timeout_s is not None else []
    return _write(
        call,
        "settings set secret-scanner",
        asked,
        _STARTS,
        lambda actor: set_secret_scanner(home, program, actor, timeout_s),
    )


@verb("signing-key", "gitmem settings set signing-key ~/.ssh/id_ed25519")
@click.argument("file", type=click.Path())
@pass_call
def set_key(call: Call, file: str) -> int:
    """Have your operations signed with an SSH key.

    FILE is the key that `ssh-keygen` made; the public one where an agent holds the other.
    """
    from gitmem.wiring import set_signing_key

    home = call.environment.home
    place = os.path.normpath(os.path.join(call.environment.folder, os.path.expanduser(file)))
    asked = [("key", place)]
    return _write(call, "settings set signing-key", asked, _EFFECT, lambda actor: set_signing_key(home, place, actor))


@verb("unset", "gitmem settings unset secret-scanner\ngitmem settings unset signing-key")
@click.argument("name", type=click.Choice(["secret-scanner", "signing-key"]))
@pass_call
def unset(call: Call, name: str) -> int:
    """Take a setting of this home away, as a person."""
    from gitmem.wiring import unset_setting

    home = call.environment.home
    return _write(call, f"settings unset {name}", [], _EFFECT, lambda actor: unset_setting(home, name, actor))


def _write(
    call: Call, name: str, asked: list[tuple[str, str]], effect: str, attempt: Callable[[Actor], Receipt]
) -> int:
    receipt = run_confirmed(call, attempt, lambda: Preview(name, "", effect, asked=tuple(asked)))
    said = ["settings: changed" if receipt.changed else "settings: nothing to do"]
    said += [f"notice: {safe_line(notice)}" for notice in receipt.notices]
    call.print_result(write_document(receipt), "\n".join(said))
    return 0


def _format(answer: Answer) -> str:
    cells = []
    for row in answer.rows:
        value = row["value"]
        said = "not set" if value is None else safe_line(" ".join(value) if isinstance(value, list) else value)
        cells.append((row["setting"], said + (f" (at most {row['timeout_s']:g} s)" if row["timeout_s"] else "")))
    return "\n".join(align(cells))


command.add_command(show)
command.add_command(set_family)
command.add_command(unset)
set_family.add_command(set_scanner)
set_family.add_command(set_key)
