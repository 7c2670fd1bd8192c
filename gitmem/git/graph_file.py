"""Git's commit-graph file as a value, and its bytes (gitformat-commit-graph, version 1, SHA-1). Pure."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from itertools import pairwise

from gitmem.git.bloom import BITS_PER_PATH, HASH_VERSION, HASHES
from gitmem.git.pack_file import format_fanout
from gitmem.values import dataclass

MAX_TIME = (1 << 34) - 1
MAX_LEVEL = (1 << 30) - 1
_HEAD = b"CGPH\1\1"
NO_PARENT = 0x70000000
LAST = 0x80000000
FILTER_HEAD = struct.pack(">3L", HASH_VERSION, HASHES, BITS_PER_PATH)


@dataclass(frozen=True)
class Node:
    """One commit of the graph; ids are raw.

    ``level`` is one more than the highest of its parents', ``corrected`` its time, or more where a parent's is not
    less. ``changed`` is its filter, empty when it has none.
    """

    tree: bytes
    parents: tuple[bytes, ...]
    time: int
    level: int
    corrected: int
    changed: bytes = b""


def format_graph(nodes: Mapping[bytes, Node]) -> bytes:
    """Return the file of ``nodes``, by raw id; the parents of each must be among them."""
    ids = sorted(nodes)
    at = {raw_id: number for number, raw_id in enumerate(ids)}
    commits, filters = [], [FILTER_HEAD]
    edges: list[int] = []
    offsets, overflow, filter_ends, end = [], [], [], 0
    for raw_id in ids:
        node = nodes[raw_id]
        parents = [at[parent] for parent in node.parents]
        first, second = (*parents[:2], NO_PARENT, NO_PARENT)[:2]
        if len(parents) > 2:
            second = LAST | len(edges)
            edges += [*parents[1:-1], LAST | parents[-1]]
        commits.append(node.tree + struct.pack(">LLQ", first, second, node.level << 34 | node.time))
        ahead = node.corrected - node.time
        if ahead >= LAST:
            overflow.append(ahead)
            ahead = LAST | len(overflow) - 1
        offsets.append(ahead)
        end += len(node.changed)
        filter_ends.append(end)
        filters.append(node.changed)
    chunks = {
        b"OIDF": format_fanout(ids),
        b"OIDL": b"".join(ids),
        b"CDAT": b"".join(commits),
        b"GDA2": struct.pack(f">{len(ids)}L", *offsets),
        b"GDO2": struct.pack(f">{len(overflow)}Q", *overflow),
        b"EDGE": struct.pack(f">{len(edges)}L", *edges),
        b"BIDX": struct.pack(f">{len(ids)}L", *filter_ends),
        b"BDAT": b"".join(filters),
    }
    return _join_chunks({name: data for name, data in chunks.items() if data})


def parse_graph(data: bytes) -> dict[bytes, Node]:
    """Return what a graph file holds, by raw id. Filters made with other settings are left out.

    Raises ``ValueError`` for one that is damaged, of another version or part of a chain.
    """
    chunks = split_graph(data)
    try:
        return _parse_nodes(chunks)
    except (KeyError, IndexError, struct.error) as error:
        raise ValueError(f"it is garbled ({error})") from None


def split_graph(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a graph file, by name.

    Raises ``ValueError`` for one that is damaged, of another version or part of a chain.
    """
    body = data[:-20]
    if not body.startswith(_HEAD) or hashlib.sha1(body, usedforsecurity=False).digest() != data[-20:] or body[7]:
        raise ValueError("it is damaged or of another version")
    table = body[8 : 8 + 12 * (body[6] + 1)]
    if len(table) % 12:
        raise ValueError("it is cut short")
    rows = list(struct.iter_unpack(">4sQ", table))
    return {name: body[start:end] for (name, start), (_next, end) in pairwise(rows)}


def _parse_nodes(chunks: Mapping[bytes, bytes]) -> dict[bytes, Node]:
    ids = [chunks[b"OIDL"][at : at + 20] for at in range(0, len(chunks[b"OIDL"]), 20)]
    edges = [number for (number,) in struct.iter_unpack(">L", chunks.get(b"EDGE", b""))]
    overflow = [number for (number,) in struct.iter_unpack(">Q", chunks.get(b"GDO2", b""))]
    offsets = struct.unpack(f">{len(ids)}L", chunks[b"GDA2"])
    filters = _split_filters(chunks, len(ids))
    nodes = {}
    rows = struct.iter_unpack(">20sLLQ", chunks[b"CDAT"])
    for raw_id, (tree, first, second, packed), ahead, changed in zip(ids, rows, offsets, filters, strict=True):
        parents = [] if first == NO_PARENT else [first]
        if second & LAST:
            at = second & ~LAST
            while not edges[at] & LAST:
                parents.append(edges[at])
                at += 1
            parents.append(edges[at] & ~LAST)
        elif second != NO_PARENT:
            parents.append(second)
        time = packed & MAX_TIME
        corrected = time + (overflow[ahead & ~LAST] if ahead & LAST else ahead)
        nodes[raw_id] = Node(tree, tuple(ids[at] for at in parents), time, packed >> 34, corrected, changed)
    return nodes


def _split_filters(chunks: Mapping[bytes, bytes], count: int) -> list[bytes]:
    data = chunks.get(b"BDAT", b"")
    if not data.startswith(FILTER_HEAD) or b"BIDX" not in chunks:
        return [b""] * count
    ends = struct.unpack(f">{count}L", chunks[b"BIDX"])
    start = len(FILTER_HEAD)
    return [data[start + a : start + b] for a, b in zip((0, *ends[:-1]), ends, strict=True)]


def _join_chunks(chunks: Mapping[bytes, bytes]) -> bytes:
    at = 8 + 12 * (len(chunks) + 1)
    table = []
    for name, data in chunks.items():
        table.append(struct.pack(">4sQ", name, at))
        at += len(data)
    head = _HEAD + bytes((len(chunks), 0))
    body = b"".join((head, *table, struct.pack(">4sQ", b"\0\0\0\0", at), *chunks.values()))
    return body + hashlib.sha1(body, usedforsecurity=False).digest()
