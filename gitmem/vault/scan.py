"""What lies in the lifecycle folders of a vault: one metadata scan, and reading a file that someone may be writing.

Reads only; follows no symbolic link below the vault's root. A *signature* (change time, size, inode) only decides what
to reread; it never proves what a file holds.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from gitmem.clock import Clock
from gitmem.errors import GitmemError, InputError, StateError
from gitmem.model.ids import Fingerprint
from gitmem.model.record import FOLDERS, Problem
from gitmem.model.settings import vault_missing
from gitmem.model.vault_path import MAX_DEPTH
from gitmem.patterns import late
from gitmem.typed import Self
from gitmem.values import dataclass, field
from gitmem.vault.folder import Folder, by_write_time

MAX_NOTE_BYTES = 1024 * 1024
"""The largest file that is read as a note."""
FRESH_NS = 100_000_000
"""How long after its last change a file may still be in the middle of being written: 100 ms."""
SETTLED_NS = 3_000_000_000
"""How long a folder must not have changed before its own times are relied on: 3 s, more than the 2 s of FAT."""
SIGNATURE_FIELDS = 3
"""How many 64-bit numbers one signature has: change time in nanoseconds, size in bytes, inode."""

_FIRST_GAP_S = 0.001
_TYPE_BITS = 0o170000
_REGULAR = stat.S_IFREG
_SIGNATURE = struct.Struct(f"={SIGNATURE_FIELDS}q")
_MASK_64 = 0x7FFF_FFFF_FFFF_FFFF
# Syncthing, Dropbox and its kin, Obsidian Sync, obsidian-git: what to look for in all names at once, then in each.
_CONFLICT_MARKS = (".sync-conflict-", "onflicted copy", "conflict-files-obsidian-git.md")
_CONFLICT_COPY = late(
    r"\.sync-conflict-[^/]*\.md|\([^/)]*[Cc]onflicted copy[^/)]*\)[^/]*\.md|conflict-files-obsidian-git\.md"
)


@dataclass(frozen=True)
class FolderScan:
    """The notes directly in one folder.

    ``names`` holds their file names in order, joined by ``/``, which no name can contain. ``signatures`` holds
    ``SIGNATURE_FIELDS`` native 64-bit numbers for each, in the same order. Two scans are equal exactly when no
    signature differs, so an unchanged folder costs one comparison of two strings.
    """

    names: str
    signatures: bytes

    def decode(self) -> dict[str, bytes]:
        """Return the signature of each file by name."""
        step = SIGNATURE_FIELDS * 8
        names = self.names.split("/") if self.names else []
        return {name: self.signatures[i * step : (i + 1) * step] for i, name in enumerate(names)}


@dataclass(frozen=True)
class Look:
    """What one look at a folder found beside its notes.

    ``stamp`` is the folder's own change time, inode and device, packed as signatures are; a folder that has it still
    holds the same names. It is empty where it can't be relied on: the folder changed just before, or could not be read.
    """

    stamp: bytes
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Scan:
    """One look at all lifecycle folders.

    ``folders`` maps each folder with notes in it (``observations/2026-11``) to its notes. ``problems`` lists what lies
    there but is not read: symbolic links, special files, names that can't be kept, copies made by file
    synchronisers. ``time_ns`` is when the scan began. ``looks`` has every folder that was gone through, also those
    without notes; ``looked_at`` counts the notes whose metadata were read.

    A scan by folders' times (``vault.folder_times``) goes through some of them only: ``kept`` names the others, which
    are as they were known to be, ``partial`` those of ``folders`` in which only some notes were looked at.
    """

    time_ns: int
    folders: dict[str, FolderScan]
    problems: tuple[Problem, ...]
    looks: dict[str, Look] = field(default_factory=dict)
    looked_at: int = 0
    kept: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()


def content_signature(content: Fingerprint) -> bytes:
    """Return the signature of a file that is known by its content: one in a commit. It is never a fresh one."""
    return bytes(8) + bytes.fromhex(content)[: (SIGNATURE_FIELDS - 1) * 8]


def scan_records(root: str, clock: Clock, trust: Callable[[str], Sequence[str] | None] = lambda _folder: None) -> Scan:
    """Look once at the metadata of every note in the lifecycle folders of the vault's work tree at ``root``.

    Reads no file. Files whose name starts with a dot or does not end in ``.md`` are no notes and left out; a missing
    lifecycle folder counts as empty; what vanishes meanwhile is left out. ``trust(folder)`` may return the subfolders
    of a folder that needs no look. Raises ``UnavailableError`` (``vault-missing``) where ``root`` is no folder.
    """
    time_ns = clock.time_ns()
    if not os.path.isdir(root):
        raise vault_missing(root)
    folders: dict[str, FolderScan] = {}
    looks: dict[str, Look] = {}
    kept: set[str] = set()
    problems: list[Problem] = []
    waiting = [folder for folder in FOLDERS if _is_there(root, folder, problems)]
    while waiting:
        folder = waiting.pop()
        inner = trust(folder)
        if inner is not None:
            kept.add(folder)
            waiting += inner
            continue
        found, looks[folder], names = look_at_folder(root, folder, time_ns)
        problems += looks[folder].problems
        if found.names:
            folders[folder] = found
        waiting += [f"{folder}/{name}" for name in names]
    return Scan(time_ns, folders, sort_problems(problems), looks, count_notes(folders), frozenset(kept))


def look_at_folder(root: str, folder: str, time_ns: int) -> tuple[FolderScan, Look, list[str]]:
    """Return the notes of one folder, what else was found, and the names of its subfolders. Never raises ``OSError``.

    ``time_ns`` is the present: the folder's stamp is relied on only if it is older than that by ``SETTLED_NS``.
    """
    problems: list[Problem] = []
    if folder.count("/") + 2 > MAX_DEPTH:
        told = Problem("too-deep", f"folders are read to a depth of {MAX_DEPTH - 1}", folder)
        return FolderScan("", b""), Look(b"", (told,)), []
    try:
        with Folder(root, folder) as opened:
            stamp = pack_stamp(opened.stat())  # before its names: what comes in between gives it another time
            found, inner = _scan_folder(opened, folder, problems)
    except OSError as error:
        told = Problem("folder-unreadable", f"the folder can't be read: {error.strerror}", folder)
        return FolderScan("", b""), Look(b"", (told,)), []
    is_settled = unpack_time(stamp) < time_ns - SETTLED_NS
    return found, Look(stamp if is_settled else b"", tuple(problems)), inner


def pack_stamp(entry: os.stat_result) -> bytes:
    """Return what tells whether a folder has changed: its change time, inode and device."""
    entry = by_write_time(entry)
    return _pack((entry.st_ctime_ns, entry.st_ino, entry.st_dev))


def pack_signature(entry: os.stat_result) -> bytes:
    """Return the signature of one file, as a scan finds it."""
    entry = by_write_time(entry)
    return _SIGNATURE.pack(entry.st_ctime_ns, entry.st_size, entry.st_ino & _MASK_64)


def unpack_time(packed: bytes) -> int:
    """Return the change time in nanoseconds that a signature or a stamp begins with."""
    return int.from_bytes(packed[:8], sys.byteorder, signed=True)


def count_notes(folders: dict[str, FolderScan]) -> int:
    """Return how many notes the folders hold together."""
    return sum(len(found.signatures) for found in folders.values()) // (SIGNATURE_FIELDS * 8)


def sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return ``problems`` by path."""
    return tuple(sorted(problems, key=lambda problem: problem.path))


class StableReader:
    """Reads notes of one vault, each as a whole even while another program writes it.

    Use it as a context manager and call it with a path below the root, ``/`` between parts. It holds the folder of the
    last path open, so paths are best given folder by folder. All waits of one reader together last at most
    ``max_wait_s``.
    """

    def __init__(self, root: str, clock: Clock, max_wait_s: float = 1.0) -> None:
        self._root = root
        self._clock = clock
        self._left_s = max_wait_s
        self._path = ""
        self._folder: Folder | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def __call__(self, path: str) -> bytes:
        """Return the bytes of the note at ``path``.

        A file changed within the last 100 ms, or while it was read, is read again until two reads agree. Raises
        ``StateError`` (``unstable``) where they don't in the time that is left, or where the file goes away;
        ``StateError`` (``unreadable``); ``InputError`` (``not-a-file`` for links and special files, ``too-large``
        above ``MAX_NOTE_BYTES``).
        """
        data, is_settled = self._read(path)
        gap_s = _FIRST_GAP_S
        while not is_settled:
            wait_s = min(gap_s, self._left_s)
            self._left_s -= wait_s
            self._clock.sleep_s(wait_s)
            again, is_settled = self._read(path)
            if again == data:
                return data
            if self._left_s <= 0:
                raise StateError("unstable", f"{path} keeps changing", "Ask again when it is written.", path=path)
            data = again
            gap_s *= 2
        return data

    def _read(self, path: str) -> tuple[bytes, bool]:
        parent, _slash, name = path.rpartition("/")
        try:
            return _read_file(self._open(parent), name, self._clock.time_ns())
        except OSError as error:
            raise _explain(error, path) from error
        except InputError as error:
            error.fields["path"] = path
            raise

    def _open(self, parent: str) -> Folder:
        if self._folder is None or self._path != parent:
            self._close()
            self._folder = Folder(self._root, parent)
            self._path = parent
        return self._folder

    def _close(self) -> None:
        if self._folder:
            self._folder.close()
            self._folder = None


def read_stable(root: str, path: str, clock: Clock, max_wait_s: float = 1.0) -> bytes:
    """Return the bytes of one note at ``path`` below ``root``; see ``StableReader`` for bounds and errors."""
    with StableReader(root, clock, max_wait_s) as read:
        return read(path)


def _is_there(root: str, folder: str, problems: list[Problem]) -> bool:
    try:
        mode = os.lstat(os.path.join(root, folder)).st_mode
    except OSError:
        return False
    if stat.S_ISDIR(mode):
        return True
    problems.append(_find_odd(mode, folder))
    return False


def _scan_folder(opened: Folder, folder: str, problems: list[Problem]) -> tuple[FolderScan, list[str]]:
    listed = opened.names()
    notes = [name for name in listed if name.endswith(".md")]
    others = (
        [name for name in listed if not name.endswith(".md") and name[0] != "."] if len(notes) < len(listed) else []
    )
    joined = "/".join(notes)
    if not _are_plain(joined):
        notes = [name for name in notes if is_note(name, folder, problems)]
        joined = "/".join(notes)
    signatures, odd = _measure(notes, opened)
    if odd:
        joined = "/".join(name for name in notes if name not in odd)
        odd = {name: mode for name, mode in odd.items() if mode}
    odd |= {name: mode for name, mode in _find_modes(others, opened) if not stat.S_ISREG(mode)}
    problems += [_find_odd(mode, _show(f"{folder}/{name}")) for name, mode in odd.items() if not stat.S_ISDIR(mode)]
    return FolderScan(joined, signatures), [name for name, mode in odd.items() if stat.S_ISDIR(mode)]


def _measure(names: list[str], folder: Folder) -> tuple[bytes, dict[str, int]]:
    """Return the packed signatures of the regular files, and the mode of everything else (0 for what is gone)."""
    # This loop is most of what an unchanged vault costs; a tuple that dies at once and the fields by position are the
    # quickest of the forms that were measured.
    lstat, fd = folder.lstat, folder.fd
    flat: list[int] = []
    odd: dict[str, int] = {}
    for name in names:
        try:
            entry = lstat(name, dir_fd=fd)
        except OSError:
            odd[name] = 0
            continue
        if entry[0] & _TYPE_BITS != _REGULAR:
            odd[name] = entry[0]
            continue
        flat += (entry.st_ctime_ns, entry[6], entry[1])
    try:
        return array("q", flat).tobytes(), odd
    except OverflowError:
        return _pack(flat), odd


def _pack(numbers: Iterable[int]) -> bytes:
    """Return signed 64-bit numbers; inode and device numbers of some file systems use the sign bit or more."""
    return array("q", [number & _MASK_64 for number in numbers]).tobytes()


def _find_modes(names: list[str], folder: Folder) -> list[tuple[str, int]]:
    modes = []
    for name in names:
        try:
            modes.append((name, folder.lstat(name, dir_fd=folder.fd).st_mode))
        except OSError:
            continue
    return modes


def is_conflict_copy(name: str) -> bool:
    """Tell whether a file is named as a sync program names the copy of a note that it puts aside in a conflict."""
    return _CONFLICT_COPY.search(name) is not None


def _are_plain(joined: str) -> bool:
    """Tell whether no name among ``joined`` is a dot file, a conflict copy or not text, in one pass over all."""
    if joined.startswith(".") or "/." in joined or not _is_text(joined):
        return False
    return not any(mark in joined for mark in _CONFLICT_MARKS)


def is_note(name: str, folder: str, problems: list[Problem]) -> bool:
    """Tell whether a file whose ``name`` ends in ``.md`` is read as a note; what hides one is put into ``problems``."""
    if name.startswith("."):
        return False
    if not _is_text(name):
        problems.append(Problem("bad-path", "its name is not valid UTF-8", _show(f"{folder}/{name}")))
        return False
    if is_conflict_copy(name):
        problems.append(Problem("sync-conflict", "a copy that a file synchroniser put aside", f"{folder}/{name}"))
        return False
    return True


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _show(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def _find_odd(mode: int, path: str) -> Problem:
    if stat.S_ISLNK(mode):
        return Problem("symlink", "symbolic links are not followed", path)
    return Problem("special-file", "neither a file nor a folder", path)


def _read_file(folder: Folder, name: str, now_ns: int) -> tuple[bytes, bool]:
    """Return what the file holds, and whether that is settled: unchanged while it was read and for 100 ms before."""
    fd = folder.open(name)
    try:
        before = by_write_time(os.fstat(fd))
        if not stat.S_ISREG(before.st_mode):
            raise InputError("not-a-file", "not a regular file", "Put a file in its place.")
        if before.st_size > MAX_NOTE_BYTES:
            raise InputError(
                "too-large", f"{before.st_size} bytes, more than {MAX_NOTE_BYTES}", "Split it into several notes."
            )
        data = os.read(fd, before.st_size + 1)
        after = by_write_time(os.fstat(fd))
    finally:
        os.close(fd)
    is_whole = len(data) == after.st_size and after.st_ctime_ns == before.st_ctime_ns
    return data, is_whole and now_ns - after.st_ctime_ns > FRESH_NS


def _explain(error: OSError, path: str) -> GitmemError:
    if isinstance(error, FileNotFoundError):
        return StateError("unstable", f"{path} went away while it was read", "Ask again.", path=path)
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
        return InputError("not-a-file", f"{path} is not a regular file", "Put a file in its place.", path=path)
    return StateError("unreadable", f"{path} can't be read: {error.strerror}", "Look at its permissions.", path=path)
