"""Maintenance: loose objects into packs, packs into larger ones, the commit graph, and a catalog that has grown.

Nothing that anybody wrote is dropped: every sound object is packed, whether or not something refers to it. Done in
full by ``maintain``, and a bounded part of it by ``keep_up`` at the end of operations.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from gitmem.errors import GitmemError, IntegrityError, disk_refused
from gitmem.git.commit_graph import GraphReport, find_other_graph, list_tips, load_known, write_commit_graph
from gitmem.git.pack import Packed, merge_packs, pack_loose, plan_merge
from gitmem.git.packed_graph import graph_path
from gitmem.git.packs import count_loose, count_packs, find_git_at_work, iter_loose, list_packs, remove_litter
from gitmem.git.repo import Repo
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt
from gitmem.model.ids import CommitId, fingerprint, new_op_id
from gitmem.model.maintenance import Maintenance, Storage
from gitmem.model.settings import Manifest
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.apply import apply_planned, hold_vault, nothing_to_do
from gitmem.transaction.ground import Ground, Tools
from gitmem.transaction.repair import edits_of_views
from gitmem.values import dataclass, field, replace
from gitmem.vault.layout import MANIFEST
from gitmem.vault.manifest import edit_catalog_shards

RULE = "maintain"
MAX_MERGED_OBJECTS = 1600
"""How large a pack may become by what is done at the end of operations; larger ones are for ``maintain``."""
WHOLE_OBJECTS = 20_000
"""A repository of no more is made one pack by ``maintain``, in a few seconds; beyond, packs grow in proportion."""
MAX_PACKS = 50
"""More than these are worth a call of ``maintain``; Git's own bound for its automatic one."""
MAX_NEW_FILTERS = 200
MAX_NEW_COMMITS = 2000
MAX_GRAPH_BYTES = 4 << 20
"""What of the commit graph is left to ``maintain``: more filters or commits than these, a graph of 50,000 commits."""
GROWTH = {1: (256 << 10, 32), 32: (640 << 10, 1024)}
"""At how many bytes of one file the catalog goes over to how many: about 600 and 50,000 records."""
_MAX_NAMED = 3


@dataclass
class _Work:
    """What one run has done so far."""

    packed: int = 0
    merged: int = 0
    litter: int = 0
    graph: GraphReport = field(default_factory=GraphReport)
    unreadable: dict[str, None] = field(default_factory=dict)
    filters: dict[bytes, bytes] = field(default_factory=dict)
    left_alone: list[str] = field(default_factory=list)

    def add(self, done: Packed) -> None:
        self.packed += done.objects + done.duplicates
        self.unreadable.update(dict.fromkeys(done.unreadable))
        self.filters |= done.filters


def maintain(ground: Ground, tools: Tools, asked: Change) -> tuple[Receipt, Maintenance]:
    """Pack every sound loose object, merge packs, bring the commit graph up to date, and let the catalog grow.

    ``asked`` says who asks and under which operation id; it has no edits. The catalog's growth is a commit, the one
    change that the receipt tells of; where what comes after it fails, a notice says so. Raises as ``apply`` does for a
    vault that can't be written now, and without such a commit ``UnavailableError`` (``disk``) and what packing raises;
    nothing is lost then, and the next run goes on.
    """
    actor = asked.actor
    what = "maintain"
    with hold_vault(ground, tools, what):
        repo, work = ground.repo, _Work()
        before = measure(repo)
        shards: list[int] = []
        grow = _make_planner(ground, tools, actor, shards)

        def plan(manifest: Manifest, base: CommitId) -> Change | None:
            change = grow(manifest, base)
            if change is None:
                return None
            return replace(change, op_id=asked.op_id, is_named=asked.is_named, request=asked.request)

        receipt = apply_planned(ground, tools, actor, what, plan)
        try:
            _look_after(repo, tools, work)
            receipt = receipt or nothing_to_do(ground, asked, tools)
        except (OSError, GitmemError) as error:
            if receipt is None:
                raise _explain(error) from error
            said = f"committed, but the vault's storage could not be looked after: {error}; `gitmem maintain` goes on"
            receipt = replace(receipt, notices=(*receipt.notices, said))
        repo.reopen()
        _tell_left_alone(repo, work)
        return receipt, Maintenance(
            before=before,
            after=measure(repo),
            packed=work.packed,
            merged=work.merged,
            graph=work.graph.commits,
            graph_new=work.graph.new,
            shards_before=shards[0],
            shards_after=shards[-1],
            litter=work.litter,
            left_alone=tuple(work.left_alone),
        )


def look(ground: Ground, manifest: Manifest) -> Maintenance:
    """Return what ``maintain`` would do, as far as looking tells: nothing is locked or written."""
    repo = ground.repo
    now = measure(repo)
    able = plan_merge(list_packs(repo), whole=WHOLE_OBJECTS)
    known, tips = load_known(repo), list_tips(repo)
    work = _Work(merged=len(able))
    if reason := find_other_graph(repo):
        work.left_alone.append(f"the commit graph: {reason}")
    return Maintenance(
        before=now,
        after=now,
        packed=now.loose,
        merged=work.merged,
        graph=len(known),
        graph_new=0 if all(tip in known for tip in tips) else 1,
        shards_before=manifest.catalog_shards,
        shards_after=find_growth(ground, manifest) or manifest.catalog_shards,
        left_alone=tuple(work.left_alone),
        dry_run=True,
    )


def keep_up(ground: Ground, tools: Tools, actor: Actor, /) -> Sequence[str]:
    """Do a bounded part of maintenance if enough loose objects have gathered; under the vault lock alone.

    Either some packs become one, or the oldest loose objects a new one. Returns notices; never raises for what fails,
    since the operation before it is done.
    """
    repo, limit = ground.repo, tools.maintain_at_loose
    if not limit or count_loose(repo) < limit or find_git_at_work(repo, tools.clock.time_ns()):
        return ()
    try:
        tools.probe("maintain")
        remove_litter(repo)
        work = _Work()
        small = plan_merge(list_packs(repo), MAX_MERGED_OBJECTS)
        if small:
            merge_packs(repo, small, tools.probe)
        else:
            work.add(pack_loose(repo, tools.probe, limit))
            if _size(graph_path(repo)) < MAX_GRAPH_BYTES:
                write_commit_graph(repo, tools.probe, work.filters, MAX_NEW_FILTERS, MAX_NEW_COMMITS)
        repo.reopen()
        return _grow_quietly(ground, tools, actor)
    except Exception as error:  # noqa: BLE001 - the operation stands, whatever goes wrong here
        return (f"the vault's storage could not be looked after: {error}; `gitmem maintain` tries again",)


def find_growth(ground: Ground, manifest: Manifest) -> int | None:
    """Return over how many files the catalog should be spread, ``None`` when it is right as it is.

    What is committed counts. It is read only where a file is so large: in its place a person may have put anything.
    """
    if manifest.catalog_shards not in GROWTH:
        return None
    most, more = GROWTH[manifest.catalog_shards]
    folder = ground.layout.file("catalog") if manifest.catalog_shards > 1 else ground.layout.repo
    names = os.listdir(folder) if manifest.catalog_shards > 1 and os.path.isdir(folder) else ["catalog.json"]
    large = [file for name in names if _size(file := os.path.join(folder, name)) > most]
    return more if any(_committed_size(ground, file) > most for file in large) else None


def find_due(ground: Ground, manifest: Manifest, limit: int) -> str:
    """Return why ``gitmem maintain`` should be run, empty when there is no need. Looks at folders, and large views."""
    loose, packs = count_loose(ground.repo), count_packs(ground.repo)
    if loose > 4 * max(limit, 1000):
        return f"about {loose} loose objects have gathered"
    if packs > MAX_PACKS:
        return f"there are {packs} packs"
    more = find_growth(ground, manifest)
    return "" if more is None else f"the catalog has outgrown {manifest.catalog_shards} files"


def measure(repo: Repo) -> Storage:
    """Return what lies in the object store now."""
    loose = [facts.st_size for _id, facts in iter_loose(repo)]
    packs = list_packs(repo)
    return Storage(len(loose), len(packs), sum(loose) + sum(pack.size_bytes for pack in packs))


def _explain(error: OSError | GitmemError) -> GitmemError:
    if isinstance(error, GitmemError):
        return error
    return disk_refused(error, "Nothing was lost; the next `gitmem maintain` goes on.")


def _look_after(repo: Repo, tools: Tools, work: _Work) -> None:
    work.litter = remove_litter(repo)
    busy = find_git_at_work(repo, tools.clock.time_ns())
    if busy:
        work.left_alone.append(f"loose objects and packs: {busy}")
    else:
        _pack_all(repo, tools, work)
    work.graph = _write_graph(repo, tools, work)


def _pack_all(repo: Repo, tools: Tools, work: _Work) -> None:
    tools.probe("maintain")
    while True:
        done = pack_loose(repo, tools.probe, skip=tuple(work.unreadable))
        work.add(done)
        if not done.objects and not done.duplicates:
            break
    packs = plan_merge(list_packs(repo), whole=WHOLE_OBJECTS)
    if packs:
        try:
            merge_packs(repo, packs, tools.probe)
            work.merged = len(packs)
        except ValueError as error:  # one of them is damaged: all stay
            work.left_alone.append(f"the packs: {error}")


def _write_graph(repo: Repo, tools: Tools, work: _Work) -> GraphReport:
    repo.reopen()
    try:
        graph = write_commit_graph(repo, tools.probe, work.filters)
    except GitmemError as error:  # history is damaged somewhere, which is not for the graph to say
        graph = GraphReport(reason=error.message)
    if graph.reason:
        work.left_alone.append(f"the commit graph: {graph.reason}")
    return graph


def _tell_left_alone(repo: Repo, work: _Work) -> None:
    named = list(work.unreadable)
    if named:
        more = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
        listed = ", ".join(named[:_MAX_NAMED])
        work.left_alone.append(f"loose objects that are not what their names say: {listed}{more}; see `git fsck`")
    work.left_alone += [f"{pack.name}: {pack.reason}" for pack in list_packs(repo) if pack.reason]


def _make_planner(
    ground: Ground, tools: Tools, actor: Actor, shards: list[int]
) -> Callable[[Manifest, CommitId], Change | None]:
    """Return what plans the catalog's growth; it puts the number of files before, and after if they grow, into
    ``shards``."""

    def plan(manifest: Manifest, base: CommitId) -> Change | None:
        shards.append(manifest.catalog_shards)
        more = find_growth(ground, manifest)
        if more is None:
            return None
        shards.append(more)
        return plan_growth(ground, tools, manifest, base, more, actor)

    return plan


def plan_growth(ground: Ground, tools: Tools, manifest: Manifest, base: CommitId, shards: int, actor: Actor) -> Change:
    """Return the change that spreads the catalog over ``shards`` files; all but the manifest are views."""
    repo, path = ground.repo, VaultPath(MANIFEST)
    views = tools.views.reshard(lambda name: repo.read_blob(base, name), manifest.catalog_shards, shards)
    committed = repo.read_blob(base, MANIFEST)
    assert committed is not None  # it was read to get here
    edit = FileEdit(path, fingerprint(committed), edit_catalog_shards(committed, shards))
    return Change(
        action=Action.MAINTAIN,
        op_id=new_op_id(),
        actor=actor,
        title=f"spread the catalog over {shards} files",
        edits=(edit, *edits_of_views(repo, base, views)),
        records=(),
        rule=RULE,
        note="It has grown so large that writing it whole in every commit costs too much.",
    )


def _grow_quietly(ground: Ground, tools: Tools, actor: Actor) -> Sequence[str]:
    """Let a catalog in one file grow; more than that takes too long for others to wait."""
    shards: list[int] = []

    def plan(manifest: Manifest, base: CommitId) -> Change | None:
        return _make_planner(ground, tools, actor, shards)(manifest, base) if manifest.catalog_shards == 1 else None

    if _size(ground.layout.file("catalog.json")) <= GROWTH[1][0]:
        return ()
    receipt = apply_planned(ground, replace(tools, index_wait_s=0.0), actor, "maintain", plan)
    if receipt is None:
        return ()
    return (*receipt.notices, f"the catalog has grown and is spread over {shards[-1]} files, in a commit of its own")


def _committed_size(ground: Ground, file: str) -> int:
    path, head = os.path.relpath(file, ground.layout.repo).replace(os.sep, "/"), ground.repo.head().commit
    with contextlib.suppress(IntegrityError):  # one that is lost is not to be grown
        return 0 if head is None else len(ground.repo.read_blob(head, path) or b"")
    return 0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
