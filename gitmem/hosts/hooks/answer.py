"""What a hook says back to its host, on standard output, in the host's own form. Nothing, so far.

It is asked after the event was kept, with the prompt still in memory. An empty answer is nothing on standard output,
which every host takes for "go on".
"""

from __future__ import annotations

from gitmem.hosts.hooks.families import Family
from gitmem.model.event import Seen
from gitmem.service.memory import Memory


def find_answer(family: Family, seen: Seen, memory: Memory) -> str:  # noqa: ARG001 - what an answer is made of
    """Return what to print for ``seen``, empty for nothing. May raise ``GitmemError``; the host goes on."""
    return ""
