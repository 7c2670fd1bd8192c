"""A program of a person's choice that takes part in curating, and what came of it."""

from __future__ import annotations

from gitmem.values import dataclass

MAX_TIMEOUT_S = 600.0
MAX_OUTPUT_BYTES = 4 << 20


@dataclass(frozen=True)
class Program:
    """A program to be run: ``command`` with its arguments, in ``folder``, within bounds on time and on what it says."""

    command: tuple[str, ...]
    folder: str = "/"
    timeout_s: float = 60.0
    max_output_bytes: int = 256 << 10


@dataclass(frozen=True)
class Heard:
    """How a program's run went. ``problem`` says why what it said counts for nothing, empty where it counts.

    ``proposals``, ``merges`` and ``retirements`` are how many it named.
    """

    name: str
    problem: str = ""
    proposals: int = 0
    merges: int = 0
    retirements: int = 0
