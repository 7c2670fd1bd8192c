"""Errors, sorted by what the person or program that meets them can do about it.

Each class carries the process exit code of the command line; each error carries a stable ``code`` (kebab-case),
a one-line message, a hint that says what to do next, and named fields for programs. A write that raises has left
the vault in the state that its docstring names; a read never raises for the state of the memory, it reports it.
"""

from __future__ import annotations

import os

from gitmem.typed import Any, ClassVar


class GitmemError(Exception):
    """Base of every error that gitmem raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, hint: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.code, self.message, self.hint, self.fields))


def _rebuild(kind: type[GitmemError], code: str, message: str, hint: str, fields: dict[str, Any]) -> GitmemError:
    return kind(code, message, hint, **fields)


class InputError(GitmemError):
    """What was asked is not well formed, or names something that is not there; ask differently. Nothing was written."""

    exit_code = 3


class StateError(GitmemError):
    """The vault or the repository is in a state that forbids the operation; change the state and ask again."""

    exit_code = 4


class PolicyError(GitmemError):
    """The operation is well formed and possible, but not allowed here; a person has to act. Nothing was written."""

    exit_code = 5


class UnavailableError(GitmemError):
    """Something that is needed can't be reached now: a vault, a lock, a disk; try again later."""

    exit_code = 6


class IntegrityError(GitmemError):
    """What was read back is not what should be there; stop and look before anything else is written."""

    exit_code = 7


def disk_refused(error: OSError, outcome: str) -> UnavailableError:
    """Return the error (``disk``) that tells a person what the disk refused; ``outcome`` says what came of it."""
    where = os.path.basename(str(error.filename or ""))
    return UnavailableError(
        "disk",
        f"the disk refused: {error.strerror or error}" + (f" ({where})" if where else ""),
        f"{outcome} Make room or give yourself permission, then try again.".strip(),
    )
