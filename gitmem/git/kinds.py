"""The kinds of Git's objects, by Git's own numbers."""

from __future__ import annotations

from enum import IntEnum


class ObjectType(IntEnum):
    """What an object is; the number is that of a pack's entries."""

    COMMIT = 1
    TREE = 2
    BLOB = 3
    TAG = 4
