"""The packs of a repository: which there are, a new one put in place, old ones taken away, and who else is at work.

A pack is made in ``gitmem/maintain`` inside Git's common directory, where no reader looks, is flushed and read back
there, and is then renamed into place, its index last: from then on readers find it. One that goes loses its index
first. That folder tells the next run what a kill left of either (``remove_litter``).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping

from gitmem.disk import ensure_folder, flush_folder, open_regular, write_new
from gitmem.errors import IntegrityError
from gitmem.git.kinds import ObjectType
from gitmem.git.library import failures
from gitmem.git.objects import TEMP_PREFIX, object_id_of
from gitmem.git.pack_file import PackIndex, Placed, format_pack_index, load_pack_index
from gitmem.git.repo import Repo
from gitmem.patterns import late
from gitmem.typed import TYPE_CHECKING
from gitmem.values import dataclass

if TYPE_CHECKING:
    import pygit2

WORK_FOLDER = ("gitmem", "maintain")
NEW_PACK = "new.pack"
NEW_GRAPH = "commit-graph.new"
"""The names, in that folder, of a pack and of a commit graph that are being written."""
GIT_WORK_S = 600.0
"""How long a temporary pack of Git's that nobody writes to any more is taken for one under way."""
GC_S = 12 * 3600.0
"""Git's own bound: a ``gc.pid`` older than this is stale."""
_PACK_NAME = late(r"(pack-[0-9a-f]{40})\.idx")
_OWN_NAME = late(r"(pack-[0-9a-f]{40})\.(pack|idx|replaced)")
_COMPANIONS = (".keep", ".promisor", ".mtimes", ".bitmap")
SAMPLE = ("17", "37", "57", "77", "97", "b7", "d7", "f7")
_MULTI_INDEX = "multi-pack-index"
_PACK_MODE = 0o444
Probe = Callable[[str], None]


@dataclass(frozen=True)
class Pack:
    """One pack by its name (``pack-`` and 40 digits). ``reason`` says why it must not be merged, empty when it may."""

    name: str
    size_bytes: int
    index: PackIndex
    reason: str = ""


def pack_folder(repo: Repo) -> str:
    """Return where the packs lie."""
    return os.path.join(repo.objects_dir, "pack")


def work_folder(repo: Repo) -> str:
    """Return where packs are made; libgit2 finds them in the folder ``pack`` inside."""
    return os.path.join(repo.common_dir, *WORK_FOLDER)


def list_packs(repo: Repo) -> list[Pack]:
    """Return the packs that have an index, by name. One that can't be read has an empty index and a reason."""
    folder = pack_folder(repo)
    names = _names(folder)
    all_stay = f"{_MULTI_INDEX} covers the packs" if _MULTI_INDEX in names else ""
    packs = []
    for name in sorted(found[1] for one in names if (found := _PACK_NAME.fullmatch(one))):
        reason = all_stay or next((f"it has a {one} file" for one in _COMPANIONS if name + one in names), "")
        try:
            size = os.stat(os.path.join(folder, f"{name}.pack")).st_size
            index = load_pack_index(os.path.join(folder, f"{name}.idx"))
        except (OSError, ValueError) as error:
            size, index, reason = 0, PackIndex(), f"it can't be read: {error}"
        packs.append(Pack(name, size, index, reason))
    return packs


def install_pack(repo: Repo, placed: Mapping[bytes, Placed], checksum: bytes, probe: Probe) -> str:
    """Put the pack that was written as ``new_pack_path`` into place; return its name.

    It was flushed by its writer; here its index is written, both are read back, and their names flushed. Raises
    ``IntegrityError`` (``pack-not-proved``) with nothing in place, and what the disk raises.
    """
    name = f"pack-{checksum.hex()}"
    work, target = os.path.join(work_folder(repo), "pack"), pack_folder(repo)
    os.replace(new_pack_path(repo), os.path.join(work, f"{name}.pack"))
    write_new(os.path.join(work, f"{name}.idx"), format_pack_index(placed, checksum), _PACK_MODE)
    probe("maintain-verify")
    verify_pack(work_folder(repo), placed)
    probe("maintain-place")
    ensure_folder(target, 0o777)
    if os.path.exists(os.path.join(target, f"{name}.idx")):  # the very same bytes, made and lost before
        for ending in (".pack", ".idx"):
            os.unlink(os.path.join(work, name + ending))
        flush_folder(target)
        return name
    os.replace(os.path.join(work, f"{name}.pack"), os.path.join(target, f"{name}.pack"))
    probe("maintain-place-index")
    os.replace(os.path.join(work, f"{name}.idx"), os.path.join(target, f"{name}.idx"))
    flush_folder(target)
    return name


def new_pack_path(repo: Repo) -> str:
    """Return the name under which a new pack is written; makes its folder and clears it."""
    folder = os.path.join(work_folder(repo), "pack")
    ensure_folder(folder)
    return os.path.join(folder, NEW_PACK)


def verify_pack(objects_dir: str, wanted: Mapping[bytes, object]) -> None:
    """Read every object of ``wanted`` from the packs in ``objects_dir`` alone and compare it with its id.

    Read by libgit2, which had no part in writing them. Raises ``IntegrityError`` (``pack-not-proved``).
    """
    import pygit2

    try:
        found = open_packs(objects_dir)
        for raw_id in wanted:
            kind, data = found.read(pygit2.Oid(raw=raw_id))
            if object_id_of(ObjectType(kind), data) != raw_id.hex():
                raise ValueError(f"{raw_id.hex()} reads as something else")
    except failures() as error:
        raise IntegrityError(
            "pack-not-proved",
            f"the new pack does not read back: {error}",
            "Nothing was removed. Check the disk, and run `git fsck` in the vault.",
        ) from error


def open_packs(objects_dir: str) -> pygit2.Odb:
    """Return libgit2's view of the packs in ``objects_dir`` alone, without loose objects."""
    import pygit2

    found = pygit2.Odb()
    found.add_backend(pygit2.OdbBackendPack(objects_dir), 1)
    return found


def replace_packs(repo: Repo, names: list[str], by: str, probe: Probe) -> None:
    """Remove packs whose objects all lie in the pack ``by``, which is in place. What a kill leaves of them,
    ``remove_litter`` completes: it knows them by notes that are made before the first one goes.
    """
    work = os.path.join(work_folder(repo), "pack")
    for name in names:
        write_new(os.path.join(work, f"{name}.replaced"), by.encode())
    flush_folder(work)
    for name in names:
        probe("maintain-remove-pack")
        _remove_replaced(repo, name, probe)


def remove_litter(repo: Repo) -> int:
    """Remove what kills left of gitmem's own: half-made packs, packs that were replaced, temporary files.

    Under the vault lock only. Returns how many files went.
    """
    removed = 0
    for name in [one for one in _names(repo.objects_dir) if one.startswith(TEMP_PREFIX)]:
        removed += _unlink(os.path.join(repo.objects_dir, name))
    removed += _unlink(os.path.join(work_folder(repo), NEW_GRAPH))
    work = os.path.join(work_folder(repo), "pack")
    for name in sorted(_names(work), key=lambda one: one.endswith(".idx")):
        path, own = os.path.join(work, name), _OWN_NAME.fullmatch(name)
        if own is not None and own[2] == "idx":
            removed += _remove_without_index(pack_folder(repo), own[1])
        if own is not None and own[2] == "replaced" and _is_in_place(repo, path):
            removed += _remove_replaced(repo, own[1], lambda _step: None)
        elif own is not None or name == NEW_PACK:
            removed += _unlink(path)
    return removed


def _is_in_place(repo: Repo, note: str) -> bool:
    """Tell whether the pack that a note on a replaced one names is there."""
    with open_regular(note) as file:
        by = file.read(64).decode("ascii", "replace")
    return _PACK_NAME.fullmatch(f"{by}.idx") is not None and os.path.exists(
        os.path.join(pack_folder(repo), f"{by}.idx")
    )


def _remove_replaced(repo: Repo, name: str, probe: Probe) -> int:
    folder = pack_folder(repo)
    removed = _unlink(os.path.join(folder, f"{name}.idx"))
    probe("maintain-remove-rest")
    removed += _remove_without_index(folder, name)
    return removed + _unlink(os.path.join(work_folder(repo), "pack", f"{name}.replaced"))


def find_git_at_work(repo: Repo, now_ns: int) -> str:
    """Return what program seems to be packing the repository right now, empty when none does.

    A ``gc.pid`` counts while its process lives (on another machine: for 12 hours), a temporary pack of Git's for ten
    minutes after the last write to it.
    """
    pid_file = os.path.join(repo.common_dir, "gc.pid")
    try:
        with open_regular(pid_file) as file:
            pid, _blank, host = file.read(512).decode("utf-8", "replace").strip().partition(" ")
        is_young = now_ns - os.stat(pid_file).st_mtime_ns < GC_S * 10**9
        is_dead = host == platform.node() and os.name != "nt" and not _is_alive(pid)
        if is_young and not is_dead:
            return f"a git gc is under way (process {pid or 'unknown'}; gc.pid)"
    except OSError:
        pass
    for name in _names(pack_folder(repo)):
        if name.startswith(("tmp_pack_", "tmp_idx_", ".tmp-")):
            with contextlib.suppress(OSError):
                if now_ns - os.stat(os.path.join(pack_folder(repo), name)).st_mtime_ns < GIT_WORK_S * 10**9:
                    return f"Git seems to be writing a pack ({name})"
    return ""


def read_pack(repo: Repo, pack: Pack) -> bytes:
    """Return a pack's bytes, checked against their checksum. Raises ``ValueError``, and what the disk raises."""
    with open_regular(os.path.join(pack_folder(repo), f"{pack.name}.pack")) as file:
        data = file.read()
    if hashlib.sha1(memoryview(data)[:-20], usedforsecurity=False).digest() != data[-20:]:
        raise ValueError("its checksum is wrong")
    return data


def iter_loose(repo: Repo) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the id and the file's facts of every loose object, sound or not."""
    for folder in sorted(name for name in _names(repo.objects_dir) if re.fullmatch("[0-9a-f]{2}", name)):
        place = os.path.join(repo.objects_dir, folder)
        if os.path.islink(place):  # what lies there belongs to somebody else, and would go when it is packed here
            continue
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(place) as entries:
            for entry in entries:
                if re.fullmatch("[0-9a-f]{38}", entry.name) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        yield folder + entry.name, entry.stat(follow_symlinks=False)


def count_loose(repo: Repo) -> int:
    """Return about how many loose objects there are: ids are spread evenly, so a few folders of 256 tell."""
    found = sum(len(_names(os.path.join(repo.objects_dir, folder))) for folder in SAMPLE)
    return found * 256 // len(SAMPLE)


def count_packs(repo: Repo) -> int:
    """Return how many packs have an index; looks at names alone."""
    return sum(_PACK_NAME.fullmatch(name) is not None for name in _names(pack_folder(repo)))


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove_without_index(folder: str, name: str) -> int:
    """Remove the files of a pack that has no index, so that nobody reads it; return how many went."""
    if os.path.exists(os.path.join(folder, f"{name}.idx")):
        return 0
    return sum(_unlink(os.path.join(folder, name + ending)) for ending in (".pack", ".rev"))


def _unlink(path: str) -> int:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return 0
    return 1


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
