"""The checks and preparations of a transaction, one function a step. Design section 5, steps 1 to 8.

None of these writes to the working tree; each raises with nothing changed but unreachable objects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from gitmem.clock import format_utc
from gitmem.errors import IntegrityError, StateError, UnavailableError
from gitmem.git.head import read_log_tip
from gitmem.git.history import iter_commits
from gitmem.git.message import OTHER, REQUEST, UNDOES, Message, format_message
from gitmem.git.repo import NOT_A_FILE, Repo
from gitmem.git.stage import INTENT_TO_ADD, UNMERGED, IndexLock, find_staged_modes, lock_index, staged_ids
from gitmem.git.trees import write_blobs
from gitmem.model.authority import Surface
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange, RecordRef
from gitmem.model.ids import CommitId, Fingerprint, OpId, fingerprint
from gitmem.model.record import state_of
from gitmem.model.settings import FORMAT, Clean, Manifest
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.displaced import displaced_name, keep_displaced
from gitmem.transaction.files import find_fingerprint, temp_name
from gitmem.transaction.ground import Ground, Tools
from gitmem.transaction.journal import Journal, JournalEdit
from gitmem.transaction.receipts import find_last_receipt
from gitmem.values import replace
from gitmem.vault.layout import MANIFEST, POLICY
from gitmem.vault.manifest import check_writable, load_manifest, parse_manifest
from gitmem.vault.paths import FolderNames, check_way, read_file

RESTORE_HINT = "The log is `git reflog` of the branch; `git update-ref` puts the branch where it should be."
INDEX_POLL_S = 0.02
_APPLY = "`gitmem policy apply` commits what lies there; or put the file back as it was, and try again."
MAX_NAMED_RECORDS = 50
"""A commit of more records says how many there are; its difference says which."""


def take_index_lock(ground: Ground, tools: Tools, holder: str) -> IndexLock:
    """Take Git's own lock, waiting for a person's Git command to end.

    Raises ``UnavailableError`` (``index-locked``).
    """
    deadline = tools.clock.monotonic_s() + tools.index_wait_s
    while True:
        try:
            return lock_index(ground.repo, holder, tools.clock.time_ns())
        except UnavailableError:
            if tools.clock.monotonic_s() >= deadline:
                raise
            tools.clock.sleep_s(INDEX_POLL_S)


def check_own_repository(ground: Ground) -> None:
    """Check that the repository is no other than the vault's, before even a lock is written into it.

    It is opened by libgit2 here, for the proof after the commit needs that: a refusal then would come too late. Raises
    ``StateError`` (``not-a-vault``, ``foreign-owner``, ``repository-unsupported``), ``UnavailableError``
    (``vault-unreadable``), ``IntegrityError`` (``ref-unreadable``). What can't be read of the last commit is left to
    those who need it.
    """
    head = ground.repo.head().commit
    ground.repo.handle  # noqa: B018 - opens it
    with contextlib.suppress(IntegrityError):
        committed = None if head is None else ground.repo.read_blob(head, MANIFEST)
        if head is None or (committed is not None and parse_manifest(committed).vault_id == ground.vault_id):
            return
        raise StateError(
            "not-a-vault",
            "the repository's last commit has no marker of this vault",
            f"Is it the vault's own repository? If it is, commit {MANIFEST} with Git.",
        )


def check_marker(ground: Ground) -> tuple[Manifest, CommitId]:
    """Check that this is a vault in a state to be written.

    Returns its committed manifest and the commit to build on. Raises ``StateError``: ``not-a-vault``,
    ``format-too-new``, ``git-operation-in-progress``, ``not-on-managed-branch``, ``unmerged-paths``; ``IntegrityError``
    (``bad-manifest``, ``no-commit``, ``branch-went-back``).
    """
    manifest = load_manifest(ground.layout.repo)
    if manifest is None or manifest.vault_id != ground.vault_id:
        raise StateError(
            "not-a-vault",
            "the repository has no gitmem marker, or that of another vault",
            "Check the path; `gitmem init PATH` makes a new vault.",
        )
    check_writable(manifest)
    busy = ground.repo.state_in_progress()
    if busy:
        raise StateError(
            "git-operation-in-progress", f"a {busy} is under way in the vault", "Finish or abort it with Git first."
        )
    head = ground.repo.head()
    if head.branch != manifest.branch:
        where = f"branch {head.branch}" if head.branch else "no branch (a detached HEAD)"
        raise StateError(
            "not-on-managed-branch",
            f"the vault is on {where}, gitmem writes to {manifest.branch}",
            f"Switch back with `git switch {manifest.branch}`.",
        )
    if head.commit is None:
        raise IntegrityError("no-commit", "the managed branch has no commit", "Run `gitmem doctor`.")
    unmerged = ground.repo.unmerged_paths()
    if unmerged:
        raise StateError(
            "unmerged-paths", f"{len(unmerged)} paths are unmerged, {unmerged[0]} first", "Resolve them with Git first."
        )
    committed = ground.repo.read_blob(head.commit, MANIFEST)
    if committed is None:
        raise StateError("not-a-vault", "the marker is not committed", f"Commit {MANIFEST} with Git.")
    lost = find_lost_tip(ground, manifest.branch, head.commit)
    if lost is not None:
        raise IntegrityError("branch-went-back", say_lost(head.commit, lost), RESTORE_HINT)
    return parse_manifest(committed), head.commit


def find_lost_tip(ground: Ground, branch: str, base: CommitId) -> CommitId | None:
    """Return the commit that ``branch`` was at when a fault took its file, and an older place of it came to light.

    Known by the newest receipt and the branch's own log, which agree on a later commit than ``base``, where the branch
    is: whoever moves it back on purpose leaves a line in the log. ``None`` when all is well.
    """
    last = find_last_receipt(ground.layout)
    if last is None or last.commit in (None, base) or read_log_tip(ground.repo.common_dir, branch) != last.commit:
        return None
    try:
        later = any(commit.id == base for commit in iter_commits(ground.repo, last.commit))
    except IntegrityError:  # gone altogether: there is nothing to go back to
        return None
    return last.commit if later else None


def say_lost(base: CommitId, lost: CommitId) -> str:
    """Return one line for people about what ``find_lost_tip`` found."""
    return f"the branch went back to {base[:12]}; its log and the newest receipt say that it was at {lost[:12]}"


def check_clean(
    ground: Ground, manifest: Manifest, base: CommitId, edits: tuple[FileEdit, ...]
) -> dict[VaultPath, Fingerprint | None]:
    """Check that every path equals HEAD on disk and in the staging area, and equals what the change was made from.

    An adopted edit is a person's that is being committed, so its disk and staging area may differ from HEAD; what is on
    disk must still be what was read. A staged change of a file's mode is Git's to commit. Returns the committed blob id
    of each path. Raises ``StateError`` (``path-taken``, ``dirty-path``, ``stale``, ``vault-not-clean``).
    """
    if manifest.clean is Clean.VAULT and not any(edit.adopted for edit in edits):
        _check_whole_vault(ground)
    paths = [edit.path for edit in edits]
    committed = ground.repo.find_blobs(base, paths)
    staged = staged_ids(ground.repo, paths)
    for path in find_staged_modes(ground.repo, base, paths):
        raise _dirty(VaultPath(path), "has a staged change of its mode")
    # What the change was made from comes first: where another operation moved a record, it is stale, and nothing taken.
    for edit in sorted(edits, key=lambda edit: edit.before is None):
        head = committed[edit.path]
        disk = find_fingerprint(ground.layout.repo, edit.path)
        if edit.before is None and edit.after is not None and disk is not None:
            raise StateError(
                "path-taken",
                f"{edit.path} is there already, and gitmem replaces no file that it has not read",
                _APPLY if edit.path == POLICY else "Give that file another name or folder, then try again.",
                path=edit.path,
            )
        if not edit.adopted and disk != head:
            raise _dirty(edit.path, "has uncommitted edits" if disk else "is missing on disk")
        if not edit.adopted and staged[edit.path] != head:
            raise _dirty(edit.path, "has staged changes")
        is_done = edit.adopted and edit.after is not None and head == fingerprint(edit.after)
        if edit.before != disk or is_done:  # what was adopted may have been committed by somebody else meanwhile
            raise StateError(
                "stale",
                f"{edit.path} changed since it was read",
                "Read the record again and repeat the command.",
                path=edit.path,
            )
    return committed


def keep_staged(
    ground: Ground, op_id: OpId, edits: tuple[FileEdit, ...], committed: Mapping[VaultPath, Fingerprint | None]
) -> tuple[str, ...]:
    """Keep in ``runtime/displaced`` what a person had staged of adopted files and is neither committed nor on disk.

    Adopting commits the files as they are on disk, and stages just that. Returns notices.
    """
    adopted = {edit.path: edit for edit in edits if edit.adopted}
    notices = []
    for path, staged in staged_ids(ground.repo, adopted).items():
        edit = adopted[VaultPath(path)]
        after = None if edit.after is None else fingerprint(edit.after)
        if staged in (None, UNMERGED, INTENT_TO_ADD, NOT_A_FILE, committed[edit.path], edit.before, after):
            continue
        assert staged is not None
        with contextlib.suppress(IntegrityError):  # one that Git has lost can't be kept, and need not stop a person
            keep_displaced(ground.layout, op_id, f"staged-{path}", ground.repo.read_object(staged))
            notices.append(f"what was staged of {path} differed from the file; it is kept in {displaced_name(op_id)}")
    return tuple(notices)


def make_way(ground: Ground, op_id: OpId, views: tuple[FileEdit, ...], notices: list[str]) -> tuple[FileEdit, ...]:
    """Return the edits of views, made from what is on disk where a person (or Obsidian, following a rename) edited one.

    A view belongs to the records, so its edit can't stay; it is kept in ``runtime/displaced``, and a notice says so.
    What is *staged* of a view is left to be refused.
    """
    staged = staged_ids(ground.repo, [edit.path for edit in views])
    planned = []
    for edit in views:
        data = read_file(ground.layout.repo, edit.path)
        disk = None if data is None else fingerprint(data)
        if disk == edit.before or staged[edit.path] != edit.before:
            planned.append(edit)
            continue
        if data is not None:
            keep_displaced(ground.layout, op_id, edit.path, data)
            notices.append(
                f"{edit.path} was edited by hand; it is made anew, the edit is kept in {displaced_name(op_id)}"
            )
        planned.append(replace(edit, before=disk, adopted=True))
    return tuple(planned)


def check_paths(ground: Ground, edits: tuple[FileEdit, ...]) -> None:
    """Check that each path can be written without following a link or meeting another spelling of its name."""
    names = FolderNames(ground.layout.repo)
    for edit in edits:
        check_way(ground.layout.repo, edit.path)
        if edit.after is not None and (edit.before is None or edit.adopted):
            names.check_no_clash(edit.path)


def mend_old_blobs(
    ground: Ground, edits: tuple[FileEdit, ...], committed: Mapping[VaultPath, Fingerprint | None]
) -> None:
    """Write again the committed blobs that the repository lost, of notes that are about to change.

    Their files are the last copy of what history names. Raises ``IntegrityError`` (``object-unreadable``) where the
    file holds something else, ``UnavailableError`` (``git-write-failed``).
    """
    for edit in edits:
        old = committed[edit.path]
        if old is None or state_of(edit.path) is None:
            continue
        try:
            ground.repo.read_object(old)
        except IntegrityError:
            data = read_file(ground.layout.repo, edit.path)
            if data is None or fingerprint(data) != old:
                raise
            write_blobs(ground.repo, {edit.path: data})


def plan_journal(
    change: Change,
    edits: tuple[FileEdit, ...],
    committed: Mapping[VaultPath, Fingerprint | None],
    place: tuple[str, CommitId],
    time: str,
) -> Journal:
    """Return the journal of a change to be made at ``place`` (branch and base commit).

    Files that come are put in place before files that go: none is ever nowhere. Records that are too many for the
    commit to name are put in the order of their paths, in which a receipt that is made again from history has them.
    """
    records = [_refer(one) for one in change.records]
    if len(records) > MAX_NAMED_RECORDS:
        records.sort(key=lambda ref: ref.path)
    ordered = sorted(edits, key=lambda edit: (edit.after is None, edit.path))
    return Journal(
        op_id=change.op_id,
        branch=place[0],
        base=place[1],
        edits=tuple(
            JournalEdit(
                path=edit.path,
                base=committed[edit.path],
                before=edit.before,
                after=None if edit.after is None else fingerprint(edit.after),
                temp=temp_name(edit.path, change.op_id, number),
            )
            for number, edit in enumerate(ordered)
        ),
        receipt=Receipt(
            op=change.action,
            op_id=change.op_id,
            commit=None,
            changed=True,
            records=tuple(records),
            time=time,
            actor=change.actor.name,
            surface=change.actor.surface.value,
            request=change.request,
            notices=change.notices,
            session=change.actor.session,
        ),
    )


def _refer(one: RecordChange) -> RecordRef:
    return RecordRef(one.id, one.shown.path, None if one.after is None else one.after.state)


def check_difference(found: Mapping[str, tuple[str | None, str | None, int]], planned: tuple[JournalEdit, ...]) -> None:
    """Check that a commit's whole difference from its parent is the allowlist (INV-ALLOWLIST).

    Same paths, same bytes, plain files.

    Raises ``IntegrityError`` (``unexpected-difference``).
    """
    wanted = {edit.path: (edit.base, edit.after) for edit in planned if edit.base != edit.after}
    got = {path: (old, new) for path, (old, new, _mode) in found.items()}
    modes = {mode for _old, new, mode in found.values() if new is not None}
    if got != wanted or modes - {0o100644}:
        odd = sorted(set(got.items()) ^ set(wanted.items()))
        raise IntegrityError(
            "unexpected-difference",
            f"the prepared commit differs from what was planned, first at {odd[0][0] if odd else 'a file mode'}",
            "Nothing was published. Run `gitmem doctor`.",
        )


def make_message(change: Change) -> str:
    """Return the commit message: what was done to what, why, and who did it on whose authority."""
    actor = change.actor
    trailers = [("Gitmem-Op", change.action.value), ("Gitmem-Op-Id", str(change.op_id))]
    if len(change.records) > MAX_NAMED_RECORDS:
        trailers.append(("Gitmem-Records", str(len(change.records))))
    else:
        trailers += [("Gitmem-Record", str(one.id)) for one in change.records]
    trailers += [
        ("Gitmem-Surface", actor.surface.value),
        ("Gitmem-Actor", actor.name),
        ("Gitmem-Proof", actor.proof.value if actor.surface is Surface.HUMAN else ""),
        ("Gitmem-Signed-By", change.signed_by),
        ("Gitmem-Authority", change.authority.value if change.authority else ""),
        ("Gitmem-Host", actor.host),
        ("Gitmem-Session", actor.session),
        ("Gitmem-Rule", change.rule),
        (UNDOES, change.undoes or ""),
        (OTHER, change.other or ""),
        (REQUEST, change.request),
        ("Gitmem-Format", str(FORMAT)),
    ]
    return format_message(
        Message(
            subject=f"{change.action.value}: {change.title}",
            body=change.note,
            trailers=tuple((name, value) for name, value in trailers if value),
        )
    )


def iso_time(tools: Tools) -> str:
    """Return the present as it stands in receipts."""
    return format_utc(tools.clock.now())


def blobs_of(edits: tuple[FileEdit, ...]) -> dict[VaultPath, bytes]:
    """Return the content of the files that stay, by path."""
    return {edit.path: edit.after for edit in edits if edit.after is not None}


def ids_of(planned: tuple[JournalEdit, ...]) -> dict[VaultPath, Fingerprint | None]:
    """Return the blob ids of the files that stay, ``None`` for those that go, by path."""
    return {edit.path: edit.after for edit in planned}


def _check_whole_vault(ground: Ground) -> None:
    repo: Repo = ground.repo
    dirty = repo.dirty_paths()
    if dirty:
        raise StateError(
            "vault-not-clean",
            f"{len(dirty)} paths in the vault are not committed, {dirty[0]} first; this vault asks for none",
            'Commit them, or set "clean": "paths" in manifest.json.',
        )


def _dirty(path: VaultPath, what: str) -> StateError:
    if path == POLICY:
        hint = _APPLY
    elif state_of(path) is None:
        hint = "gitmem makes this file itself. Take it out of the staging area with Git, and try again."
    else:
        how = "Commit them with `gitmem adopt` or Git, or put the file back as it was"
        hint = f"See `gitmem status`. {how}, and try again."
    return StateError("dirty-path", f"{path} {what}; gitmem does not mix them into its own commit", hint, path=path)
