"""``gitmem completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.output import read_document
from gitmem.hosts.environment import COMPLETION_VARIABLE
from gitmem.model.answer import Answer, Status


@verb(
    "completion",
    """
eval "$(gitmem completion bash)"
gitmem completion zsh > ~/.zfunc/_gitmem
gitmem completion fish > ~/.config/fish/completions/gitmem.fish
""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_call
@click.pass_context
def command(context: click.Context, call: Call, shell: str) -> int:
    """Print the script with which a shell completes commands.

    Writes nothing.
    """
    found = get_completion_class(shell)
    assert found is not None
    made = found(context.find_root().command, {}, "gitmem", COMPLETION_VARIABLE)
    # The template by itself: click's own way first starts a shell to ask for its version.
    script = made.source_template % made.source_vars()
    answer = Answer(Status.OK, None, rows=({"shell": shell, "script": script},))
    call.print_result(read_document(answer, ""), script)
    return 0
