"""Start a program that a person named, or OpenSSH's, with bounds: no shell, a bare environment, little time and output.

The one home of ``subprocess`` in the library (INV-NO-PROGRAM). What is started is never named by a vault.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence

from gitmem.errors import UnavailableError
from gitmem.typed import IO, BinaryIO, cast
from gitmem.values import dataclass

MAX_OUTPUT_BYTES = 1 << 20
_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
_KILL_WAIT_S = 2.0
_LOOK_S = 0.02
"""How often it is looked whether a silent program has ended."""
_NAP_S = 0.001
"""The same where it has closed its outputs, and so is about to end."""
_PIECE_BYTES = 64 << 10


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
    with all that it started in it when ``timeout_s`` is over, and as soon as it has said more than
    ``max_output_bytes`` on one of its outputs. ``at_terminal`` leaves it at this process's terminal, where it may ask
    the person for a passphrase, and an interrupt ends it, too; ``says_there`` leaves it this process's standard error,
    so that it can ask for a touch. Raises ``UnavailableError``: ``program-missing`` where it can't be started,
    ``program-slow``, ``program-too-loud``. Input lies in memory until it is read, where the platform has files in
    memory, else in an unnamed temporary file.
    """
    around = {"PATH": _PATH, "LC_ALL": "C.UTF-8"} | dict(env or {})
    with _make_file() as given:
        given.write(data)
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=None if says_there else subprocess.PIPE,
                cwd=folder,
                env=around,
                start_new_session=not at_terminal,
            )
        except (OSError, ValueError) as error:
            raise _fail("program-missing", command, f"can't be started: {error}") from None
    outputs = [output for output in (process.stdout, process.stderr) if output is not None]
    try:
        said = _listen(process, outputs, command, timeout_s, max_output_bytes)
    finally:
        _kill(process, is_alone=not at_terminal)
        for output in outputs:
            output.close()
    return Ran(process.returncode, *said, *([b""] if says_there else []))


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


def _listen(
    process: subprocess.Popen[bytes], outputs: Sequence[IO[bytes]], command: Sequence[str], timeout_s: float, bound: int
) -> list[bytes]:
    """Return what the program says until it ends, however long what it started goes on. Never keeps more than bounds.

    What is said is taken as it comes: a program that says without end would fill the memory, or the disk.
    """
    if os.name == "nt":  # pipes can't be waited for there
        return _hear_out(process, outputs, command, timeout_s, bound)
    said = {output.fileno(): bytearray() for output in outputs}
    end_s = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        for output in outputs:
            os.set_blocking(output.fileno(), False)
            selector.register(output, selectors.EVENT_READ)
        while True:
            has_ended = _has_ended(process)  # asked before looking, so that nothing it said is missed
            ready = selector.select(0 if has_ended else _LOOK_S) if selector.get_map() else []
            for key, _events in ready:
                piece = os.read(key.fd, _PIECE_BYTES)
                said[key.fd] += piece
                if len(said[key.fd]) > bound:
                    raise _fail("program-too-loud", command, f"said more than {bound} bytes")
                if not piece:
                    selector.unregister(key.fileobj)
            if has_ended and not ready:
                return [bytes(text) for text in said.values()]
            if time.monotonic() > end_s:
                raise _fail("program-slow", command, f"did not end within {timeout_s:g} s")
            if not has_ended and not selector.get_map():
                time.sleep(_NAP_S)


def _hear_out(
    process: subprocess.Popen[bytes], outputs: Sequence[IO[bytes]], command: Sequence[str], timeout_s: float, bound: int
) -> list[bytes]:
    """Do what ``_listen`` does, but look at the bound when the program has ended."""
    try:
        said = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise _fail("program-slow", command, f"did not end within {timeout_s:g} s") from None
    if any(len(text or b"") > bound for text in said):
        raise _fail("program-too-loud", command, f"said more than {bound} bytes")
    return list(said[: len(outputs)])


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the program has ended; its number stays its own, so that its session can still be ended by it."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


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
