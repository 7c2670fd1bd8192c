"""Crash on purpose: a process that kills itself at a named step of a transaction, so that tests see what is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import count


def make_probe(failpoint: str) -> Callable[[str], None]:
    """Return what a transaction calls before each step; ``failpoint`` is ``NAME``, ``NAME:n`` or empty.

    The probe kills this process, as a power cut would, at the n-th passing of the step NAME (the first when no
    number is given). An empty ``failpoint`` never does.
    """
    name, _colon, number = failpoint.partition(":")
    wanted = int(number) if number.isdecimal() else 1
    passings = count(1)

    def probe(step: str) -> None:
        if name and step == name and next(passings) == wanted:
            _die()

    return probe


def _die() -> None:
    kill = getattr(signal, "SIGKILL", None)
    if kill is None:
        os._exit(137)
    os.kill(os.getpid(), kill)
