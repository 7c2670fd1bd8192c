"""``gitmem context``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.reading import say_answer


@verb("context", "gitmem context\ngitmem context --max-chars 4000\ngitmem --vault ~/notes context --json")
@click.option(
    "--max-chars",
    type=click.IntRange(1),
    metavar="N",
    help="At most so many characters; 8000 without it, which hosts take from a hook whole.",
)
@pass_call
def command(call: Call, max_chars: int | None) -> int:
    """Print what a session should start with.

    That is what people declared, boundaries first, a choice of what they reviewed, and the last task reports. Of a
    workspace, the global boundaries and preferences are part of it. Records stand there whole or as their summary;
    what has no room is counted. Boundaries are never left out: where they don't fit, nothing is printed and the exit
    code is 6. Writes nothing into the repository. Exit code 1 when there is nothing yet.
    """
    return say_answer(
        call,
        lambda memory: memory.context(max_chars),
        lambda answer: str(answer.extra["text"]),
        nothing="nothing has been declared, promoted or reported yet",
    )
