"""Recovery: finish or undo what a crash left. It looks at state, never at age, and may run any number of times.

An operation whose commit is in the branch's history is finished; any other is undone (INV-OLD-OR-NEW). Only
files that hold exactly what the operation wrote, or exactly what it found, are touched; all else is a person's.
"""

from __future__ import annotations

from gitmem.errors import IntegrityError, StateError
from gitmem.git.history import find_op
from gitmem.git.publish import flush_branch
from gitmem.git.repo import open_repo
from gitmem.git.stage import (
    discard_private_index,
    install_index,
    prepare_index,
    remove_own_branch_locks,
    staged_ids,
)
from gitmem.git.trees import remove_unreadable, write_blobs
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, fingerprint
from gitmem.transaction.displaced import settle_temp
from gitmem.transaction.files import bring_forward, take_back
from gitmem.transaction.ground import Ground, Probe
from gitmem.transaction.journal import Journal, drop_journal, find_journals, load_journal, set_aside
from gitmem.transaction.receipts import append_receipt, find_receipt
from gitmem.values import dataclass, replace
from gitmem.vault.paths import read_file


@dataclass(frozen=True)
class Outcome:
    """How an operation ended: ``receipt`` when it is committed, ``None`` when it was undone; notices for people."""

    receipt: Receipt | None
    notices: tuple[str, ...]


def recover(ground: Ground, probe: Probe) -> list[str]:
    """Finish or undo every abandoned operation. Called with the vault lock and Git's index lock held.

    Returns notices for people, one line each. Raises what the disk raises (``OSError`` as it is); then the journal
    stays and the next call goes on from there.
    """
    notices: list[str] = []
    names = find_journals(ground.repo.common_dir)
    if names:
        _check_place(ground)
    for name in names:
        try:
            journal = load_journal(ground.repo.common_dir, name)
        except ValueError:
            kept = set_aside(ground.repo.common_dir, name)
            notices.append(f"a crash journal can't be understood; it is kept as {kept}")
            continue
        outcome = settle(ground, journal, probe)
        done = "finished" if outcome.receipt else "undid"
        notices.append(f"{done} the abandoned operation {journal.op_id} ({journal.receipt.op.value})")
        notices.extend(outcome.notices)
    return notices


def settle(ground: Ground, journal: Journal, probe: Probe) -> Outcome:
    """Bring one operation to its end, from wherever it was stopped; may itself be stopped and run again."""
    if ground.repo.head().branch != journal.branch:
        raise StateError(
            "not-on-managed-branch",
            f"an abandoned operation on branch {journal.branch} waits, but the vault is on another branch",
            f"Switch back with `git switch {journal.branch}`; the next command then settles it.",
        )
    probe("settle")
    remove_own_branch_locks(ground.repo)
    puts_back = all(edit.base == edit.after for edit in journal.edits)  # what is committed already, into the files
    commit = None if puts_back else find_commit(ground, journal)
    remove_unreadable(ground.repo, [edit.after for edit in journal.edits if edit.after])
    receipt = None
    if puts_back:
        said = _finish(ground, journal, journal.base, probe)
    elif commit is None:
        said = _undo(ground, journal, probe)
    else:
        probe("settle-mend")
        # A flush that failed, or that never came, proves nothing about what can be read now.
        ground.repo.objects.flush_folders()
        flush_branch(ground.repo, journal.branch)
        _mend_blobs(ground, journal)
        _prove_again(ground, journal, commit)
        said = _finish(ground, journal, commit, probe)
        probe("settle-receipt")
        receipt = ensure_receipt(ground, journal, commit)
    discard_private_index(ground.repo, journal.op_id)
    for edit in journal.edits:
        probe("settle-temp")
        notice = settle_temp(ground, journal.op_id, edit)
        if notice:
            said.append(notice)
    probe("settle-drop")
    drop_journal(ground.repo.common_dir, journal.op_id)
    return Outcome(receipt, tuple(said))


def find_commit(ground: Ground, journal: Journal) -> CommitId | None:
    """Return the commit of the journal's operation, if the branch has it after the commit it started from."""
    tip = ground.repo.head().commit
    if tip is None or tip == journal.base:
        return None
    found = find_op(ground.repo, tip, journal.op_id, stop=journal.base)
    return None if found is None else found.id


def ensure_receipt(ground: Ground, journal: Journal, commit: CommitId) -> Receipt:
    """Return the operation's receipt, appended now if it isn't there yet."""
    receipt = replace(journal.receipt, commit=commit)
    known = find_receipt(ground.layout, journal.op_id)
    if known is None:
        append_receipt(ground.layout, receipt)
    return known or receipt


def _check_place(ground: Ground) -> None:
    busy = ground.repo.state_in_progress()
    if busy or ground.repo.head().branch is None:
        raise StateError(
            "abandoned-operation",
            f"an abandoned operation waits, but {f'a {busy} is under way' if busy else 'HEAD is detached'}",
            "Finish or abort that with Git and switch back to the managed branch; the next command then settles it.",
        )


def _undo(ground: Ground, journal: Journal, probe: Probe) -> list[str]:
    said = []
    tip = ground.repo.head().commit
    current = ground.repo.find_blobs(tip, [edit.path for edit in journal.edits])
    for edit in reversed(journal.edits):
        probe("settle-file")
        if edit.after != edit.base and current[edit.path] == edit.after:
            continue  # a person has committed it since: now it is theirs
        old = ground.repo.read_blob(journal.base, edit.path) if edit.before else None
        notice = take_back(ground.layout.repo, edit, old)
        if notice:
            said.append(notice)
    return said


def _finish(ground: Ground, journal: Journal, commit: CommitId, probe: Probe) -> list[str]:
    said = []
    tip = ground.repo.head().commit
    assert tip is not None
    current = ground.repo.find_blobs(tip, [edit.path for edit in journal.edits])
    # A later commit (a person's) may have gone on from ours; what it says about a path is not ours to redo.
    ours = [edit for edit in journal.edits if current[edit.path] == edit.after]
    for edit in ours:
        probe("settle-file")
        new = ground.repo.read_blob(commit, edit.path) if edit.after else None
        notice = bring_forward(ground.layout.repo, edit, new)
        if notice:
            said.append(notice)
    staged = staged_ids(ground.repo, [edit.path for edit in ours])
    stale = {
        edit.path: edit.after
        for edit in ours
        if staged[edit.path] != edit.after and staged[edit.path] in (edit.base, edit.before)
    }
    probe("settle-index")
    if stale:
        install_index(ground.repo, prepare_index(ground.repo, tip, stale, journal.op_id))
    return said


def _mend_blobs(ground: Ground, journal: Journal) -> None:
    """Write the blobs of a committed operation again that a fault lost, from files that still hold them.

    Raises ``IntegrityError`` (``object-unreadable``) where the file holds something else by now: then the operation
    can't be acknowledged, and the journal stays.
    """
    for edit in journal.edits:
        if edit.after is None:
            continue
        try:
            ground.repo.read_object(edit.after)
        except IntegrityError:
            data = read_file(ground.layout.repo, edit.path)
            if data is None or fingerprint(data) != edit.after:
                raise
            write_blobs(ground.repo, {edit.path: data})


def _prove_again(ground: Ground, journal: Journal, commit: CommitId) -> None:
    """Check on a freshly opened repository that the commit holds what the journal says. Raises ``IntegrityError``."""
    repo = open_repo(ground.layout.repo)
    try:
        found = repo.find_blobs(commit, [edit.path for edit in journal.edits])
        for edit in journal.edits:
            if found[edit.path] != edit.after:
                raise IntegrityError(
                    "publish-not-proved",
                    f"the commit {commit} does not hold {edit.path} as it was written",
                    "Write nothing more; compare it with `git show` and check the disk.",
                )
            if edit.after is not None:
                repo.read_object(edit.after)
    finally:
        repo.close()


def check_recovered(ground: Ground) -> None:
    """Raise ``StateError`` (``abandoned-operation``) when a journal still waits."""
    if find_journals(ground.repo.common_dir):
        raise StateError(
            "abandoned-operation",
            "an abandoned operation can't be finished or undone",
            "Look into .git/gitmem/journal and at what `git status` says; the file names tell the operation.",
        )
