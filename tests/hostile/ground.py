"""Hostile ground: a vault with something bad in it, gitmem's real command line over it, and a look at what changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gitmem.model.ids import fingerprint

if TYPE_CHECKING:
    from hosts.driving import Gitmem, Result

MAX_SECONDS = 60
_MAX_HASHED_BYTES = 1 << 24
_MEMORY_BYTES = 1 << 30
HUGE_BYTES = 1 << 40
LOCKS = (".git/gitmem/lock", ".git/gitmem/queue/0")

Make = Callable[["Place"], object]

READS = (
    ["search", "One"], ["status"], ["show", "one"], ["check"], ["log"], ["log", "one"], ["links", "one"], ["list"],
    ["doctor"], ["adopt", "--json"], ["--vault", ".", "list"],
)  # fmt: skip
WRITES = (
    ["edit", "one", "--body", "Changed."], ["retire", "one", "--reason", "old"], ["restore", "one"],
    ["check", "--repair-views"], ["init"], ["promote", "one"], ["observe", "Three", "--evidence", "run:1"],
)  # fmt: skip


class Row(NamedTuple):
    """One line of a decision table: the outcome (R, N, D or K), how it is made, and what reading and writing say.

    ``read`` is the status of ``list`` and the codes of its diagnostics, or ``error`` and a code; ``write`` is ``done``
    or the code of the error with which ``observe`` refuses; ``doctor`` the codes of its warnings and errors.
    """

    outcome: str
    make: Make
    read: str
    write: str
    doctor: str = ""


@dataclass(frozen=True)
class Place:
    """The vault's folders and a folder beside them in which nothing may change."""

    home: Path
    outside: Path

    @property
    def repo(self) -> Path:
        return self.home / "global" / "repo"

    @property
    def git(self) -> Path:
        return self.repo / ".git"

    @property
    def runtime(self) -> Path:
        return self.home / "global" / "runtime"


def look(folder: Path) -> dict[str, str]:
    """Return what lies below ``folder``: kind, mode and content of everything, but for the content of the lock."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = str(path.relative_to(folder))
        if not inside.endswith(LOCKS):
            found[inside] = _describe(path)
    return found


def without_leavings(found: dict[str, str]) -> dict[str, str]:
    """Leave out what an operation that was refused may leave behind, and what it may clear away.

    That is objects that nothing refers to (of one that found the branch locked, say), and what waits for late writes.
    """
    return {path: said for path, said in without_waiting(found).items() if not path.startswith(".git/objects/")}


def without_waiting(found: dict[str, str]) -> dict[str, str]:
    """Leave out files that were replaced or taken back and wait for late writes; whoever takes the lock clears them.

    Each is checked to hold the very bytes that its name tells.
    """
    kept = {}
    for path, said in found.items():
        folder, _slash, name = path.rpartition("/")
        if folder == ".git/gitmem/displaced" and name.count(".") >= 3 and said.startswith("100644 "):
            assert said.split()[1:] == [name.partition(".")[0]], path
        else:
            kept[path] = said
    return kept


def _describe(path: Path) -> str:
    info = path.lstat()
    said = f"{info.st_mode:o}"
    if stat.S_ISLNK(info.st_mode):
        return f"{said} {path.readlink()}"
    if not stat.S_ISREG(info.st_mode):
        return said
    if info.st_size > _MAX_HASHED_BYTES:
        return f"{said} {info.st_size} {info.st_mtime_ns}"
    if path.parent.name == "displaced":
        return f"{said} {fingerprint(path.read_bytes())}"
    return f"{said} {hashlib.sha256(path.read_bytes()).hexdigest()}"


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Let the block take neither more than ``MAX_SECONDS`` nor a gigabyte more memory than there is now."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"still not done after {MAX_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    signal.alarm(MAX_SECONDS)
    statm = Path("/proc/self/statm")
    if statm.exists():
        now = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def put(path: Path, content: bytes | str) -> None:
    """Write a file with its folders, in place of whatever is there."""
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}-was-here"))
    else:
        path.unlink(missing_ok=True)


def pipe(path: Path) -> None:
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def socket_at(path: Path) -> None:
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(path, stat.S_IFSOCK | 0o600)


def device(path: Path) -> None:
    clear(path)
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero: reading it never ends
    except PermissionError:
        pytest.skip("only root can make a device")


def folder(path: Path) -> None:
    clear(path)
    path.mkdir(parents=True)


def huge(path: Path) -> None:
    """Make a file that claims a terabyte and holds nothing, keeping its first bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.chmod(0o600)
    with path.open("ab") as file:
        file.truncate(HUGE_BYTES)


def link_outside(path: Path, place: Place) -> None:
    """Move a file or folder outside and put a symbolic link in its place."""
    target = place.outside / path.name
    if path.exists():
        path.rename(target)
    else:
        target.write_text("outside\n")
        path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def row_of(gitmem: Gitmem) -> tuple[str, str]:
    """Return what reading says, and what ``doctor`` finds beside what is ``ok``."""
    document = gitmem("list", "--json").document
    if "error" in document:
        said = f"error {document['error']['code']}"
    else:
        said = " ".join([document["status"], *sorted({problem["code"] for problem in document["diagnostics"]})])
    document = gitmem("doctor", "--json").document
    assert "results" in document, document
    rows = document["results"]
    return said, " ".join(sorted({row["code"] for row in rows if row["severity"] != "ok"}))


def say_write(gitmem: Gitmem, *args: str) -> str:
    document = gitmem(*args, "--json").document
    return str(document["error"]["code"]) if "error" in document else "done"


def assert_told(said: Result) -> None:
    assert "Traceback" not in said.err
    assert "something unexpected happened" not in said.err
