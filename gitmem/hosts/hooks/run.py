"""``gitmem hook``: reads one payload of a host from standard input, keeps what may be kept of it, and answers.

It fails open: whatever happens, the exit code is 0, the host goes on, and at most one line on standard error says what
was wrong; where the memory can't be read, the model is told so once a session (INV-NEVER-SILENT). It makes no vault;
where there is none it does nothing and says nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType

from gitmem.errors import GitmemError, StateError
from gitmem.hosts.environment import check_home, find_home
from gitmem.hosts.hooks.answer import RunTyped, find_answer, is_answered
from gitmem.hosts.hooks.families import Family
from gitmem.hosts.hooks.payload import (
    MAX_PAYLOAD_BYTES,
    UnreadableError,
    find_family,
    find_seen,
    is_known,
    parse_payload,
)
from gitmem.model.event import EventKind, Fate, Odd, Seen
from gitmem.typed import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.service.vault import OpenVault

BUDGET_S = 1.2
"""Within which a payload is read, and the end of a session kept: some hosts give 1.5 s to that."""
KEEP_BUDGET_S = 5.0
"""Within which any other event is kept. It takes a fraction of a second, if the machine has one."""
ANSWER_BUDGETS_S = {EventKind.SESSION_START: 15.0, EventKind.PROMPT: 15.0, EventKind.TOOL: 2.0}
"""Within which an answer is found, else ``KEEP_BUDGET_S``. Hosts give 30 s and more to the first two.

So long it takes only where much has to be read first, for a search catalog: what is not finished is lost, and the next
prompt would begin anew.
"""
HURRY_BUDGET_S = 2.0
"""The same for a prompt in a session that was told that the memory can't be read: it is not kept waiting each time."""
AGAIN_WITHIN_S = 10
"""Events of one session that are the same, and so close, are one that was told twice."""
_CHUNK_BYTES = 1 << 20
_NO_VAULT = "no-vault"
_HAS_TIMER = hasattr(signal, "setitimer")


class _OverBudgetError(BaseException):
    """The time is over. Not an ``Exception``, so that nothing on the way takes it for its own trouble."""


def run_hook(args: Sequence[str], run_typed: RunTyped, home: str = "", folder: str = "") -> int:
    """Handle one payload and return 0. ``args`` are ``--host NAME`` and ``--vault PATH|NAME``, or none.

    ``run_typed`` runs a command that a person typed as a prompt. ``home`` and the working ``folder`` (both absolute)
    are the process's own where they are not given.
    Prints the answer, if there is one, and at most one line on standard error.
    """
    task = _Task()
    try:
        with _stops_when_over():
            task.begin("nothing kept of this event", BUDGET_S)
            named = dict(zip(args[::2], args[1::2], strict=False))
            data = _read(sys.stdin.buffer)
            place = _Place(home or find_home(), folder or _working_folder(), named.get("--vault"))
            answer = _handle(data, named.get("--host", ""), place, task, run_typed)
        _say(sys.stdout, answer)
    except _OverBudgetError:
        task.fail("too-slow", f"it took more than {task.budget_s:g} s")
    except GitmemError as error:
        if error.code != _NO_VAULT:
            task.fail(error.code, error.message)
    except OSError as error:
        task.fail("system-error", error.strerror or type(error).__name__)
    except BaseException as error:  # noqa: BLE001 - a hook must never stop its host
        task.fail("internal", type(error).__name__)
    return 0


def end_at_once(code: int) -> NoReturn:
    """End the process once what it said is written out, without tidying up its memory."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or nobody reads it any more
            stream.flush()
    os._exit(code)


@dataclass
class _Task:
    """What the hook is at: what is lost if it fails, how long it may take, and who would be told that it failed."""

    lost: str = ""
    budget_s: float = 0
    asked: tuple[Family, Seen, str] | None = None
    """The host, what it told, and the home, empty for one that is not to be touched."""
    has_complained: bool = False

    def begin(self, lost: str, budget_s: float) -> None:
        self.lost, self.budget_s = lost, budget_s
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, budget_s)

    def fail(self, code: str, reason: str) -> None:
        """Say on standard error what is wrong and, once a session, to the model that the memory can't be read."""
        self.complain(f"{self.lost}: {reason}")
        with contextlib.suppress(Exception):
            if self.asked is not None:
                from gitmem.hosts.hooks.answer import tell_failure

                _say(sys.stdout, tell_failure(*self.asked, code))

    def complain(self, reason: str) -> None:
        """Say on standard error what is wrong, if nothing was said yet."""
        if self.has_complained:
            return
        self.has_complained = True
        from gitmem.text import make_visible

        _say(sys.stderr, f"gitmem: {' '.join(make_visible(reason).split())}\n")


class _Place(NamedTuple):
    home: str
    folder: str
    named: str | None


def _handle(data: bytes | None, host: str, place: _Place, task: _Task, run_typed: RunTyped) -> str:
    """Keep what may be kept of the payload ``data`` (``None`` for one that is too large) and return the answer."""
    try:
        payload = parse_payload(data) if data is not None else {}
    except UnreadableError:
        payload = None
    family = find_family(payload, host) if payload else None
    seen = find_seen(payload, family) if payload and family else None
    task.asked = (family, seen, place.home) if family and seen else None
    if not _has_vaults(place.home):
        return ""
    from gitmem.service.capture import count_odd
    from gitmem.wiring import open_vault

    folder = seen.folder if seen is not None and os.path.isdir(seen.folder) else place.folder
    _check_home(place.home, folder, task)
    vault = open_vault(place.home, folder, place.named, only_known=True)
    if seen is not None and family is not None:
        if seen.kind is not EventKind.SESSION_END:
            task.begin(task.lost, KEEP_BUDGET_S)
        fate = _keep(vault, seen, task)
        if is_answered(seen):
            is_tool = seen.kind is EventKind.TOOL
            lost = "the search catalog is behind" if is_tool else "no answer to this event"
            task.begin(lost, _find_budget_s(seen, place.home))
            return _answer(family, seen, vault, task, run_typed, is_again=fate is Fate.AGAIN)
    elif payload is None:
        count_odd(vault, Odd.UNREADABLE)
    elif data is None:
        count_odd(vault, Odd.TOO_LARGE)
    elif family is None or not is_known(payload, family):
        count_odd(vault, Odd.UNKNOWN)
    return ""


def _check_home(home: str, folder: str, task: _Task) -> None:
    try:
        check_home(home, folder)
    except StateError:
        if task.asked is not None:  # nothing is kept in such a home, not even who was told
            task.asked = (*task.asked[:2], "")
        raise


def _has_vaults(home: str) -> bool:
    """Tell whether there is a home with anything in it. Raises ``OSError`` for one that can't be looked into."""
    for name in ("registry.json", "workspaces", "global"):
        try:
            os.lstat(os.path.join(home, name))
        except NotADirectoryError:
            return False
        except FileNotFoundError:
            continue
        return True
    return False


def _find_budget_s(seen: Seen, home: str) -> float:
    if seen.kind is EventKind.PROMPT:
        from gitmem.service.notices import was_told_unavailable

        if was_told_unavailable(home, seen.session):
            return HURRY_BUDGET_S
    return ANSWER_BUDGETS_S.get(seen.kind, KEEP_BUDGET_S)


def _keep(vault: OpenVault, seen: Seen, task: _Task) -> Fate | None:
    """Keep the event; where it can't be kept and an answer can be had all the same, complain and return ``None``."""
    from gitmem.service.capture import count_odd, keep

    try:
        return keep(vault, seen, AGAIN_WITHIN_S)[1]
    except _OverBudgetError:
        count_odd(vault, Odd.FAILED)
        raise
    except (GitmemError, OSError) as error:
        if not is_answered(seen):
            raise
        task.complain(f"{task.lost}: {error}")
    return None


def _answer(family: Family, seen: Seen, vault: OpenVault, task: _Task, run_typed: RunTyped, *, is_again: bool) -> str:
    from gitmem.wiring import make_reader

    with make_reader(vault) as memory:
        answered = find_answer(family, seen, memory, run_typed, is_again=is_again)
    if answered.complaint:
        task.complain(answered.complaint)
    return answered.said


def _read(stream: BinaryIO) -> bytes | None:
    """Return all of ``stream``, ``None`` where it is larger than a payload may be. It is read to its end either way:
    a host that can't write all that it has to say may take that for a failure."""
    parts: list[bytes] = []
    size = 0
    while part := stream.read(_CHUNK_BYTES):
        size += len(part)
        parts = [*parts, part] if size <= MAX_PAYLOAD_BYTES else []
    return b"".join(parts) if size <= MAX_PAYLOAD_BYTES else None


@contextlib.contextmanager
def _stops_when_over() -> Iterator[None]:
    """Raise ``_OverBudgetError`` in the block when a task's time is over, where the platform has a timer."""
    if not _HAS_TIMER:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _OverBudgetError

    signal.signal(signal.SIGALRM, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _say(stream: object, text: str) -> None:
    if text:
        with contextlib.suppress(Exception):
            stream.write(text)  # type: ignore[attr-defined]
            stream.flush()  # type: ignore[attr-defined]
