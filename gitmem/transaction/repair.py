"""Views that fell behind the records: found by who made the last commit, and made again from scratch.

gitmem's own commits bring the views along. Any other commit on the branch (a person's, a merge, a revert) may have
changed records without them, so the next operation compares and, if need be, repairs them in a commit of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.errors import InputError
from gitmem.git.history import read_commit
from gitmem.git.message import parse_message
from gitmem.git.repo import Repo
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit
from gitmem.model.ids import CommitId, Fingerprint, fingerprint, new_op_id
from gitmem.model.record import Record
from gitmem.model.settings import Manifest
from gitmem.model.vault_path import VaultPath, find_path_problem
from gitmem.transaction.ground import Ground, Views
from gitmem.vault.layout import LIFECYCLE_FOLDERS
from gitmem.vault.record_file import parse_record

VIEW_FILES = ("INDEX.md", "catalog.json")
RULE = "views-follow-records"


def find_stale_views(ground: Ground, views: Views, manifest: Manifest, base: CommitId, actor: Actor) -> Change | None:
    """Return the change that repairs the views of ``base``, ``None`` when gitmem made it or they match."""
    trailers = dict(parse_message(read_commit(ground.repo, base).message).trailers)
    if "Gitmem-Op-Id" in trailers:
        return None
    return plan_repair(ground, views, manifest, base, actor)


def plan_repair(ground: Ground, views: Views, manifest: Manifest, base: CommitId, actor: Actor) -> Change | None:
    """Return the change that makes the views of ``base`` what its records say, ``None`` when they are."""
    edits = tuple(compare_views(ground.repo, views, manifest, base))
    if not edits:
        return None
    return Change(
        action=Action.REPAIR,
        op_id=new_op_id(),
        actor=actor,
        title="bring the views in step with the records",
        edits=edits,
        records=(),
        rule=RULE,
        note="The last commit was made outside gitmem and left INDEX.md or the catalog behind.",
    )


def compare_views(repo: Repo, views: Views, manifest: Manifest, base: CommitId) -> Iterator[FileEdit]:
    """Yield the edits that would bring the views of ``base`` in step; none when all is well."""
    wanted: Mapping[str, bytes] = views.rebuild(iter_records(repo, base), manifest.catalog_shards)
    committed = {path: blob for path, blob in repo.iter_files(base) if is_view(path)}
    for path in sorted(set(wanted) | set(committed)):
        data = wanted.get(path)
        old = committed.get(path)
        if old != (None if data is None else fingerprint(data)):
            yield FileEdit(VaultPath(path), None if old is None else Fingerprint(old), data)


def iter_records(repo: Repo, commit: CommitId) -> Iterator[Record]:
    """Yield the records of a commit. Files that can't be read as one are passed over; ``check`` lists them."""
    for folder in LIFECYCLE_FOLDERS:
        for path, blob in repo.iter_files(commit, folder):
            if not path.endswith(".md") or find_path_problem(path):
                continue
            try:
                record = parse_record(VaultPath(path), repo.read_object(blob))
            except InputError:
                continue
            if record is not None:
                yield record


def is_view(path: str) -> bool:
    """Tell whether gitmem generates the file at ``path``."""
    return path in VIEW_FILES or (path.startswith("catalog/") and path.endswith(".json"))
