"""Start a program that a person named, or OpenSSH's, with bounds: no shell, a bare environment, little time and output.

The one home of ``subprocess`` in the library (INV-NO-PROGRAM). What is started is never named by a vault.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, cast

from gitmem.errors import UnavailableError

MAX_OUTPUT_BYTES = 1 << 20
_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
_KILL_WAIT_S = 2.0


@dataclass(frozen=True)
class Ran:
    """How a program ended: its exit code (negative for a signal) and what it said, each at most the bound that was."""

    code: int
    out: bytes
    err: bytes


def run_program(
    command: Sequence[str],
    data: bytes = b"",
    *,
    timeout_s: float,
    max_output_bytes: int = MAX_OUTPUT_BYTES,
    env: Mapping[str, str] | None = None,
    folder: str = "/",
    at_terminal: bool = False,
    says_there: bool = False,
) -> Ran:
    """Run ``command`` with ``data`` as its standard input and return how it ended, whatever its exit code.

    It starts in ``folder`` with ``env`` (a search path alone when left out), in a session of its own, and is killed
    with all that it started in it when ``timeout_s`` is over. ``at_terminal`` leaves it at this process's terminal,
    where it may ask the person for a passphrase, and an interrupt ends it, too; ``says_there`` leaves it this process's
    standard error, so that it can ask for a touch. Raises ``UnavailableError``: ``program-missing`` where it can't be
    started, ``program-slow``, ``program-too-loud`` for more output than ``max_output_bytes``. Input and output lie in
    memory until they are read, where the platform has files in memory, else in unnamed temporary files.
    """
    around = {"PATH": _PATH, "LC_ALL": "C.UTF-8"} | dict(env or {})
    with _make_file() as given, _make_file() as out, _make_file() as err:
        given.write(data)
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=out,
                stderr=None if says_there else err,
                cwd=folder,
                env=around,
                start_new_session=not at_terminal,
            )
        except (OSError, ValueError) as error:
            raise _fail("program-missing", command, f"can't be started: {error}") from None
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise _fail("program-slow", command, f"did not end within {timeout_s:g} s") from None
        finally:
            _kill(process, is_alone=not at_terminal)
        said = tuple(_read(file, max_output_bytes, command) for file in (out, err))
    return Ran(code, *said)


def find_program(name: str) -> str | None:
    """Return the absolute path of a program of the system's own folders, ``None`` where it is not there.

    The process's own search path is not asked: whoever sets that could put another program in its place.
    """
    places = (os.path.join(folder, name) for folder in _PATH.split(":"))
    return next((place for place in places if os.access(place, os.X_OK)), None)


def _make_file() -> BinaryIO:
    """Return an empty file without a name, in memory where there is such: what is handed over may hold a secret."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return os.fdopen(os.memfd_create("gitmem"), "w+b")
    return cast("BinaryIO", tempfile.TemporaryFile())


def _read(file: BinaryIO, max_bytes: int, command: Sequence[str]) -> bytes:
    file.seek(0)
    data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _fail("program-too-loud", command, f"said more than {max_bytes} bytes")
    return data


def _kill(process: subprocess.Popen[bytes], *, is_alone: bool) -> None:
    """End what is left of the program's session: itself, if it is still there, and what it left running."""
    if is_alone and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_KILL_WAIT_S)


def _fail(code: str, command: Sequence[str], reason: str) -> UnavailableError:
    name = os.path.basename(command[0]) if command else "a program"
    return UnavailableError(code, f"{name} {reason}", "Look at how it is set up, and try it by hand.")
