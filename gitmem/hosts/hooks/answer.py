"""What a hook says back to its host, on standard output, in the host's own form: what a person's command came to.

It is asked after the event was kept, with the prompt still in memory. An empty answer is nothing on standard output,
which every host takes for "go on".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitmem.hosts.environment import Environment
from gitmem.hosts.hooks.families import Family
from gitmem.model.event import EventKind, Seen

if TYPE_CHECKING:
    from gitmem.service.memory import Memory


RunTyped = Callable[[Sequence[str], Environment], int]
"""Runs a command line as that of a person who typed it as a prompt, prints what came of it, returns the exit code."""


def find_answer(family: Family, seen: Seen, memory: Memory, run_typed: RunTyped) -> str:
    """Return what to print for ``seen``, empty for nothing. May raise ``GitmemError``; the host goes on."""
    if seen.kind is not EventKind.PROMPT or not seen.prompt.startswith("gitmem "):
        return ""
    from gitmem.hosts.hooks.prompt_command import answer_command

    return answer_command(family, seen, memory, run_typed)
