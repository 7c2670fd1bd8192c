"""Whether the indexes of packs lead into their packs: where one leads far behind the end, libgit2 1.9 crashes."""

from __future__ import annotations

import contextlib
import os
from array import array

from gitmem.errors import IntegrityError
from gitmem.git.numbers import unpack_numbers

_MAGIC = b"\xfftOc\0\0\0\2"
_TABLES_AT = 8 + 256 * 4
_TRAILER_BYTES = 20
_IS_LARGE = 1 << 31


def check_pack_bounds(objects_dir: str) -> None:
    """Check every pack index in the folder of objects before libgit2 looks things up by it. Reads.

    Looks at the offsets alone: what else may be wrong with an index or a pack, libgit2 finds out object by object.
    What can't be read is left to it, too. Raises ``IntegrityError`` (``pack-index-damaged``).
    """
    folder = os.path.join(objects_dir, "pack")
    with contextlib.suppress(OSError, ValueError):  # it went away, or was cut, while it was read
        for name in sorted(os.listdir(folder)):
            if name.endswith(".idx") and not _leads_inside(os.path.join(folder, name)):
                raise IntegrityError(
                    "pack-index-damaged",
                    f"the index of Git's objects .git/objects/pack/{name} is damaged",
                    f"`git index-pack .git/objects/pack/{name[:-4]}.pack` makes it anew once the damaged file is moved "
                    "away; else bring it back from a clone or a backup.",
                )


def _leads_inside(index: str) -> bool:
    pack_bytes = os.stat(f"{index[:-4]}.pack").st_size
    with open(index, "rb") as file:
        head = file.read(_TABLES_AT)
        if len(head) < _TABLES_AT or not head.startswith(_MAGIC):
            return True
        count = int.from_bytes(head[-4:], "big")
        size = os.fstat(file.fileno()).st_size
        if _TABLES_AT + count * 28 + 2 * _TRAILER_BYTES > size:
            return True
        file.seek(_TABLES_AT + count * 24)
        offsets = unpack_numbers("I", file.read(count * 4))
        large = unpack_numbers("Q", file.read((size - _TABLES_AT - count * 28 - 2 * _TRAILER_BYTES) // 8 * 8))
    if offsets and max(offsets) >= _IS_LARGE:
        places = [offset - _IS_LARGE for offset in offsets if offset >= _IS_LARGE]
        if max(places) >= len(large):
            return False
        offsets = array("Q", [*large, *(offset for offset in offsets if offset < _IS_LARGE)])
    return not offsets or max(offsets) < pack_bytes - _TRAILER_BYTES
