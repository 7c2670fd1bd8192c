"""Run work in a child process and meddle with its n-th mutating system call: kill, fail, tear, interrupt.

A seccomp filter stops the child at calls that change files and at no others, so tracing costs little; of these, the
calls that touch the folder under test are counted, whatever their name. So "for ever" can mean what it means on a
machine: from one moment on nothing can be written, while reading works. Linux on x86-64.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_TRACEME, _CONT, _GETREGS, _SETREGS, _SYSCALL = 0, 7, 12, 13, 24
_SETOPTIONS = 0x4200
_OPTIONS = 0x80 | 0x10 | 0x8 | 0x100000  # seccomp stops, clones followed, ends with its tracer
_OPTIONS |= 0x1  # system-call stops are told from signals
_SECCOMP_STOP = signal.SIGTRAP | (7 << 8)
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_RET_TRACE, _RET_ALLOW = 0x7FF00000, 0x7FFF0000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_WALL = 0x40000000
_AT_FDCWD = 0xFFFFFF9C
_AT_REMOVEDIR = 0x200
_MMAP_THRESHOLD = -3

# name: (number, where its file is named: fd argument, or (folder fd argument or None, path argument))
_CALLS: dict[str, tuple[int, Any]] = {
    "write": (1, 0),
    "open": (2, (None, 0)),
    "pwrite64": (18, 0),
    "writev": (20, 0),
    "sendfile": (40, 0),
    "fsync": (74, 0),
    "fdatasync": (75, 0),
    "truncate": (76, (None, 0)),
    "ftruncate": (77, 0),
    "rename": (82, (None, 1)),
    "mkdir": (83, (None, 0)),
    "rmdir": (84, (None, 0)),
    "creat": (85, (None, 0)),
    "link": (86, (None, 1)),
    "unlink": (87, (None, 0)),
    "symlink": (88, (None, 1)),
    "chmod": (90, (None, 0)),
    "fchmod": (91, 0),
    "openat": (257, (0, 1)),
    "mkdirat": (258, (0, 1)),
    "unlinkat": (263, (0, 1)),
    "renameat": (264, (2, 3)),
    "linkat": (265, (2, 3)),
    "symlinkat": (266, (1, 2)),
    "fchmodat": (268, (0, 1)),
    "utimensat": (280, (0, 1)),
    "fallocate": (285, 0),
    "pwritev": (296, 0),
    "renameat2": (316, (2, 3)),
    "copy_file_range": (326, 2),
}
_NAMES = {number: name for name, (number, _where) in _CALLS.items()}
_OPEN_FLAGS = {"open": 1, "openat": 2}
_WRITES = ("write", "pwrite64")
_REGS = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi"),
    *("orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs"),
)
_ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")


class _Regs(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulong) for name in _REGS]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

ERRORS = ("EIO", "ENOSPC", "EACCES", "EROFS")
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM}
FAULTS = (
    *("KILL", "TORN", "INT"),
    *(f"{name}{ever}" for name in ERRORS for ever in ("", "+")),
    "NOMEM",
)
"""``KILL`` before the call; ``TORN``: half of a write, then killed; ``INT``: a signal as of Control-C before the call;
``EIO`` …: the call fails, with ``+`` and every later one; ``NOMEM``: no more memory is to be had from there on."""


@dataclass
class Run:
    """What came of traced work: its mutating calls, whether the fault was met, and what the child said at its end.

    ``said`` is ``None`` for a child that was killed, or became another program. ``code`` is its exit code, below 0 the
    signal that ended it.
    """

    calls: list[str] = field(default_factory=list)
    is_hit: bool = False
    said: dict[str, Any] | None = None
    code: int = 0


def why_not() -> str | None:
    """Return why nothing can be traced here, ``None`` when it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the fault tracer knows Linux on x86-64"
    probe = os.path.realpath(f"/tmp/gitmem-probe-{os.getpid()}")
    try:
        run = run_traced(lambda: os.mkdir(probe), os.path.dirname(probe), ("ENOSPC", 1))
    except OSError as error:
        return f"this machine lets nobody trace a process: {error}"
    finally:
        if os.path.isdir(probe):
            os.rmdir(probe)
    done = run.is_hit and run.said is not None and "No space" in str(run.said.get("message"))
    return None if done else "this machine's kernel does not do what the fault tracer needs"


def run_traced(work: Callable[[], Any], folder: str, fault: tuple[str, int] | None = None) -> Run:
    """Do ``work`` in a child; meet its n-th mutating call within ``folder`` with a fault, ``(kind, n)``, n from 1.

    ``work`` returns what the child says at its end, as far as JSON knows it; what it raises is said as ``raised``
    (the class), ``message`` and, for an error of gitmem's, ``code`` and ``hint``.
    """
    reading, writing = os.pipe()  # closed where the child becomes another program
    pid = os.fork()
    if pid == 0:
        _be_child(work, reading, writing, is_short=fault is not None and fault[0] == "NOMEM")
    os.close(writing)
    run = Run()
    try:
        _trace(pid, folder, fault, run)
        with open(reading, "rb") as pipe:
            said = pipe.read()
        run.said = json.loads(said) if said else None
    finally:
        _reap(pid)
    return run


def _be_child(work: Callable[[], Any], reading: int, writing: int, *, is_short: bool) -> None:
    try:
        os.close(reading)
        if is_short:  # the heap asks the kernel for all but the smallest pieces, so that a limit is felt
            _libc.mallopt(_MMAP_THRESHOLD, 1024)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        program = _make_filter()
        if _libc.ptrace(_TRACEME, 0, None, None):
            os._exit(99)
        os.kill(os.getpid(), signal.SIGSTOP)
        _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        if _libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
            os._exit(98)
        try:
            said = {"returned": work()}
        except BaseException as error:
            said = _describe(error)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    finally:
        os._exit(97)


def _describe(error: BaseException) -> dict[str, Any]:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return {
        "raised": type(error).__name__,
        "message": str(error),
        "code": getattr(error, "code", None),
        "hint": getattr(error, "hint", ""),
        "where": [f"{os.path.basename(one.filename)}:{one.lineno} {one.name}" for one in frames[-6:]],
    }


_KEPT: list[Any] = []


def _make_filter() -> _Program:
    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    load, equal, any_bit, give = 0x20, 0x15, 0x45, 0x06
    steps = [step(load, 0, 0, 0)]
    for name, (number, _where) in _CALLS.items():
        if name in _OPEN_FLAGS:
            steps += [
                step(equal, 0, 4, number),
                step(load, 0, 0, 16 + 8 * _OPEN_FLAGS[name]),
                step(any_bit, 0, 1, _WRITING),
                step(give, 0, 0, _RET_TRACE),
                step(give, 0, 0, _RET_ALLOW),
            ]
        else:
            steps += [step(equal, 0, 1, number), step(give, 0, 0, _RET_TRACE)]
    steps.append(step(give, 0, 0, _RET_ALLOW))
    data = ctypes.create_string_buffer(b"".join(steps))
    _KEPT.append(data)
    return _Program(len(steps), ctypes.cast(data, ctypes.c_void_p))


def _ptrace(request: int, pid: int, address: Any = None, data: Any = None) -> None:
    if _libc.ptrace(request, pid, address, data) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _trace(pid: int, folder: str, fault: tuple[str, int] | None, run: Run) -> None:
    _pid, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise OSError(errno.EPERM, "the child could not be traced")
    _ptrace(_SETOPTIONS, pid, None, _OPTIONS)
    _ptrace(_CONT, pid)
    while True:
        who, status = os.waitpid(-1, _WALL)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if who == pid:
                run.code = os.waitstatus_to_exitcode(status)
                return
            continue
        stopped = status >> 8
        try:
            if stopped == _SECCOMP_STOP:
                _meet(who, folder, fault, run)
            else:
                is_ours = stopped & 0x7F in (signal.SIGTRAP, signal.SIGSTOP)
                _ptrace(_CONT, who, None, 0 if is_ours else stopped & 0x7F)
        except ProcessLookupError:
            continue


def _meet(pid: int, folder: str, fault: tuple[str, int] | None, run: Run) -> None:
    """Decide about one system call at whose door the child stands."""
    regs = _Regs()
    _ptrace(_GETREGS, pid, None, ctypes.addressof(regs))
    name = _NAMES[regs.orig_rax]
    path = _path_of(pid, name, regs)
    if not path.startswith(folder):
        _ptrace(_CONT, pid)
        return
    if name == "unlinkat" and regs.rdx & _AT_REMOVEDIR:
        name = "rmdir"
    run.calls.append(f"{name} {path[len(folder) :]}")
    kind, number = fault or ("", 0)
    count = len(run.calls)
    is_now = count == number or (count > number and kind.endswith("+"))
    if not fault or not is_now:
        _ptrace(_CONT, pid)
        return
    run.is_hit = True
    if kind == "KILL":
        os.kill(pid, signal.SIGKILL)
    elif kind == "TORN":
        _tear(pid, name, regs)
    elif kind in SIGNALS:
        os.kill(pid, SIGNALS[kind])
        _ptrace(_CONT, pid)
    elif kind == "NOMEM":
        with open(f"/proc/{pid}/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
        _ptrace(_CONT, pid)
    else:
        regs.orig_rax = ctypes.c_ulong(-1).value
        regs.rax = ctypes.c_ulong(-getattr(errno, kind.rstrip("+"))).value
        _ptrace(_SETREGS, pid, None, ctypes.addressof(regs))
        _ptrace(_CONT, pid)


def _tear(pid: int, name: str, regs: _Regs) -> None:
    """Let half of a write happen, then kill."""
    if name in _WRITES:
        regs.rdx //= 2
        _ptrace(_SETREGS, pid, None, ctypes.addressof(regs))
        _ptrace(_SYSCALL, pid)
        os.waitpid(pid, _WALL)
    os.kill(pid, signal.SIGKILL)


def _path_of(pid: int, name: str, regs: _Regs) -> str:
    where = _CALLS[name][1]
    if isinstance(where, int):
        return _link(f"/proc/{pid}/fd/{getattr(regs, _ARGUMENTS[where])}")
    folder, number = where
    path = os.fsdecode(_read_string(pid, getattr(regs, _ARGUMENTS[number])))
    if path.startswith("/"):
        return path
    fd = _AT_FDCWD if folder is None else getattr(regs, _ARGUMENTS[folder]) & 0xFFFFFFFF
    base = _link(f"/proc/{pid}/cwd" if fd == _AT_FDCWD else f"/proc/{pid}/fd/{fd}")
    return os.path.join(base, path)


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _read_string(pid: int, address: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        data = b""
        while b"\0" not in data:
            more = memory.read(256 if (address + len(data)) % 4096 <= 4096 - 256 else 1)
            if not more:
                break
            data += more
    return data.split(b"\0")[0]


def _reap(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        while True:
            os.waitpid(-1, _WALL)
    except (ProcessLookupError, ChildProcessError):
        return
