"""Objects by id: reading with the failure said, writing with the proof that they read back, trees as bytes.

Loose objects are read and written here and not by libgit2 (1.9.7), which never returns from one that was cut short
and takes it for one that need not be written again. Packs are libgit2's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from gitmem.disk import MAX_FILE_BYTES, flush_file, flush_folder, read_regular, replace_file
from gitmem.errors import IntegrityError
from gitmem.git.kinds import ObjectType
from gitmem.git.library import reading, writing
from gitmem.git.names import decode_name, encode_name
from gitmem.git.pack_read import find_packed
from gitmem.model.ids import new_token
from gitmem.patterns import late
from gitmem.typed import TYPE_CHECKING, NewType, TypeVar

if TYPE_CHECKING:
    import pygit2

_T = TypeVar("_T")

TreeId = NewType("TreeId", str)
"""The id of a tree that was read from, or written to, the repository."""

REGULAR = 0o100644
FOLDER = 0o040000
REGULAR_MODES = (0o100644, 0o100755, 0o100664)
_FILES = (b"100644", b"100755", b"100664")
_FOLDER = b"40000"
_ENTRY = late(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_HEADER = late(rb"(blob|tree|commit|tag) (\d{1,19})\0")
_MAX_HEADER_BYTES = 64
TEMP_PREFIX = "tmp_obj_gitmem"
"""How a loose object's file is called while it is written: a name that Git's own pruning knows, too."""
_MAX_REMEMBERED_TREES = 64
_MAX_REMEMBERED_COMMITS = 16
_MAX_REMEMBERED_BLOBS = 16
_MAX_SMALL_BYTES = 128 * 1024
_MAX_PLAIN_READS = 64
"""Loading libgit2 takes as long as so many reads of packed objects without it."""

Entry = tuple[bytes, bytes]
"""What a name in a folder stands for: mode in Git's octal digits, raw id."""
RawTree = Mapping[bytes, Entry]
"""One folder by name, in Git's order."""


class ObjectStore:
    """The objects of one repository. ``handle`` opens it with libgit2 when something is packed."""

    def __init__(self, objects_dir: str, handle: Callable[[], pygit2.Repository]) -> None:
        self._objects_dir = objects_dir
        self._handle = handle
        self._trees: dict[str, RawTree] = {}
        self._tree_of: dict[str, TreeId] = {}
        self._small: dict[str, bytes] = {}
        self._has_new_folders = False
        self._plain_reads_left = _MAX_PLAIN_READS

    def read(self, object_id: str, kind: ObjectType) -> bytes:
        """Return the content of an object, checked against its id.

        Raises ``IntegrityError`` (``object-unreadable``) when it is damaged, missing or of another kind.
        """
        with reading(f"the {kind.name.lower()} {object_id}"):
            found, data = self._read(object_id)
            if found != kind:
                raise ValueError("it is of another kind")
            return data

    def read_any(self, object_id: str) -> tuple[ObjectType, bytes]:
        """Return kind and content of an object. Raises ``IntegrityError`` (``object-unreadable``)."""
        with reading(f"the object {object_id}"):
            return self._read(object_id)

    def read_small(self, blob: str) -> bytes:
        """Return the content of a blob; the last small ones that were read or written here are remembered.

        Raises ``IntegrityError`` (``object-unreadable``). What is remembered was checked once and may be gone from the
        disk: ``read`` is for proving.
        """
        known = self._small.get(blob)
        return known if known is not None else self._keep_if_small(blob, self.read(blob, ObjectType.BLOB))

    def exists(self, object_id: str) -> bool:
        """Tell whether there is an object of this id, sound or not."""
        with reading(f"the object {object_id}"):
            return os.path.isfile(self._loose_path(object_id)) or self._handle().odb.exists(object_id)

    def write(self, kind: ObjectType, data: bytes) -> str:
        """Write an object, flushed, and return its id once it has been read back.

        A torn file that a crash left under its name is replaced; a whole one is flushed, for it may have been stopped
        before that. The entries of new folders are flushed when a commit is written, for only that makes the objects
        before it reachable. Raises ``UnavailableError``
        (``git-write-failed``), and ``IntegrityError`` (``object-poisoned``) when what was written does not read back.
        """
        object_id = object_id_of(kind, data)
        if self._is_loose(object_id, kind, data):
            with writing(f"a {kind.name.lower()}"):
                flush_file(self._loose_path(object_id))
        else:
            with writing(f"a {kind.name.lower()}"):
                self._write_loose(object_id, kind, data)
            if not self._is_loose(object_id, kind, data):
                raise IntegrityError(
                    "object-poisoned",
                    f"the object {object_id} was written but does not read back",
                    "Run `git fsck` in the vault and check the disk.",
                    object_id=object_id,
                )
        if kind == ObjectType.BLOB:
            self._keep_if_small(object_id, data)
        if kind == ObjectType.COMMIT and self._has_new_folders:
            self.flush_folders()
        return object_id

    def flush_folders(self) -> None:
        """Flush the entries of the folders that objects lie in. Raises ``UnavailableError`` (``git-write-failed``)."""
        with writing("the repository's object folder"):
            flush_folder(self._objects_dir)
        self._has_new_folders = False

    def read_loose(self, object_id: str) -> tuple[ObjectType, bytes] | None:
        """Return kind and content of an object that lies there by itself, ``None`` when it does not.

        Raises ``OSError``, and ``ValueError`` for bytes that are not that object.
        """
        return _read_loose(self._loose_path(object_id), object_id)

    def remove_torn(self, object_id: str) -> bool:
        """Remove the loose file of an object if its bytes are not that object; tell whether it did.

        A file that can't be read at all is left alone: that is the disk's failure, not a torn write.
        """
        path = self._loose_path(object_id)
        try:
            _read_loose(path, object_id)
        except OSError:
            return False
        except ValueError:
            with writing("the repository's object folder"):
                os.unlink(path)
            return True
        return False

    def tree_of_commit(self, commit: str) -> TreeId:
        """Return the tree of a commit; those of the last ones asked for are remembered.

        Raises ``IntegrityError`` (``object-unreadable``).
        """
        known = self._tree_of.get(commit)
        if known is not None:
            return known
        data = self.read(commit, ObjectType.COMMIT)
        with reading(f"the commit {commit}"):
            if not data.startswith(b"tree ") or data[45:46] != b"\n":
                raise ValueError("it names no tree")
            return _remember(self._tree_of, commit, TreeId(data[5:45].decode("ascii")), _MAX_REMEMBERED_COMMITS)

    def read_tree(self, tree: str) -> RawTree:
        """Return one folder, not its subfolders; the last ones read are remembered.

        Raises ``IntegrityError`` (``object-unreadable``).
        """
        known = self._trees.get(tree)
        if known is not None:
            return known
        entries = parse_tree(tree, self.read(tree, ObjectType.TREE))
        return _remember(self._trees, tree, entries, _MAX_REMEMBERED_TREES)

    def find_entry(self, tree: str, path: str) -> tuple[str, int] | None:
        """Return ``(id, mode)`` of what lies at ``path`` below a tree, a folder included; ``None`` when nothing does.

        A subfolder that can't be read raises ``IntegrityError`` (``object-unreadable``): damage is not absence.
        """
        found: Entry = (_FOLDER, bytes.fromhex(tree))
        for part in path.split("/"):
            entry = self.read_tree(found[1].hex()).get(encode_name(part)) if is_folder(found) else None
            if entry is None:
                return None
            found = entry
        return found[1].hex(), int(found[0], 8)

    def find_once(self, tree: str, path: str) -> tuple[str, int] | None:
        """Do what ``find_entry`` does for a tree that is asked for one path only: folders are not taken apart.

        What is packed libgit2 looks up; nothing is remembered.
        """
        found = tree, FOLDER
        for part in path.split("/"):
            if found[1] != FOLDER:
                return None
            if found[0] in self._trees or not part.isascii() or os.path.lexists(self._loose_path(found[0])):
                entry = self.find_entry(found[0], part)
            else:
                import pygit2

                with reading(f"the tree {found[0]}"):
                    folder = self._handle()[found[0]].peel(pygit2.Tree)
                    entry = (str(folder[part].id), folder[part].filemode) if part in folder else None
            if entry is None:
                return None
            found = entry
        return found

    def iter_tree(self, tree: str, prefix: str = "") -> Iterator[tuple[str, int, str]]:
        """Yield ``(path, mode, id)`` of everything below a tree but the folders, in Git's order.

        ``prefix`` is put before each path. Reads one folder at a time. Names that are not UTF-8 come with surrogates.
        """
        waiting = [(prefix, entry) for entry in reversed(tuple(self.read_tree(tree).items()))]
        while waiting:
            above, (name, (mode, raw_id)) = waiting.pop()
            path = above + decode_name(name)
            if mode == _FOLDER:
                below = self.read_tree(raw_id.hex())
                waiting.extend((path + "/", entry) for entry in reversed(tuple(below.items())))
            else:
                yield path, int(mode, 8), raw_id.hex()

    def _keep_if_small(self, blob: str, data: bytes) -> bytes:
        return _remember(self._small, blob, data, _MAX_REMEMBERED_BLOBS) if len(data) <= _MAX_SMALL_BYTES else data

    def _loose_path(self, object_id: str) -> str:
        return os.path.join(self._objects_dir, object_id[:2], object_id[2:])

    def _read(self, object_id: str) -> tuple[ObjectType, bytes]:
        return _read_loose(self._loose_path(object_id), object_id) or self._read_packed(object_id)

    def _read_packed(self, object_id: str) -> tuple[ObjectType, bytes]:
        if self._plain_reads_left:
            self._plain_reads_left -= 1
            found = find_packed(self._objects_dir, object_id)
            if found is not None:
                return found
        kind, data = self._handle().odb.read(object_id)
        return ObjectType(kind), data

    def _is_loose(self, object_id: str, kind: ObjectType, data: bytes) -> bool:
        """Tell whether the object lies there by itself and reads as ``data``."""
        try:
            return _read_loose(self._loose_path(object_id), object_id) == (kind, data)
        except (OSError, ValueError):
            return False

    def _write_loose(self, object_id: str, kind: ObjectType, data: bytes) -> None:
        path = self._loose_path(object_id)
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(path), 0o777)
            self._has_new_folders = True
        temp = os.path.join(self._objects_dir, TEMP_PREFIX + new_token())
        replace_file(path, zlib.compress(_header(kind, data) + data, zlib.Z_BEST_SPEED), 0o444, temp)


def object_id_of(kind: ObjectType, data: bytes) -> str:
    """Return the id that Git gives to an object of this content."""
    return hashlib.sha1(_header(kind, data) + data, usedforsecurity=False).hexdigest()


def _header(kind: ObjectType, data: bytes) -> bytes:
    return f"{kind.name.lower()} {len(data)}\0".encode()


def parse_tree(tree: str, data: bytes) -> RawTree:
    """Return the folder in the bytes of the tree object ``tree``. Raises ``IntegrityError`` (``object-unreadable``)."""
    found = _ENTRY.findall(data)
    entries = {name: (mode, raw_id) for mode, name, raw_id in found}
    with reading(f"the tree {tree}"):
        if sum(map(len, map(b"".join, found))) + 2 * len(entries) != len(data) or len(entries) != len(found):
            raise ValueError("its entries are garbled")
    return MappingProxyType(entries)


def format_tree(entries: RawTree) -> bytes:
    """Return the bytes of a tree object, sorted as Git sorts: a folder as if its name ended in ``/``. Pure."""
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1][0] == _FOLDER else item[0])
    return b"".join(b"%s %s\0%s" % (mode, name, raw_id) for name, (mode, raw_id) in ordered)


def is_folder(entry: Entry | None) -> bool:
    """Tell whether a folder's entry is a folder itself."""
    return entry is not None and entry[0] == _FOLDER


def is_file(entry: Entry | None) -> bool:
    """Tell whether a folder's entry is a regular file: no link, no other repository."""
    return entry is not None and entry[0] in _FILES


def _remember(known: dict[str, _T], name: str, value: _T, most: int) -> _T:
    """Put ``value`` among the ``most`` that are known, in place of the one known longest; return it."""
    if len(known) >= most and name not in known:
        del known[next(iter(known))]
    return known.setdefault(name, value)


def _inflate(packed: bytes) -> bytes:
    """Return header and content of a loose object, never more than its header says and never beyond all size."""
    inflate = zlib.decompressobj()
    try:
        head = inflate.decompress(packed, _MAX_HEADER_BYTES)
        header = _HEADER.match(head)
        if header is None or int(header[2]) > MAX_FILE_BYTES:
            raise ValueError("it has no header, or one beyond all size")
        left = header.end() + int(header[2]) - len(head)
        whole = head + inflate.decompress(inflate.unconsumed_tail, max(0, left) + 1)
    except zlib.error as error:
        raise ValueError(f"it is torn ({error})") from error
    if not inflate.eof:
        raise ValueError("it is torn, or longer than it says")
    return whole


def _read_loose(path: str, object_id: str) -> tuple[ObjectType, bytes] | None:
    """Return a loose object, ``None`` when there is none. Raises ``ValueError`` for bytes that are not it."""
    try:
        packed = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    whole = _inflate(packed)
    header = _HEADER.match(whole)
    if header is None or hashlib.sha1(whole, usedforsecurity=False).hexdigest() != object_id:
        raise ValueError("its bytes are not what its name says")
    return ObjectType[header[1].decode().upper()], whole[header.end() :]
