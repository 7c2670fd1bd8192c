"""Objects by id: reading with the failure said, writing with the proof that they read back, trees as bytes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from typing import NewType

import pygit2
from pygit2.enums import ObjectType

from gitmem.errors import IntegrityError
from gitmem.git.library import reading, writing

TreeId = NewType("TreeId", str)
"""The id of a tree that was read from, or written to, the repository."""

REGULAR = 0o100644
FOLDER = 0o040000
_FILES = (b"100644", b"100755", b"100664")
_FOLDER = b"40000"
_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)

RawTree = dict[bytes, tuple[bytes, bytes]]
"""One folder: name → (mode in Git's octal digits, raw id), in Git's order."""


def read_object(handle: pygit2.Repository, object_id: str, kind: ObjectType) -> bytes:
    """Return the content of an object; libgit2 checks it against its id when it comes from disk.

    Raises ``IntegrityError`` (``object-unreadable``) when it is damaged, missing or of another kind.
    """
    with reading(f"the {kind.name.lower()} {object_id}"):
        found, data = handle.odb.read(object_id)
        if found != kind:
            raise ValueError("it is of another kind")
        return data


def write_object(handle: pygit2.Repository, objects_dir: str, kind: ObjectType, data: bytes) -> str:
    """Write an object, flushed, and return its id once it has been read back.

    A torn file left by a crash makes libgit2 believe that the content is there already; such a file is removed and the
    object written again. Raises ``UnavailableError`` (``git-write-failed``), and ``IntegrityError``
    (``object-poisoned``) when what is there can be neither read nor replaced.
    """
    for _attempt in range(2):
        with writing(f"a {kind.name.lower()}"):
            object_id = str(handle.odb.write(kind, data))
        with contextlib.suppress(pygit2.GitError):
            if handle.odb.read(object_id) == (kind, data):
                return object_id
        if not remove_torn(objects_dir, object_id):
            break
    raise IntegrityError(
        "object-poisoned",
        f"the object {object_id} was written but does not read back",
        "Run `git fsck` in the vault and check the disk.",
        object_id=object_id,
    )


def remove_torn(objects_dir: str, object_id: str) -> bool:
    """Remove the loose file of an object if its bytes are not that object; tell whether it did.

    A file that can't be read at all is left alone: that is the disk's failure, not a torn write.
    """
    path = os.path.join(objects_dir, object_id[:2], object_id[2:])
    try:
        with open(path, "rb") as file:
            packed = file.read()
    except OSError:
        return False
    try:
        sound = hashlib.sha1(zlib.decompress(packed), usedforsecurity=False).hexdigest() == object_id
    except zlib.error:
        sound = False
    if sound:
        return False
    with writing("the repository's object folder"):
        os.unlink(path)
    return True


def tree_of_commit(handle: pygit2.Repository, commit: str) -> TreeId:
    """Return the tree of a commit. Raises ``IntegrityError`` (``object-unreadable``)."""
    data = read_object(handle, commit, ObjectType.COMMIT)
    with reading(f"the commit {commit}"):
        if not data.startswith(b"tree ") or data[45:46] != b"\n":
            raise ValueError("it names no tree")
        return TreeId(data[5:45].decode("ascii"))


def read_tree(handle: pygit2.Repository, tree: str) -> RawTree:
    """Return one folder, not its subfolders. Raises ``IntegrityError`` (``object-unreadable``)."""
    data = read_object(handle, tree, ObjectType.TREE)
    entries = {name: (mode, raw_id) for mode, name, raw_id in _ENTRY.findall(data)}
    with reading(f"the tree {tree}"):
        if sum(len(name) + len(mode) + 22 for name, (mode, _id) in entries.items()) != len(data):
            raise ValueError("its entries are garbled")
    return entries


def format_tree(entries: RawTree) -> bytes:
    """Return the bytes of a tree object, sorted as Git sorts: a folder as if its name ended in ``/``. Pure."""
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1][0] == _FOLDER else item[0])
    return b"".join(b"%s %s\0%s" % (mode, name, raw_id) for name, (mode, raw_id) in ordered)


def encode_name(name: str) -> bytes:
    """Return the bytes of a name; the inverse of ``decode_name``."""
    return name.encode("utf-8", "surrogateescape")


def decode_name(name: bytes) -> str:
    """Return a name as text; bytes that are not UTF-8 become surrogates."""
    return name.decode("utf-8", "surrogateescape")


def is_folder(entry: tuple[bytes, bytes] | None) -> bool:
    """Tell whether a folder's entry is a folder itself."""
    return entry is not None and entry[0] == _FOLDER


def is_file(entry: tuple[bytes, bytes] | None) -> bool:
    """Tell whether a folder's entry is a regular file: no link, no other repository."""
    return entry is not None and entry[0] in _FILES


def iter_tree(handle: pygit2.Repository, tree: str, prefix: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield ``(path, mode, id)`` of everything below a tree but the folders, in Git's order.

    ``prefix`` is put before each path. Reads one folder at a time. Names that are not UTF-8 come with surrogates.
    """
    waiting = [(prefix, entry) for entry in reversed(read_tree(handle, tree).items())]
    while waiting:
        above, (name, (mode, raw_id)) = waiting.pop()
        path = above + decode_name(name)
        if mode == _FOLDER:
            below = read_tree(handle, raw_id.hex())
            waiting.extend((path + "/", entry) for entry in reversed(below.items()))
        else:
            yield path, int(mode, 8), raw_id.hex()


def find_entry(handle: pygit2.Repository, tree: str, path: str) -> tuple[str, int] | None:
    """Return ``(id, mode)`` of what lies at ``path`` below a tree, a folder included; ``None`` when nothing does.

    A subfolder that can't be read raises ``IntegrityError`` (``object-unreadable``): damage is not absence.
    """
    entry = (tree, FOLDER)
    for part in path.split("/"):
        if entry[1] != FOLDER:
            return None
        with reading(f"the tree {entry[0]}"):
            folder = handle[entry[0]].peel(pygit2.Tree)
        try:
            found = folder[part]
        except (KeyError, ValueError):
            return None
        entry = (str(found.id), int(found.filemode))
    return entry
