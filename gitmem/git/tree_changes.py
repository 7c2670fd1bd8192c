"""What a commit changed, folders included: which object took the place of which, path by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.git.objects import Entry, RawTree, is_folder
from gitmem.typed import NamedTuple

ReadTree = Callable[[str], RawTree]


class TreeChange(NamedTuple):
    """One path (as Git's bytes) in two trees; an id is ``None`` where nothing, or a thing of another kind, is."""

    path: bytes
    old: str | None
    new: str | None
    folder: bool


def iter_tree_changes(read_tree: ReadTree, old: str | None, new: str | None) -> Iterator[TreeChange]:
    """Yield every path that differs between two trees, folders before what is in them; the roots have an empty path.

    ``None`` is the empty tree. Only folders whose ids differ are read. A path that turned from a file into a folder is
    yielded twice. Raises what ``read_tree`` raises.
    """
    waiting: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while waiting:
        path, old_id, new_id = waiting.pop()
        yield TreeChange(path, old_id, new_id, folder=True)
        before = read_tree(old_id) if old_id else {}
        after = read_tree(new_id) if new_id else {}
        prefix = path + b"/" if path else b""
        for name in {name for name, _entry in before.items() ^ after.items()}:
            was, now = before.get(name), after.get(name)
            if is_folder(was) or is_folder(now):
                waiting.append((prefix + name, _id_if(was, folder=True), _id_if(now, folder=True)))
            files = (_id_if(was, folder=False), _id_if(now, folder=False))
            if any(files):
                yield TreeChange(prefix + name, *files, folder=False)


def _id_if(entry: Entry | None, *, folder: bool) -> str | None:
    return entry[1].hex() if entry is not None and is_folder(entry) is folder else None
