"""The transaction: lock, marker, clean, validate, write, stage, inspect, commit, receipt. Design section 5."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from gitmem.errors import GitmemError, IntegrityError, disk_refused
from gitmem.git.publish import move_branch, prove, write_commit
from gitmem.git.stage import IndexLock, install_index, prepare_index, remove_own_stale_lock
from gitmem.git.trees import build_tree, diff_trees, tree_of, write_blobs
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt
from gitmem.model.ids import CommitId, Fingerprint, OpId, new_op_id
from gitmem.model.settings import Manifest
from gitmem.model.vault_path import VaultPath
from gitmem.transaction import steps
from gitmem.transaction.displaced import put_aside, settle_displaced
from gitmem.transaction.earlier import find_earlier, find_operation
from gitmem.transaction.files import find_modes, flush_folders, put_in_place
from gitmem.transaction.ground import Ground, Tools
from gitmem.transaction.journal import Journal, drop_journal, is_pending, save_journal
from gitmem.transaction.receipts import append_receipt
from gitmem.transaction.recover import check_recovered, recover, settle
from gitmem.transaction.repair import edits_of_views, find_stale_views, mend_views, plan_repair, put_views_back
from gitmem.values import replace
from gitmem.vault.lock import hold_lock

_UNDECIDED = "What became of the operation is decided by the next command."


def apply(ground: Ground, change: Change, tools: Tools) -> Receipt:
    """Carry out one change: one lock, one commit, one receipt.

    Returns the receipt; for an op id that was already carried out, the receipt of that time. A change without edits
    makes no commit and says so (``changed`` is false). Raises before the commit with the vault as it was
    (``InputError``, ``StateError``, ``PolicyError``, ``UnavailableError``), and ``IntegrityError`` when what was
    written does not read back; the crash journal then stays and the next operation decides by what it finds.
    """
    with hold_vault(ground, tools, _name(change)):
        return apply_held(ground, change, tools)


def apply_held(ground: Ground, change: Change, tools: Tools) -> Receipt:
    """Do what ``apply`` does, with the vault lock held by the caller (``hold_vault``). Raises as it does."""
    receipt = _apply(ground, change, tools, _name(change))
    if not receipt.changed or is_pending(ground.repo.common_dir):
        return receipt
    # Git's own lock is free by now: what follows keeps no person's command waiting.
    return replace(receipt, notices=(*receipt.notices, *tools.keep_up(ground, tools, change.actor)))


def apply_planned(
    ground: Ground, tools: Tools, actor: Actor, what: str, plan: Callable[[Manifest, CommitId], Change | None]
) -> Receipt | None:
    """Carry out what ``plan`` makes of the committed manifest and the commit to build on; ``None`` when it makes none.

    Called with the vault lock held. ``plan`` names every file, views too; views that fell behind are repaired first.
    Raises as ``apply`` does, also when there is nothing to do in a vault that can't be written.
    """
    with _hold_index(ground, tools, what) as notices:
        manifest, base = _check_marker_and_views(ground, tools, actor, notices)
        change = plan(manifest, base)
        if change is None:
            return None
        views = tuple(edit for edit in change.edits if tools.views.is_view(edit.path))
        others = tuple(edit for edit in change.edits if not tools.views.is_view(edit.path))
        edits = others + steps.make_way(ground, change.op_id, views, notices)
        receipt = _run(ground, change, edits, tools, base, manifest)
        return replace(receipt, notices=receipt.notices + tuple(notices))


def _name(change: Change) -> str:
    return f"{change.action.value} {change.op_id}"


def _apply(ground: Ground, change: Change, tools: Tools, what: str) -> Receipt:
    with _hold_index(ground, tools, what) as notices:
        # INV-ONE-COMMIT: with the lock held, so that of two who ask at once the second one sees what the first one did.
        if change.is_named and (earlier := find_earlier(ground, change)) is not None:
            return earlier
        if not change.edits:
            return nothing_to_do(ground, change, tools)
        manifest, base = _check_marker_and_views(ground, tools, change.actor, notices)
        edits = change.edits + _plan_views(ground, change, tools, manifest, base, notices)
        receipt = _run(ground, change, edits, tools, base, manifest)
        return replace(receipt, notices=receipt.notices + tuple(notices))


def _check_marker_and_views(
    ground: Ground, tools: Tools, actor: Actor, notices: list[str]
) -> tuple[Manifest, CommitId]:
    """Return the committed manifest and the commit to build on, its views repaired if they fell behind."""
    manifest, base = steps.check_marker(ground)
    stale = find_stale_views(ground, tools.views, manifest, base, actor)
    if stale is None:
        return manifest, base
    _run(ground, stale, stale.edits, tools, base, manifest)
    notices.append("the views did not match the records (an edit was committed outside gitmem); repaired")
    return steps.check_marker(ground)


def apply_repair(ground: Ground, tools: Tools, actor: Actor, op_id: OpId | None = None, request: str = "") -> Receipt:
    """Bring the committed views in step with the committed records, in a commit of their own.

    Files of views that were edited by hand are put back, and what was written there is kept. When the committed views
    are in step, no commit is made. For an ``op_id`` that was already carried out, returns the receipt of that time.
    Raises as ``apply`` does.
    """
    nothing = Change(Action.REPAIR, op_id or new_op_id(), actor, "nothing", (), (), "no-change")
    nothing = replace(nothing, is_named=op_id is not None, request=request)
    with locked(ground, tools, "repair of the views") as notices:
        if op_id is not None and (earlier := find_earlier(ground, nothing)) is not None:
            return earlier
        manifest, base = steps.check_marker(ground)
        mend_views(ground, tools.views, manifest, base)
        planned = plan_repair(ground, tools.views, manifest, base, actor)
        if planned is None:
            receipt = nothing_to_do(ground, nothing, tools)
        else:
            change = replace(planned, op_id=nothing.op_id, request=request)
            edits = steps.make_way(ground, change.op_id, change.edits, notices)
            receipt = _run(ground, change, edits, tools, base, manifest)
        try:
            notices.extend(put_views_back(ground, tools.views, receipt.op_id))
        except (OSError, GitmemError) as error:
            if not receipt.changed:
                raise _explain(error, "Not every view was put back.", tuple(notices)) from error
            notices.append(f"committed, but not every view was put back: {error}")
        return replace(receipt, notices=receipt.notices + tuple(notices))


def was_carried_out(ground: Ground, tools: Tools, op_id: OpId) -> bool:
    """Tell whether there was an operation of that id, with the locks held: none that is under way is overlooked.

    Locks as ``apply`` does, and raises what it raises for a vault that is busy or can't be settled.
    """
    with locked(ground, tools, f"a look for {op_id}"):
        return find_operation(ground, op_id) is not None


def recover_now(ground: Ground, tools: Tools) -> list[str]:
    """Finish or undo abandoned operations, for a reader that found one; returns notices. Locks as ``apply`` does."""
    with locked(ground, tools, "recovery") as notices:
        return notices


def recover_held(ground: Ground, tools: Tools) -> list[str]:
    """Do what ``recover_now`` does, with the vault lock held by the caller (``hold_vault``)."""
    with _hold_index(ground, tools, "recovery") as notices:
        return notices


@contextlib.contextmanager
def locked(ground: Ground, tools: Tools, what: str) -> Iterator[list[str]]:
    """Hold the vault lock and Git's index lock, with nothing abandoned left; yields recovery's notices."""
    with hold_vault(ground, tools, what), _hold_index(ground, tools, what) as notices:
        yield notices


@contextlib.contextmanager
def hold_vault(ground: Ground, tools: Tools, what: str) -> Iterator[None]:
    """Hold the vault lock alone: other gitmem processes wait, a person's Git commands don't."""
    tools.probe("lock")
    steps.check_own_repository(ground)
    with hold_lock(ground.repo.common_dir, what, tools.lock_wait_s, tools.clock):
        yield


@contextlib.contextmanager
def _hold_index(ground: Ground, tools: Tools, what: str) -> Iterator[list[str]]:
    """Hold Git's index lock, under the vault lock, with nothing abandoned left; yields recovery's notices."""
    remove_own_stale_lock(ground.repo)
    index_lock: IndexLock = steps.take_index_lock(ground, tools, what)
    try:
        try:
            notices = recover(ground, tools.probe)
            notices += settle_displaced(ground, tools.clock.time_ns())
            check_recovered(ground)
        except OSError as error:
            raise disk_refused(error, "An abandoned operation waits; the next command settles it.") from error
        tools.probe("marker")
        yield notices
    except OSError as error:  # before the journal, that is: what comes later is settled and told by itself
        raise _explain(error, "What was asked for was not committed.", ()) from error
    finally:
        # One that can't be removed now is known as ours by its content, and the next command removes it.
        with contextlib.suppress(OSError, GitmemError):
            index_lock.release()


def _run(
    ground: Ground, change: Change, edits: tuple[FileEdit, ...], tools: Tools, base: CommitId, manifest: Manifest
) -> Receipt:
    tools.probe("clean")
    committed = steps.check_clean(ground, manifest, base, edits)
    tools.probe("validate")
    steps.check_paths(ground, edits)
    tools.check(replace(change, edits=edits))
    steps.mend_old_blobs(ground, edits, committed)
    journal = steps.plan_journal(change, edits, committed, (manifest.branch, base), steps.iso_time(tools))
    kept = steps.keep_staged(ground, change.op_id, edits, committed)
    tools.probe("journal")
    try:
        save_journal(ground.repo.common_dir, journal)
        private, commit = _write_and_commit(ground, change, edits, journal, manifest.branch, tools)
    except BaseException as error:  # noqa: BLE001 - raised again, once what it left is settled
        return _settle_failure(ground, journal, error)
    receipt = _finish(ground, journal, commit, private, tools)
    return replace(receipt, notices=kept + receipt.notices)


def _settle_failure(ground: Ground, journal: Journal, error: BaseException) -> Receipt:
    """Bring an operation that raised to its end at once. Returns its receipt if it turned out to be committed.

    Raises ``error``, told as far as it could be settled: where even that failed, the journal stays, and the next
    command decides by what it finds.
    """
    try:
        outcome = settle(ground, journal, lambda _step: None)
    except (OSError, GitmemError):
        raise _explain(error, _UNDECIDED, ()) from error
    if outcome.receipt is not None and isinstance(error, (OSError, GitmemError)):
        said = f"committed, after this was overcome: {error}"
        return replace(outcome.receipt, notices=(*outcome.receipt.notices, said, *outcome.notices))
    raise _explain(error, "Nothing was committed.", outcome.notices) from error


def _write_and_commit(
    ground: Ground, change: Change, edits: tuple[FileEdit, ...], journal: Journal, branch: str, tools: Tools
) -> tuple[str, CommitId]:
    repo, root = ground.repo, ground.layout.repo
    content = steps.blobs_of(edits)
    modes = find_modes(root, journal.edits)
    tools.probe("write")
    for number, edit in enumerate(journal.edits):
        if number:
            tools.probe("write-next")
        if edit.before != edit.after:
            put_in_place(root, edit, content.get(edit.path), modes.get(edit.path))
    flush_folders(root, journal.edits)
    tools.probe("stage")
    ids: Mapping[VaultPath, Fingerprint | None] = steps.ids_of(journal.edits)
    write_blobs(repo, content)
    tree = build_tree(repo, journal.base, ids)
    private = prepare_index(repo, journal.base, ids, journal.op_id)
    tools.probe("inspect")
    steps.check_difference(diff_trees(repo, tree_of(repo, journal.base), tree), journal.edits)
    actor = change.actor
    when = (int(tools.clock.now().timestamp()), 0)
    commit = write_commit(repo, tree, [journal.base], (actor.name, actor.email), when, steps.make_message(change))
    tools.probe("commit")
    move_branch(repo, branch, journal.base, commit, f"gitmem: {change.action.value}")
    tools.probe("prove")
    blobs = {path: blob for path, blob in ids.items() if blob is not None}
    prove(root, branch, commit, journal.base, tree, blobs)
    return private, commit


def _finish(ground: Ground, journal: Journal, commit: CommitId, private: str, tools: Tools) -> Receipt:
    receipt = replace(journal.receipt, commit=commit)
    try:
        # INV-PROVED: nothing is acknowledged before the commit was read back from a repository opened anew.
        notices = [said for edit in journal.edits if (said := put_aside(ground, journal.op_id, edit))]
        receipt = replace(receipt, notices=(*receipt.notices, *notices))
        tools.probe("receipt")
        append_receipt(ground.layout, receipt)
        tools.probe("index")
        install_index(ground.repo, private)
        tools.probe("finish")
        drop_journal(ground.repo.common_dir, journal.op_id)
    except (OSError, GitmemError) as error:
        # The commit stands; what is left to do is bookkeeping, and the journal says so to the next command.
        return replace(receipt, notices=(*receipt.notices, f"committed; the next command completes it: {error}"))
    return receipt


def _plan_views(
    ground: Ground, change: Change, tools: Tools, manifest: Manifest, base: CommitId, notices: list[str]
) -> tuple[FileEdit, ...]:
    def read(path: str) -> bytes | None:
        return ground.repo.read_blob(base, path)

    try:
        views = tools.views.update(read, change.records, manifest.catalog_shards)
    except IntegrityError:
        mend_views(ground, tools.views, manifest, base)
        views = tools.views.update(read, change.records, manifest.catalog_shards)
    return steps.make_way(ground, change.op_id, tuple(edits_of_views(ground.repo, base, views)), notices)


def nothing_to_do(ground: Ground, change: Change, tools: Tools) -> Receipt:
    """Return the receipt of a change that has nothing to do; one of a named operation is kept for a retry."""
    receipt = Receipt(
        op=change.action,
        op_id=change.op_id,
        commit=None,
        changed=False,
        records=(),
        time=steps.iso_time(tools),
        actor=change.actor.name,
        surface=change.actor.surface.value,
        request=change.request,
        session=change.actor.session,
    )
    if change.is_named:  # by now a retry might find something to do
        append_receipt(ground.layout, receipt)
    return receipt


def _explain(error: BaseException, outcome: str, notices: tuple[str, ...]) -> BaseException:
    said = " ".join((outcome, *notices))
    if isinstance(error, OSError):
        refused = disk_refused(error, said)
        refused.fields["notices"] = list(notices)
        return refused
    if isinstance(error, GitmemError) and (notices or outcome == _UNDECIDED):
        added = (outcome, *notices) if outcome == _UNDECIDED else notices
        error.hint = f"{error.hint} {' '.join(added)}".strip()
        error.fields["notices"] = list(notices)
    return error
