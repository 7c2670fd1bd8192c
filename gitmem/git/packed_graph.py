"""A commit graph read as it lies: thousands of commits are passed in milliseconds, and nothing is made of them."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from operator import sub

from gitmem.git.bloom import make_mask
from gitmem.git.graph_file import FILTER_HEAD, LAST, NO_PARENT, split_graph
from gitmem.git.numbers import unpack_numbers
from gitmem.git.repo import Repo

_ID_BYTES = 20
_ROW_BYTES = 36
_MAX_TIME_HIGH = 3


class PackedGraph:
    """The commits of one graph file by their place in it, which is that of their ids in order.

    Filters made with other settings than gitmem's are passed over: every commit may have changed anything then.
    """

    def __init__(self, data: bytes) -> None:
        """Take the file's bytes. Raises ``ValueError`` for one that is damaged, of another version or part of a chain.

        Places that lead out of the file are not looked for: what follows them raises ``IndexError``.
        """
        chunks = split_graph(data)
        try:
            self._ids, self._rows = chunks[b"OIDL"], chunks[b"CDAT"]
        except KeyError as error:
            raise ValueError(f"it lacks {error}") from None
        count = len(self._ids) // _ID_BYTES
        numbers = unpack_numbers("I", self._rows)
        filters, ends = chunks.get(b"BDAT", b""), unpack_numbers("I", chunks.get(b"BIDX", b""))
        if len(self._rows) != count * _ROW_BYTES:
            raise ValueError("it is garbled")
        self.first_parents = numbers[5::9].tolist()
        self.second_parents = numbers[6::9].tolist()
        self._edges = unpack_numbers("I", chunks.get(b"EDGE", b""))
        if not filters.startswith(FILTER_HEAD) or len(ends) != count:
            filters, ends = FILTER_HEAD, array("I", bytes(4 * count))
        self._filters = filters[len(FILTER_HEAD) :] + b"\0"  # an empty one at the end is looked at, too
        self._starts = [0, *ends]
        self._sizes = list(map(sub, ends, self._starts))
        self._all_sizes = set(self._sizes)
        if min(self._sizes, default=0) < 0:
            raise ValueError("it is garbled")
        self._prepared: tuple[bytes, dict[int, int], dict[int, tuple[int, int]]] = b"", {}, {}

    def __len__(self) -> int:
        return len(self.first_parents)

    def find(self, commit: str) -> int | None:
        """Return the place of a commit, ``None`` where the graph has it not."""
        wanted = bytes.fromhex(commit)
        at = bisect_left(range(len(self)), wanted, key=self._raw_id)
        return at if at < len(self) and self._raw_id(at) == wanted else None

    def commit_at(self, at: int) -> str:
        """Return the id of the commit at a place."""
        return self._raw_id(at).hex()

    def tree_at(self, at: int) -> str:
        """Return the tree of the commit at a place."""
        return self._rows[at * _ROW_BYTES : at * _ROW_BYTES + _ID_BYTES].hex()

    def time_at(self, at: int) -> int:
        """Return when the commit at a place was committed, in seconds since 1970."""
        packed = int.from_bytes(self._rows[(at + 1) * _ROW_BYTES - 8 : (at + 1) * _ROW_BYTES])
        return packed & (_MAX_TIME_HIGH << 32 | 0xFFFFFFFF)

    def parents_at(self, at: int) -> tuple[int, ...]:
        """Return the places of the parents of the commit at a place, in order."""
        first, second = self.first_parents[at], self.second_parents[at]
        if first == NO_PARENT:
            return ()
        if second == NO_PARENT:
            return (first,)
        if not second & LAST:
            return first, second
        further = second & ~LAST
        parents = [first]
        while not self._edges[further] & LAST:
            parents.append(self._edges[further])
            further += 1
        return *parents, self._edges[further] & ~LAST

    def skip(self, at: int, path: bytes, seen: bytearray, mark: int) -> int | None:
        """Return the first commit from ``at`` back that may have changed ``path``, or has several parents.

        ``None`` where none has, and where a commit comes whose mark in ``seen`` is ``mark`` or more; those that are
        passed, and what is returned, get the mark.
        """
        filters, starts, sizes = self._filters, self._starts, self._sizes
        firsts, seconds = self.first_parents, self.second_parents
        masks, probes = self._prepare(path)
        while seen[at] < mark:
            seen[at] = mark
            place, bits = probes[sizes[at]]
            if filters[starts[at] + place] & bits == bits:
                mask = masks[sizes[at]]
                whole = int.from_bytes(filters[starts[at] : starts[at] + sizes[at]], "little")
                if whole & mask == mask:
                    return at
            if seconds[at] != NO_PARENT:
                return at
            at = firsts[at]
            if at == NO_PARENT:
                return None
        return None

    def _prepare(self, path: bytes) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
        """Return the mask of ``path`` for each size of filter that there is, and the byte of it to look at first."""
        if self._prepared[0] != path:
            masks = {size: make_mask(path, size) for size in self._all_sizes}
            self._prepared = path, masks, {size: _find_probe(mask) for size, mask in masks.items()}
        return self._prepared[1:]

    def _raw_id(self, at: int) -> bytes:
        if at >= len(self.first_parents):
            raise IndexError(at)
        return self._ids[at * _ID_BYTES : (at + 1) * _ID_BYTES]


def _find_probe(mask: int) -> tuple[int, int]:
    """Return the place of the byte that the most bits of ``mask`` are in, and these: most filters lack one of them."""
    data = mask.to_bytes((mask.bit_length() + 7) // 8, "little")
    most, place = max(((byte.bit_count(), at) for at, byte in enumerate(data)), default=(0, 0))
    return place, data[place] if most else 0


def graph_path(repo: Repo) -> str:
    """Return where the graph lies."""
    return os.path.join(repo.objects_dir, "info", "commit-graph")
