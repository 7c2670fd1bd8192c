"""Pieces that the writing verbs share: a record's new place, its edited bytes, and the change they make up."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Mapping, Sequence

from gitmem.clock import format_utc
from gitmem.errors import PolicyError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.policy.secrets import check_secrets
from gitmem.service.allowed import check_policy
from gitmem.service.follow import follow
from gitmem.service.gate import check_change
from gitmem.service.in_passing import check_shown, check_taken_along
from gitmem.service.keys import check_keys
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.frontmatter import edit_note
from gitmem.vault.manifest import check_writable
from gitmem.vault.record_file import parse_record

Move = tuple[Record | None, Record, bytes]
"""One record before an operation (``None`` for a new one), after it, and the bytes of its file after it."""

_MONTHLY = (State.OBSERVATION, State.RETIRED)


def path_in(state: State, path: str, now: datetime.datetime) -> VaultPath:
    """Return where the record at ``path`` lies in ``state``: same file name, same subfolders of its own.

    The month folders that gitmem adds come and go; folders that a note was brought in with stay.
    """
    _top, _slash, rest = path.partition("/")
    first, slash, below = rest.partition("/")
    if slash and _is_month(first):
        rest = below
    month = f"{now:%Y-%m}/" if state in _MONTHLY else ""
    return parse_vault_path(f"{state.folder}/{month}{rest}")


def edit_record(
    record: Record, data: bytes, changes: Mapping[str, Any], path: VaultPath | None = None
) -> tuple[Record, bytes]:
    """Return the record and its bytes after property ``changes``, at ``path`` if it moves. Pure."""
    after = edit_note(data, changes)
    return reread(path or record.path, after), after


def reread(path: VaultPath, data: bytes) -> Record:
    """Return the record in bytes that gitmem made. Raises what ``parse_record`` raises."""
    record = parse_record(path, data)
    assert record is not None
    return record


def file_edits(before: Record | None, after: Record, data: bytes) -> tuple[FileEdit, ...]:
    """Return the edits that bring one record from ``before`` to ``after``, in place or into another file."""
    if before is None:
        return (FileEdit(after.path, None, data),)
    if before.path == after.path:
        return (FileEdit(after.path, before.fingerprint, data),)
    return (FileEdit(after.path, None, data), FileEdit(before.path, before.fingerprint, None))


def make_change(
    action: Action,
    actor: Actor,
    rule: str,
    moves: Sequence[Move],
    *,
    op_id: OpId | None = None,
    title: str = "",
    note: str = "",
    request: str = "",
) -> Change:
    """Return the change of an operation on records, the first of which names it; ``rule`` is what allows it.

    ``request`` is everything that was asked for, as text. A private record is not named in the commit.
    """
    first = moves[0][1]
    if not title and any(record.private for record in moves[0][:2] if record):
        title, note = "a private record", ""
    return Change(
        action=action,
        op_id=op_id or new_op_id(),
        actor=actor,
        title=title or first.title,
        edits=tuple(edit for before, after, data in moves for edit in file_edits(before, after, data)),
        records=tuple(RecordChange(before, after) for before, after, _data in moves),
        rule=rule,
        authority=first.authority,
        note=note,
        is_named=op_id is not None,
        request=digest(request),
    )


def digest(request: str) -> str:
    """Return a short digest of what was asked for, empty for nothing; it tells a retry from another request."""
    return hashlib.sha256(request.encode("utf-8", "surrogatepass")).hexdigest()[:16] if request else ""


def find_earlier(vault: OpenVault, action: Action, op_id: OpId | None, request: str = "") -> Receipt | None:
    """Return the receipt of ``op_id`` when it was carried out before, so that a retry gets the same answer.

    ``request`` is everything that is asked for, as ``retry.describe_request`` tells it.

    Every write begins here: what a crash abandoned is settled first. Raises ``InputError`` (``op-id-reused``) when it
    was another operation, ``PolicyError`` (``secret-found``) where the op id looks like a secret, ``UnavailableError``
    or ``StateError`` for a vault that is gone or is none, and what settling raises where that fails: a plan made from
    half of an operation would be wrong.
    """
    from gitmem.transaction.earlier import Retry
    from gitmem.transaction.earlier import find_earlier as find

    check_secrets({"the operation id": op_id or ""})
    vault.settle_before_writing()
    earlier = None if op_id is None else find(vault.ground, Retry(action, op_id, digest(request)))
    if earlier is None:
        check_writable(vault.manifest)
    return earlier


def carry_out_allowed(
    vault: OpenVault,
    ask: Callable[[], Decision],
    plan: Callable[[str], Change],
    before: Callable[[Change], None] = lambda _change: None,
) -> Receipt:
    """Apply the change that ``plan`` makes for the rule by which policy (``ask``) allows it; ``before`` comes first.

    Policy comes first. Where it needs a person, everything that would stop the change is found before that is said, so
    that nobody confirms what can't be done; a change that has nothing to do needs nobody. Raises what ``ask`` and
    ``plan`` raise, and what ``carry_out`` raises.
    """
    try:
        rule = ask().rule
    except PolicyError as error:
        if error.code != "needs-human":
            raise
        change = plan(str(error.fields["rule"]))
        if not change.edits:
            return carry_out(vault, change)
        check_possible(vault, change)
        raise
    change = plan(rule)
    before(change)
    return carry_out(vault, change)


def carry_out(vault: OpenVault, change: Change, *, is_held: bool = False) -> Receipt:
    """Apply ``change``, and have the search catalog follow. Every verb that writes records comes through here.

    The vault's policy is asked with the vault locked; ``is_held`` says that the caller holds the lock. In a vault that
    lists keys of people, a person's operation is signed on the way. Raises what ``signing.apply_signed`` raises, and
    what ``transaction.apply`` raises, with the state that it names.
    """
    from gitmem.service.signing import apply_signed
    from gitmem.transaction.apply import apply, apply_held

    def check(complete: Change) -> None:
        _check(vault, complete)
        check_policy(vault, complete)

    run = apply_held if is_held else apply
    receipt = apply_signed(vault, change, lambda whole: run(vault.ground, whole, vault.tools(check=check)))
    if receipt.changed:
        follow(vault, change)
    return receipt


def no_change(action: Action, actor: Actor, op_id: OpId | None, request: str = "") -> Change:
    """Return the change of an operation that turned out to have nothing to do."""
    return Change(
        action=action,
        op_id=op_id or new_op_id(),
        actor=actor,
        title="nothing",
        edits=(),
        records=(),
        rule="no-change",
        is_named=op_id is not None,
        request=digest(request),
    )


def link_to(record: Record) -> str:
    """Return the link to ``record`` as it stands in a property."""
    return f"[[{record.stem}]]"


def stamp(vault: OpenVault) -> str:
    """Return the present as ``created`` and ``updated`` hold it."""
    return format_utc(vault.clock.now())


def check_possible(vault: OpenVault, change: Change) -> None:
    """Raise what ``carry_out`` would raise for the vault's state, the files and the bytes. Writes nothing."""
    from gitmem.service.signing import check_can_sign
    from gitmem.transaction import steps

    _check(vault, change)
    check_can_sign(vault, change)
    manifest, base = steps.check_marker(vault.ground)
    steps.check_paths(vault.ground, change.edits)
    steps.check_clean(vault.ground, manifest, base, change.edits)


def _check(vault: OpenVault, change: Change) -> None:
    check_change(change, vault.settings)
    check_keys(vault, change)
    check_shown(change)
    check_taken_along(vault, change)


def _is_month(name: str) -> bool:
    return len(name) == 7 and name[4] == "-" and name[:4].isdigit() and name[5:].isdigit()
