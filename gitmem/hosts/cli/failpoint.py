"""Crash on purpose: a process that kills itself at a named step of a transaction, so that tests see what is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from itertools import count

from gitmem.errors import InputError


def make_probe(failpoint: str, steps: Sequence[str]) -> Callable[[str], None]:
    """Return what a transaction calls before each of ``steps``; ``failpoint`` is ``NAME``, ``NAME:n`` or empty.

    The probe kills this process, as a power cut would, at the n-th passing of the step NAME (the first when no
    number is given). An empty ``failpoint`` never does. Raises ``InputError`` (``bad-environment``) for a NAME that is
    no step: a test that kills nothing would prove nothing.
    """
    name, colon, number = failpoint.partition(":")
    if failpoint and (name not in steps or (colon and not (number.isdecimal() and int(number)))):
        hint = f"Write NAME or NAME:n with one of the steps {', '.join(steps)}."
        raise InputError("bad-environment", f"GITMEM_FAILPOINT={failpoint} names no step", hint)
    wanted = int(number) if number else 1
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
