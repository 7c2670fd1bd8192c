"""Undo one operation: its inverse as a new one, where nobody has built on it since."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.errors import GitmemError, InputError, StateError
from gitmem.git.repo import NOT_A_FILE
from gitmem.git.trees import diff_trees, tree_of
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import Fingerprint, OpId, RecordId, new_op_id
from gitmem.model.record import Record, state_of
from gitmem.model.settings import Scope
from gitmem.model.vault_path import VaultPath, find_path_problem
from gitmem.service.built_upon import check_not_built_upon, check_own_ids
from gitmem.service.confirmed import is_declared
from gitmem.service.differences import describe_edit
from gitmem.service.gate import authorize
from gitmem.service.links import list_linking
from gitmem.service.operations import Found, Operation, get_operation
from gitmem.service.own import is_own_operation
from gitmem.service.plan import carry_out_allowed, digest, find_earlier
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.service.views import RecordViews
from gitmem.values import dataclass, replace
from gitmem.vault.record_file import parse_record
from gitmem.vault.statement import STATEMENT

MAX_NAMED = 5


@dataclass(frozen=True)
class UndoneFile:
    """What becomes of one record or plain note, for a person to look at.

    ``path`` is where it lies now, or will lie if it comes back. ``change`` says what happens to it in a few words.
    ``shown`` is its text where it comes or goes, and all of it where it will be declared: that makes it the person's
    who undoes. Else it is the lines that change. Secrets are masked.
    """

    path: str
    change: str
    shown: str


@dataclass(frozen=True)
class Undoing:
    """The inverse of ``operation``: what it does to files and records, and what to say about it."""

    operation: Operation
    edits: tuple[FileEdit, ...]
    records: tuple[RecordChange, ...]
    files: tuple[UndoneFile, ...]
    notices: tuple[str, ...]


_RECORDS_ALONE = "Only changes of records can be undone."
_OTHER_WAYS = {
    Action.POLICY.value: f"{_RECORDS_ALONE} Set an earlier one with `gitmem policy set FILE`.",
    Action.TRUST.value: f"{_RECORDS_ALONE} `gitmem keys` adds and removes keys.",
}


def undo(vault: OpenVault, ref: str, actor: Actor, op_id: OpId | None = None, shown: Undoing | None = None) -> Receipt:
    """Take back the operation that ``ref`` names, an undo too: every record that it touched gets its old bytes back.

    A record that it made goes; its content stays in history. ``shown`` is what a person was shown: where something else
    would be done by now, nothing is. Raises ``InputError`` as ``get_operation`` does, ``StateError``:
    ``nothing-to-undo``, ``already-undone``, ``built-upon`` (names who changed what since), ``duplicate-id``,
    ``changed-meanwhile``, and what every write raises, ``dirty-path`` and ``key-taken`` among it; ``PolicyError``
    (``needs-human``). Nothing is written then.
    """
    request = describe_request(ref=ref)
    earlier = find_earlier(vault, Action.UNDO, op_id, request)
    if earlier is not None:
        return earlier
    found = get_operation(vault, ref)
    undoing = _plan(vault, found)
    if shown is not None and shown.edits != undoing.edits:
        raise StateError(
            "changed-meanwhile",
            "what was shown has changed since; nothing was written",
            "Run the command again and look at what it says now.",
        )

    def ask() -> Decision:
        own = is_own_operation(vault, found, undoing.records, actor)
        sides = [side for one in undoing.records for side in (one.before, one.after) if side is not None]
        decisions = [authorize(vault.entry.scope, Action.UNDO, actor, record=side, own=own) for side in sides]
        return decisions[0] if decisions else authorize(vault.entry.scope, Action.UNDO, actor)

    def plan(rule: str) -> Change:
        authorities = {one.shown.authority for one in undoing.records}
        return Change(
            action=Action.UNDO,
            op_id=op_id or new_op_id(),
            actor=actor,
            title=format_title(found.operation),
            edits=undoing.edits,
            records=undoing.records,
            rule=rule,
            authority=authorities.pop() if len(authorities) == 1 else None,
            note=f"Takes back {describe(found.operation)}.",
            is_named=op_id is not None,
            request=digest(request),
            undoes=found.operation.op_id,
            notices=undoing.notices,
        )

    return carry_out_allowed(vault, ask, plan)


def find_undoing(vault: OpenVault, ref: str) -> Undoing:
    """Return what ``undo`` would do, for a person to look at. Raises as ``undo`` does but for policy and the disk."""
    vault.settle_abandoned()
    return _plan(vault, get_operation(vault, ref))


def describe(operation: Operation) -> str:
    """Return what names an operation in a sentence: its verb, id, time and actor."""
    return f"{operation.op} {operation.op_id} of {operation.time} by {operation.by}"


def format_title(operation: Operation) -> str:
    """Return what stands behind ``undo:`` in the subject: the subject of what is undone, so that a redo reads as one.

    It names no private record, for that subject named none.
    """
    return f"{operation.op}: {operation.title}"


def _plan(vault: OpenVault, found: Found) -> Undoing:
    touched = _find_touched(vault, found.operation)
    content = {path: (_read(vault, old), _read(vault, new)) for path, (old, new) in touched.items()}
    records = _find_records(content, found.operation.records)
    left = {path: new for path, (_old, new) in touched.items()}
    check_not_built_upon(vault, found, left, {one.id for one in records})
    check_own_ids(vault, records, content.keys())
    edits = tuple(FileEdit(path, new, content[path][0]) for path, (_old, new) in touched.items())
    after = {path: old for path, (old, _new) in content.items()}
    notices = (*_find_notices(vault, records, after), *_tell_other_half(vault, found.operation))
    return Undoing(found.operation, edits, records, _list_files(content, records), notices)


def _find_touched(
    vault: OpenVault, operation: Operation
) -> dict[VaultPath, tuple[Fingerprint | None, Fingerprint | None]]:
    """Return the blob ids before and after the operation of every record file that it touched."""
    commit, repo = operation.commit, vault.repo
    if len(commit.parents) > 1:
        raise _not_ours(operation, "is a merge")
    found = diff_trees(repo, tree_of(repo, commit.parents[0]), commit.tree) if commit.parents else {}
    paths = [VaultPath(path) for path in found if state_of(path) is not None]
    if not paths:
        raise StateError(
            "nothing-to-undo",
            f"{describe(operation)} changed no record",
            _OTHER_WAYS.get(operation.op, _RECORDS_ALONE),
            op_id=operation.op_id,
        )
    views = RecordViews()
    for path in found:
        is_note = state_of(path) is not None and path.endswith(".md") and not find_path_problem(path)
        if not is_note and not views.is_view(path) and path != STATEMENT:
            raise _not_ours(operation, f"also changes {path}")
    before, after = repo.find_blobs(commit.parents[0], paths), repo.find_blobs(commit.id, paths)
    for path in paths:
        if NOT_A_FILE in (before[path], after[path]):
            raise _not_ours(operation, f"changes {path}, which is no regular file")
    return {path: (before[path], after[path]) for path in paths}


def _read(vault: OpenVault, blob: Fingerprint | None) -> bytes | None:
    return None if blob is None else vault.repo.read_object(blob)


def _find_records(
    content: Mapping[VaultPath, tuple[bytes | None, bytes | None]], order: tuple[RecordId, ...]
) -> tuple[RecordChange, ...]:
    """Return what becomes of the records, in the ``order`` in which the operation named them, others by path."""
    now = {record.id: record for path, (_old, new) in content.items() if (record := _find_record(path, new))}
    then = {record.id: record for path, (old, _new) in content.items() if (record := _find_record(path, old))}
    named = [one for one in order if one in now or one in then]
    ids = dict.fromkeys([*named, *now, *then])
    return tuple(RecordChange(now.get(one), then.get(one)) for one in ids)


def _find_record(path: VaultPath, data: bytes | None) -> Record | None:
    try:
        return None if data is None else parse_record(path, data)
    except GitmemError:  # a note that can't be read as a record travels as it is
        return None


def _list_files(
    content: Mapping[VaultPath, tuple[bytes | None, bytes | None]], records: tuple[RecordChange, ...]
) -> tuple[UndoneFile, ...]:
    files = [_show_record(content, one) for one in records]
    known = {side.path for one in records for side in (one.before, one.after) if side is not None}
    files += [_show(path, path, old, new) for path, (old, new) in content.items() if path not in known]
    return tuple(files)


def _show_record(content: Mapping[VaultPath, tuple[bytes | None, bytes | None]], one: RecordChange) -> UndoneFile:
    now = None if one.before is None else content[one.before.path][1]
    then = None if one.after is None else content[one.after.path][0]
    here = one.before or one.shown
    shown = _show(here.path, one.shown.path, then, now)
    is_whole = one.after is not None and is_declared(one.after)
    return replace(shown, shown=describe_edit(None, then)) if is_whole else shown


def _show(path: str, to: str, then: bytes | None, now: bytes | None) -> UndoneFile:
    if now is None:
        return UndoneFile(path, "comes back", describe_edit(None, then))
    if then is None:
        return UndoneFile(path, "goes", describe_edit(None, now))
    return UndoneFile(path, "as it was before" if path == to else f"goes back to {to}", describe_edit(now, then))


def _find_notices(
    vault: OpenVault, records: tuple[RecordChange, ...], after: Mapping[VaultPath, bytes | None]
) -> tuple[str, ...]:
    gone = [one.shown.path for one in records if one.after is None]
    linking = list_linking(vault, gone, after) if gone else []
    if not linking:
        return ()
    notes = f"{len(linking)} notes link" if len(linking) > 1 else "1 note links"
    more = ", …" if len(linking) > MAX_NAMED else ""
    named = ", ".join("a private note" if path is None else path for path in linking[:MAX_NAMED])
    return (f"{notes} to what is gone now: {named}{more}; `gitmem check` lists broken links",)


def _tell_other_half(vault: OpenVault, operation: Operation) -> tuple[str, ...]:
    """Return what to say of an operation that had another half in another vault: this one alone is taken back."""
    if operation.other is None:
        return ()
    if vault.entry.scope is Scope.GLOBAL:
        where, what = "the workspace's vault", "the record stays retired there"
    else:
        where, what = "the global vault", "the record stays promoted there"
    return (f"{what}; `gitmem undo {operation.op_id}` in {where} takes that half back",)


def _not_ours(operation: Operation, what: str) -> InputError:
    return InputError(
        "not-an-operation",
        f"the commit {operation.commit.id[:12]} carries the name of {describe(operation)} but {what}: "
        "it was made or amended outside gitmem",
        "`git revert` takes back a person's own commit; the next operation then brings the views in step.",
        commit=operation.commit.id,
    )
