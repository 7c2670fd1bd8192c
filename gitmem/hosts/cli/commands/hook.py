"""``gitmem hook``, as the help page has it. A host's own call comes in by a shorter way, see ``gitmem.__main__``."""

from __future__ import annotations

from functools import partial

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.hooks.families import FAMILIES


@verb("hook", "gitmem hook < payload.json\ngitmem hook --host codex < payload.json")
@click.option("--host", type=click.Choice([one.host for one in FAMILIES]), help="Whose payload it is; else it is seen.")
@pass_call
def command(call: Call, *, host: str | None) -> int:
    """Take one payload of a host's hook from standard input, answer it.

    For hosts to call, not for people. Answers in the host's own form: a session's start with the context, a prompt with
    its recall, or with nothing. Keeps metadata of what happened, see `gitmem journal`, and never a prompt, an output or
    the content of a file. Whatever happens the exit code is 0 and the host goes on; where there is no vault it does
    nothing. Writes nothing into the repository, but what a person's command does that was typed as a prompt.
    """
    from gitmem.hosts.cli.run import run
    from gitmem.hosts.hooks.run import run_hook

    given = {"--host": host, "--vault": call.vault}
    words = [word for name, value in given.items() if value for word in (name, value)]
    return run_hook(words, partial(run, by_prompt=True), call.environment.home, call.environment.folder)
