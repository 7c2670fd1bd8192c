"""Views that fell behind the records: found by who made the last commit, and brought in step in a commit of their own.

gitmem's own commits bring the views along. Any other commit on the branch (a person's, a merge, a revert, an amended
one) may have changed records without them, so the next operation compares and, if need be, repairs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.errors import GitmemError, InputError, IntegrityError, StateError
from gitmem.git.repo import Repo
from gitmem.git.stage import staged_ids
from gitmem.git.trees import Difference, diff_trees, tree_of, write_blobs
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import CommitId, OpId, fingerprint, new_op_id
from gitmem.model.record import Record, state_of
from gitmem.model.settings import Manifest
from gitmem.model.vault_path import VaultPath, find_path_problem
from gitmem.transaction.displaced import displaced_name, keep_displaced, settle_temp
from gitmem.transaction.files import flush_folders, put_in_place, temp_name
from gitmem.transaction.ground import Ground, Views
from gitmem.transaction.journal import Journal, JournalEdit, drop_journal, save_journal
from gitmem.transaction.receipts import find_last_receipt
from gitmem.vault.layout import LIFECYCLE_FOLDERS, MANIFEST
from gitmem.vault.paths import read_file
from gitmem.vault.record_file import parse_record

RULE = "views-follow-records"


def find_stale_views(ground: Ground, views: Views, manifest: Manifest, base: CommitId, actor: Actor) -> Change | None:
    """Return the change that repairs the views of ``base``; ``None`` when the last operation made it, or they match.

    A commit is known to be gitmem's by its receipt, not by its trailers, which amending and cherry-picking keep.
    """
    last = find_last_receipt(ground.layout)
    if last is not None and last.commit == base:
        return None
    changes = None if last is None or last.commit is None else _find_plain_edits(ground.repo, views, last.commit, base)
    if changes is None:
        return plan_repair(ground, views, manifest, base, actor)
    updated = views.update(lambda path: ground.repo.read_blob(base, path), changes, manifest.catalog_shards)
    return _make_change(tuple(edits_of_views(ground.repo, base, updated)), actor)


def plan_repair(ground: Ground, views: Views, manifest: Manifest, base: CommitId, actor: Actor) -> Change | None:
    """Return the change that makes the views of ``base`` what its records say, ``None`` when they are."""
    return _make_change(tuple(compare_views(ground.repo, views, manifest, base)), actor)


def mend_views(ground: Ground, views: Views, manifest: Manifest, base: CommitId) -> None:
    """Write again the committed views that the repository lost, where the records still say what was in them."""
    wanted = views.rebuild(iter_records(ground.repo, base), manifest.catalog_shards)
    for path, blob in ground.repo.find_blobs(base, sorted(wanted)).items():
        if blob is not None and blob == fingerprint(wanted[path]) and not is_readable(ground.repo, blob):
            write_blobs(ground.repo, {VaultPath(path): wanted[path]})


def is_readable(repo: Repo, blob: str) -> bool:
    """Tell whether a blob can be read from the repository now."""
    try:
        repo.read_object(blob)
    except IntegrityError:
        return False
    return True


def put_views_back(ground: Ground, views: Views, op_id: OpId) -> list[str]:
    """Write the views whose files are not what is committed, and keep what was there; what is staged of one stays.

    Called with the locks held, with the id of the operation that it belongs to, whose journal may wait still: this has
    one of its own. Keeps INV-PEOPLE-FIRST: a view that is being edited at that very moment is left as it is. Returns
    notices.
    """
    repo, root = ground.repo, ground.layout.repo
    head = repo.head()
    paths = [VaultPath(path) for path in repo.dirty_paths() if views.is_view(path)]
    committed, staged = repo.find_blobs(head.commit, paths), staged_ids(repo, paths)
    waiting = [path for path in paths if (blob := committed[path]) is not None and staged[path] == blob]
    if not waiting or head.branch is None or head.commit is None:
        return []
    own_id = new_op_id()
    notices = []
    edits = []
    for number, path in enumerate(waiting):
        data, blob = read_file(root, path), committed[path]
        if data is not None:
            keep_displaced(ground.layout, op_id, path, data)
        kept = f"; what stood there is kept in {displaced_name(op_id)}" if data is not None else ""
        notices.append(f"{path} was put back{kept}")
        before = None if data is None else fingerprint(data)
        edits.append(JournalEdit(path, blob, before, blob, temp_name(path, own_id, number)))
    receipt = Receipt(op=Action.REPAIR, op_id=own_id, commit=None, changed=False, records=())
    # Nothing of it is to be committed; after a crash on the way the next command completes it.
    save_journal(repo.common_dir, Journal(own_id, head.branch, head.commit, tuple(edits), receipt))
    for place, edit in enumerate(edits):
        assert edit.after is not None
        try:
            put_in_place(root, edit, repo.read_object(edit.after))
        except StateError as error:
            notices[place] = f"{edit.path} was not put back: {error.message}"
    flush_folders(root, edits)
    said = [settle_temp(ground, own_id, edit) for edit in edits]
    drop_journal(repo.common_dir, own_id)
    return [*notices, *filter(None, said)]


def compare_views(repo: Repo, views: Views, manifest: Manifest, base: CommitId) -> Iterator[FileEdit]:
    """Yield the edits that would bring the views of ``base`` in step; none when all is well. Reads every record."""
    wanted: dict[str, bytes | None] = {path: None for path, _blob in repo.iter_files(base) if views.is_view(path)}
    wanted.update(views.rebuild(iter_records(repo, base), manifest.catalog_shards))
    return edits_of_views(repo, base, wanted)


def edits_of_views(repo: Repo, base: CommitId, views: Mapping[str, bytes | None]) -> Iterator[FileEdit]:
    """Yield the edits that bring the committed views to ``views``, by path; equal ones are left out."""
    for path, old in repo.find_blobs(base, sorted(views)).items():
        data = views[path]
        if old != (None if data is None else fingerprint(data)):
            yield FileEdit(VaultPath(path), old, data)


def iter_records(repo: Repo, commit: CommitId) -> Iterator[Record]:
    """Yield the records of a commit. Files that can't be read as one are passed over; ``check`` lists them."""
    for folder in LIFECYCLE_FOLDERS:
        for path, blob in repo.iter_files(commit, folder):
            record = find_record(repo, path, blob)
            if record is not None:
                yield record


def find_record(repo: Repo, path: str, blob: str | None) -> Record | None:
    """Return the record that a committed file is; ``None`` for one that is none, or can't be read as one."""
    if blob is None or not path.endswith(".md") or find_path_problem(path):
        return None
    try:
        return parse_record(VaultPath(path), repo.read_object(blob))
    except InputError:
        return None


def _find_plain_edits(repo: Repo, views: Views, old: CommitId, new: CommitId) -> list[RecordChange] | None:
    """Return what changed between two commits if it is edits of records in place and nothing that touches views else.

    That is what a backup plugin commits all day, and it spares reading every record. ``None`` when more happened.
    """
    try:
        found = diff_trees(repo, tree_of(repo, old), tree_of(repo, new))
    except GitmemError:  # the receipt's commit is gone: history was rewritten
        return None
    changes: list[RecordChange] = []
    for path, difference in found.items():
        if views.is_view(path) or path == MANIFEST:
            return None
        if state_of(path) is not None and not _is_plain(repo, path, difference, changes):
            return None
    return changes


def _is_plain(repo: Repo, path: str, difference: Difference, changes: list[RecordChange]) -> bool:
    before, after = (find_record(repo, path, blob) for blob in (difference.old, difference.new))
    if before is None and after is None:
        return True
    if before is None or after is None or before.id != after.id:
        return False
    changes.append(RecordChange(before, after))
    return True


def _make_change(edits: tuple[FileEdit, ...], actor: Actor) -> Change | None:
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
