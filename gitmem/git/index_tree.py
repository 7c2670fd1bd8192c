"""The ``TREE`` extension of Git's index: which folders of it are known to equal which tree. Pure.

Kept right, ``git status`` needs not compare unchanged folders; kept wrong, Git would commit a stale folder. So every
folder above a changed path loses its tree, and bytes that are not understood are dropped whole.
"""

from __future__ import annotations

from collections.abc import Iterable

_ID_BYTES = 20


def invalidate_folders(extension: bytes, names: Iterable[bytes]) -> bytes:
    """Return ``extension`` with the folders above ``names`` (paths as bytes) marked as unknown.

    Empty when the extension is garbled, which tells Git that nothing is known.
    """
    touched = {b""}
    for name in names:
        parts = name.split(b"/")[:-1]
        touched.update(b"/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    try:
        return _rewrite(extension, touched)
    except (IndexError, ValueError):
        return b""


def _rewrite(extension: bytes, touched: set[bytes]) -> bytes:
    pieces = []
    above: list[tuple[bytes, int]] = []
    at = 0
    while at < len(extension):
        name_end = extension.index(b"\0", at)
        line_end = extension.index(b"\n", name_end)
        name = extension[at:name_end]
        entries, subfolders = (int(number) for number in extension[name_end + 1 : line_end].split(b" "))
        end = line_end + 1 + (_ID_BYTES if entries >= 0 else 0)
        if end > len(extension):
            raise ValueError("cut")
        path = above[-1][0] + name if above else name
        pieces.append(b"%s\0-1 %d\n" % (name, subfolders) if path in touched else extension[at:end])
        _descend(above, path, subfolders)
        at = end
    if above:
        raise ValueError("cut")
    return b"".join(pieces)


def _descend(above: list[tuple[bytes, int]], path: bytes, subfolders: int) -> None:
    """Keep ``above`` as the folders that still wait for children: (prefix of their names, how many)."""
    if above:
        prefix, waiting = above.pop()
        if waiting > 1:
            above.append((prefix, waiting - 1))
    if subfolders:
        above.append((path + b"/" if path else b"", subfolders))
