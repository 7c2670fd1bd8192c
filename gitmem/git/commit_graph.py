"""Git's commit graph with changed paths, kept up so that people's ``git log -- PATH`` is fast."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from gitmem.disk import ensure_folder, open_regular, replace_file
from gitmem.git.bloom import MAX_PATHS, make_filter
from gitmem.git.graph_file import MAX_LEVEL, MAX_TIME, Node, format_graph, parse_graph
from gitmem.git.kinds import ObjectType
from gitmem.git.library import reading
from gitmem.git.lockfile import find_age_s as find_file_age_s
from gitmem.git.packed_graph import graph_path
from gitmem.git.packs import NEW_GRAPH, Probe, work_folder
from gitmem.git.repo import Repo
from gitmem.git.tree_changes import iter_tree_changes
from gitmem.patterns import late
from gitmem.values import dataclass, replace

MAX_TAGS_DEEP = 10
_MODE = 0o444
_COMMIT = late(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\ncommitter [^\n]*> (\d{1,11}) [+-]\d{4}\n"
)
_TAGGED = late(rb"object ([0-9a-f]{40})\ntype (commit|tag)\n")


@dataclass(frozen=True)
class GraphReport:
    """What became of the graph: how many commits it holds and how many are new in it.

    ``reason`` says why it was left alone, if it was.
    """

    commits: int = 0
    new: int = 0
    written: bool = False
    reason: str = ""


def write_commit_graph(
    repo: Repo,
    probe: Probe,
    filters: Mapping[bytes, bytes] = MappingProxyType({}),
    max_filters: int | None = None,
    max_commits: int | None = None,
) -> GraphReport:
    """Write the graph of all commits that a branch or tag reaches, if it lacks one; replaced whole, flushed.

    What the old graph says of a commit is taken from it, and its filter from ``filters``, by raw id, if it is there.
    At most ``max_filters`` filters are made; the next run goes on. Where more than ``max_commits`` are new, nothing is
    done. A chain of Git's own (``commit-graphs/``), or a
    graph that Git is writing, is left alone. Raises ``IntegrityError`` (``object-unreadable``) and what the disk
    raises; the old graph stays then.
    """
    reason = find_other_graph(repo)
    if reason:
        return GraphReport(reason=reason)
    known = load_known(repo)
    try:
        nodes, new = _collect(repo, known, list_tips(repo), max_commits)
    except ValueError as error:
        return GraphReport(len(known), reason=str(error))
    bare = [raw_id for raw_id, node in nodes.items() if not node.changed]
    if not bare and nodes.keys() == known.keys():
        return GraphReport(len(nodes))
    for raw_id in bare:
        if raw_id in filters:
            nodes[raw_id] = replace(nodes[raw_id], changed=filters[raw_id])
    for raw_id in [raw_id for raw_id in bare if raw_id not in filters][:max_filters]:
        nodes[raw_id] = replace(nodes[raw_id], changed=_make_filter(repo, nodes, nodes[raw_id]))
    probe("maintain-graph")
    ensure_folder(work_folder(repo))
    ensure_folder(os.path.dirname(graph_path(repo)), 0o777)
    replace_file(graph_path(repo), format_graph(nodes), _MODE, os.path.join(work_folder(repo), NEW_GRAPH))
    return GraphReport(len(nodes), new, written=True)


def find_age_s(repo: Repo, now_ns: int) -> float | None:
    """Return how many seconds before ``now_ns`` (since 1970) the graph was written, ``None`` when there is none."""
    return find_file_age_s(graph_path(repo), now_ns)


def load_known(repo: Repo) -> dict[bytes, Node]:
    """Return what the graph holds, by raw id; nothing where there is none or it can't be used."""
    try:
        with open_regular(graph_path(repo)) as file:
            return parse_graph(file.read())
    except (OSError, ValueError):
        return {}


def find_other_graph(repo: Repo) -> str:
    """Return why the graph is not gitmem's to write now, empty when it is."""
    if os.path.exists(os.path.join(repo.objects_dir, "info", "commit-graphs", "commit-graph-chain")):
        return "Git keeps a chain of commit graphs here"
    if os.path.exists(f"{graph_path(repo)}.lock"):
        return "Git is writing the commit graph (commit-graph.lock)"
    return ""


def list_tips(repo: Repo) -> list[bytes]:
    """Return the raw ids of the commits that HEAD, branches and tags lead to, whatever else they name left out."""
    with reading("the branches"):
        names = [reference.target for reference in repo.handle.references.iterator()]
    found = {str(target) for target in names if not isinstance(target, str)}
    head = repo.head().commit
    tips = {bytes.fromhex(head)} if head else set()
    for target in found:
        commit = _peel(repo, target)
        if commit is not None:
            tips.add(bytes.fromhex(commit))
    return sorted(tips)


def _peel(repo: Repo, object_id: str) -> str | None:
    for _ in range(MAX_TAGS_DEEP):
        kind, data = _read_any(repo, object_id)
        if kind == ObjectType.COMMIT:
            return object_id
        tagged = _TAGGED.match(data) if kind == ObjectType.TAG else None
        if tagged is None:
            return None
        object_id = tagged[1].decode()
    return None


def _read_any(repo: Repo, object_id: str) -> tuple[ObjectType, bytes]:
    with reading(f"the object {object_id}"):
        found = repo.objects.read_loose(object_id)
        if found is None:
            kind, data = repo.handle.odb.read(object_id)
            return ObjectType(kind), data
        return found


def _collect(
    repo: Repo, known: dict[bytes, Node], tips: Iterable[bytes], most: int | None
) -> tuple[dict[bytes, Node], int]:
    """Return all that ``tips`` reach, and how many of it ``known`` has not.

    Raises ``ValueError`` for an odd commit, and for more than ``most`` new ones.
    """
    nodes: dict[bytes, Node] = {}
    read: dict[bytes, Node] = {}
    waiting = list(tips)
    while waiting:
        raw_id = waiting[-1]
        if raw_id in nodes:
            waiting.pop()
            continue
        node = known.get(raw_id) or read.get(raw_id)
        if node is None:
            if len(read) == most:
                raise ValueError(f"more than {most} commits are new")
            node = read[raw_id] = _read_node(repo, raw_id)
        missing = [parent for parent in node.parents if parent not in nodes]
        if missing:
            waiting += missing
            continue
        nodes[raw_id] = node if raw_id in known else _number(node, [nodes[parent] for parent in node.parents])
        waiting.pop()
    return nodes, len(read)


def _read_node(repo: Repo, raw_id: bytes) -> Node:
    data = repo.objects.read(raw_id.hex(), ObjectType.COMMIT)
    found = _COMMIT.match(data)
    if found is None or int(found[3]) > MAX_TIME:
        raise ValueError(f"Git and gitmem may read the commit {raw_id.hex()} differently: its header is unusual")
    parents = tuple(bytes.fromhex(line[7:47].decode()) for line in found[2].splitlines())
    return Node(bytes.fromhex(found[1].decode()), parents, int(found[3]), 0, 0)


def _number(node: Node, parents: list[Node]) -> Node:
    level = min(MAX_LEVEL, 1 + max((parent.level for parent in parents), default=0))
    latest = max((parent.corrected for parent in parents), default=0)
    return replace(node, level=level, corrected=max(node.time, latest + 1))


def _make_filter(repo: Repo, nodes: dict[bytes, Node], node: Node) -> bytes:
    before = nodes[node.parents[0]].tree.hex() if node.parents else None
    paths = set()
    for change in iter_tree_changes(repo.objects.read_tree, before, node.tree.hex()):
        if change.path:
            paths.add(change.path)
        if len(paths) > MAX_PATHS:
            break
    return make_filter(paths)
