"""Kill a child process at a named step of a transaction: no handler runs, nothing is closed."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable

from gitmem.service.memory import Memory


class Killer:
    """A probe that kills its process at the n-th passing of one step."""

    def __init__(self, step: str, nth: int = 1) -> None:
        self.step = step
        self.left = nth

    def __call__(self, step: str) -> None:
        if step == self.step:
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def run_killed(open_memory: Callable[..., Memory], step: str, work: Callable[[Memory], object], nth: int = 1) -> bool:
    """Do ``work`` in a child that is killed at ``step``. Returns whether it was (false: the step was never reached)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child only writes files and dies
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with open_memory(probe=Killer(step, nth)) as memory:
                work(memory)
            code = 0
        finally:
            os._exit(code)
    _pid, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the operation failed before it reached the step"
    return False
