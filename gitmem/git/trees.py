"""Blobs and trees of a commit to come, made over the last commit's trees; and the whole difference of two trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitmem.errors import InputError, IntegrityError, StateError
from gitmem.git.kinds import ObjectType
from gitmem.git.names import decode_name, encode_name
from gitmem.git.objects import REGULAR_MODES, Entry, RawTree, TreeId, format_tree, is_file, is_folder
from gitmem.git.repo import PathT, Repo
from gitmem.model.ids import CommitId, Fingerprint
from gitmem.typed import NamedTuple

_RESERVED = ("", ".", "..")


class Difference(NamedTuple):
    """One path in two trees: blob ids before and after (``None`` where absent), and the mode after (0 where absent)."""

    old: Fingerprint | None
    new: Fingerprint | None
    mode: int


def write_blobs(repo: Repo, files: Mapping[PathT, bytes]) -> dict[PathT, Fingerprint]:
    """Write the exact bytes of each file as a blob, flushed and read back; nothing refers to them yet.

    Raises ``UnavailableError`` (``git-write-failed``), ``IntegrityError`` (``object-poisoned``).
    """
    return {path: Fingerprint(repo.objects.write(ObjectType.BLOB, data)) for path, data in files.items()}


def tree_of(repo: Repo, commit: CommitId) -> TreeId:
    """Return the tree of a commit. Raises ``IntegrityError`` (``object-unreadable``)."""
    return repo.objects.tree_of_commit(commit)


def find_file(repo: Repo, tree: str, path: str) -> Fingerprint | None:
    """Return the blob id of what lies at ``path`` below a tree; ``None`` for nothing, a folder and a link.

    Raises ``IntegrityError`` (``object-unreadable``).
    """
    found = repo.objects.find_once(tree, path)
    return Fingerprint(found[0]) if found is not None and found[1] in REGULAR_MODES else None


def build_tree(repo: Repo, base: CommitId | None, edits: Mapping[PathT, Fingerprint | None]) -> TreeId:
    """Write the tree of ``base`` with ``edits`` applied (blob id, or ``None`` for a file that goes); return its id.

    Only folders on the way to an edit are read and written; folders that become empty vanish, files become plain
    (0644). A file that goes and isn't there is no matter. Raises ``StateError`` (``path-clash``) where a file would
    take the place of a folder, a link or another repository, or the other way round; ``InputError`` (``bad-path``);
    ``IntegrityError`` (``object-missing``) for a blob that was never written.
    """
    for blob in edits.values():
        if blob is not None and not repo.objects.exists(blob):
            raise IntegrityError("object-missing", f"the blob {blob} is not in the repository", "Write it first.")
    old = None if base is None else tree_of(repo, base)
    return _edit_folder(repo, old, "", edits) or _write_tree(repo, {})


def diff_trees(repo: Repo, old: str | None, new: str) -> dict[str, Difference]:
    """Return every path that differs between two trees, by path; ``None`` for ``old`` is the empty tree.

    Only folders whose ids differ are read. Links and other repositories are listed too, by their mode; a folder that
    turned into a file gives one difference for each path.
    """
    found: dict[str, Difference] = {}
    waiting: list[tuple[str, str | None, str | None]] = [("", old, new)]
    while waiting:
        prefix, old_id, new_id = waiting.pop()
        before = repo.objects.read_tree(old_id) if old_id else {}
        after = repo.objects.read_tree(new_id) if new_id else {}
        for name in {name for name, _entry in before.items() ^ after.items()}:
            path = prefix + decode_name(name)
            was, now = before.get(name), after.get(name)
            if is_folder(was) or is_folder(now):
                waiting.append((path + "/", _id_if(was, folder=True), _id_if(now, folder=True)))
            file_was, file_now = _id_if(was, folder=False), _id_if(now, folder=False)
            if file_was or file_now:
                mode = int(now[0], 8) if now and file_now else 0
                found[path] = Difference(_fingerprint(file_was), _fingerprint(file_now), mode)
    return dict(sorted(found.items()))


def remove_unreadable(repo: Repo, object_ids: Iterable[str]) -> list[str]:
    """Remove the loose files of those objects whose bytes a crash tore; return their ids. Idempotent."""
    return [object_id for object_id in object_ids if repo.objects.remove_torn(object_id)]


def _edit_folder(repo: Repo, old: str | None, above: str, edits: Mapping[PathT, Fingerprint | None]) -> TreeId | None:
    """Write one folder with its edits, whose paths are relative to it; ``None`` when it becomes empty."""
    entries = dict(repo.objects.read_tree(old)) if old else {}
    here = {path: blob for path, blob in edits.items() if "/" not in path}
    below: dict[str, dict[str, Fingerprint | None]] = {}
    for path, blob in edits.items():
        folder, slash, rest = path.partition("/")
        if slash:
            below.setdefault(folder, {})[rest] = blob
    # What goes goes first, so that a file may take the place of a folder that the same edits empty, or give way to one.
    for path, blob in here.items():
        if blob is None and is_file(entries.get(_name(path, above))):
            del entries[_name(path, above)]
    for folder, rest_edits in below.items():
        _edit_subfolder(repo, entries, folder, above, rest_edits)
    for path, blob in here.items():
        if blob is not None:
            name = _name(path, above)
            if name in entries and not is_file(entries[name]):
                raise _clash(above + path)
            entries[name] = (b"100644", bytes.fromhex(blob))
    return _write_tree(repo, entries) if entries else None


def _edit_subfolder(
    repo: Repo, entries: dict[bytes, Entry], folder: str, above: str, edits: Mapping[str, Fingerprint | None]
) -> None:
    name = _name(folder, above)
    entry = entries.get(name)
    if entry is not None and not is_folder(entry):
        if all(blob is None for blob in edits.values()):
            return
        raise _clash(above + folder)
    tree = _edit_folder(repo, entry[1].hex() if entry else None, f"{above}{folder}/", edits)
    if tree is not None:
        entries[name] = (b"40000", bytes.fromhex(tree))
    else:
        entries.pop(name, None)


def _write_tree(repo: Repo, entries: RawTree) -> TreeId:
    return TreeId(repo.objects.write(ObjectType.TREE, format_tree(entries)))


def _name(part: str, above: str) -> bytes:
    if part in _RESERVED or part.casefold() == ".git" or "\0" in part:
        raise InputError("bad-path", f"{above + part!r} can't be a path in a repository", "Rename the file.")
    return encode_name(part)


def _id_if(entry: Entry | None, *, folder: bool) -> str | None:
    return entry[1].hex() if entry is not None and is_folder(entry) is folder else None


def _fingerprint(blob: str | None) -> Fingerprint | None:
    return None if blob is None else Fingerprint(blob)


def _clash(path: str) -> StateError:
    return StateError(
        "path-clash",
        f"{path} is a file in one place and a folder, a link or another repository in the other",
        "Rename one of the two.",
        path=path,
    )
