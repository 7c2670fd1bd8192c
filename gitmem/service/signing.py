"""Sign what only a person may do, in a vault that lists keys of people. ADR 0025.

The statement travels in the operation's own commit; it says what the operation writes, and what is declared after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from gitmem.clock import format_utc
from gitmem.errors import GitmemError, IntegrityError, PolicyError, StateError
from gitmem.model.authority import Proof, Surface
from gitmem.model.change import Change, FileEdit, Receipt
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import CommitId, Fingerprint, fingerprint
from gitmem.model.record import Record, State
from gitmem.model.signing import Anchor, Declared, Signed, SignedRecord, Statement
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.confirmed import is_declared, list_confirmed
from gitmem.service.openssh import Signer, is_signed, sign
from gitmem.service.policy import find_holding
from gitmem.service.standing import Standing, read_standing
from gitmem.service.vault import OpenVault
from gitmem.values import replace
from gitmem.vault.anchor import save_anchor
from gitmem.vault.layout import MANIFEST, POLICY, HomeLayout
from gitmem.vault.manifest import parse_manifest
from gitmem.vault.record_file import parse_record
from gitmem.vault.ssh_key import find_signer, fingerprint_of, is_in_device, read_public_key
from gitmem.vault.statement import STATEMENT, digest_of, format_canonical, format_signed, parse_signed

_TRIES = 3
"""How often a statement is made when other people's operations keep coming first."""


def apply_signed(vault: OpenVault, change: Change, apply: Callable[[Change], Receipt]) -> Receipt:
    """Return what ``apply`` returns for ``change``, with its signed statement where the vault asks for one.

    Of two that sign at once, the later one signs again, on top of the other. Raises what ``apply`` and
    ``check_can_sign`` raise, and ``UnavailableError`` (``signing-failed``, ``openssh-missing``), nothing written then.
    """
    if not change.edits or change.actor.surface is not Surface.HUMAN:
        return apply(change)
    for left in reversed(range(_TRIES)):
        head = vault.head()
        signed = _sign(vault, head, change)
        if signed is None:
            return apply(change)
        try:
            receipt = apply(_with_statement(vault, head, change, signed))
        except StateError as error:
            if left == 0 or error.fields.get("path") != STATEMENT or error.code not in ("stale", "path-taken"):
                raise
            continue
        _remember(vault, receipt, signed)
        return receipt
    raise AssertionError("the last try returns or raises")


def check_can_sign(vault: OpenVault, change: Change) -> None:
    """Check that a person could sign ``change``, before they are asked for anything.

    Raises ``StateError`` with the code of what the vault's signatures lack, ``PolicyError`` (``signature-needed``) for
    want of a listed key.
    """
    standing = read_standing(vault, vault.head())
    allowed = _find_allowed(change, standing)
    if standing.is_keyed or allowed:
        _check_standing(standing)
        _find_signer(vault, change, allowed)


def list_keys_after(change: Change, before: tuple[HumanKey, ...]) -> tuple[HumanKey, ...]:
    """Return the keys of people that the manifest lists after ``change``."""
    data = _find_after(change, MANIFEST)
    return before if data is None else parse_manifest(data).human_keys


def _sign(vault: OpenVault, head: CommitId, change: Change) -> Signed | None:
    standing = read_standing(vault, head)
    allowed = _find_allowed(change, standing)
    if not standing.is_keyed and not allowed:
        return None
    _check_standing(standing)
    signer = _find_signer(vault, change, allowed)
    statement = _make_statement(vault, head, change, standing)
    data = format_canonical(statement)
    signature = sign(data, signer)
    by = find_signer(signature)
    if by not in {one.key for one in allowed}:
        raise _needed(f"{fingerprint_of(by) if by else 'the key that signed'} is not listed in this vault")
    if not is_signed(data, signature, allowed):
        raise IntegrityError(
            "signing-failed", "what was signed does not read back as signed; nothing was written", "Try another key."
        )
    return Signed(statement, signature)


def _find_allowed(change: Change, standing: Standing) -> tuple[HumanKey, ...]:
    """Return the keys one of which has to sign: those that are listed before and after, as far as there are any."""
    new = list_keys_after(change, standing.keys)
    if standing.keys:
        return tuple(one for one in standing.keys if one in new or not new)
    anchor = standing.anchor
    return tuple(one for one in new if one in anchor.keys) if anchor is not None and anchor.keys else new


def _check_standing(standing: Standing) -> None:
    anchor = standing.anchor
    if not standing.keys and anchor is not None and anchor.counter == 0:
        return  # the administrator has named the keys, and nothing was signed yet
    for problem in standing.problems:
        raise StateError(
            problem.code,
            f"nothing can be signed on top of this: {problem.message}",
            "See what happened with `gitmem verify`, and bring the last signed state back with Git, "
            "or accept the vault as it is with `gitmem keys trust`.",
        )


def _find_signer(vault: OpenVault, change: Change, allowed: tuple[HumanKey, ...]) -> Signer:
    file = vault.settings.signing_key
    if not file:
        raise _needed("no signing key is set on this machine")
    key, _comment = read_public_key(file)
    if key not in {one.key for one in allowed}:
        is_leaving = key in {one.key for one in read_standing(vault, vault.head()).keys}
        what = "would go; one that stays has to sign" if is_leaving else "is not listed in it"
        raise _needed(f"your signing key {fingerprint_of(key)} {what}")
    return Signer(
        file, vault.options.agent_socket, at_terminal=change.actor.proof is Proof.CODE, is_device=is_in_device(key)
    )


def _make_statement(vault: OpenVault, head: CommitId, change: Change, standing: Standing) -> Statement:
    before = find_statement(vault, head)
    return Statement(
        vault=vault.entry.vault_id,
        scope=vault.entry.scope.value,
        counter=1 if before is None else before.counter + 1,
        previous=None if before is None else digest_of(before),
        op_id=change.op_id,
        action=change.action,
        time=format_utc(vault.clock.now()),
        records=tuple(
            SignedRecord(one.id, one.shown.path, None if one.after is None else one.after.state)
            for one in change.records
        ),
        files=tuple(
            sorted((str(edit.path), None if edit.after is None else _sha256(edit.after)) for edit in change.edits)
        ),
        declared=_list_declared_after(vault, head, change, standing),
        keys=tuple(sorted(list_keys_after(change, standing.keys), key=lambda one: one.name)),
        policy=_digest_policy(vault, head, change, standing),
    )


def find_statement(vault: OpenVault, commit: CommitId) -> Statement | None:
    """Return the statement that is committed, whether it is good or not; ``None`` where there is none.

    Raises ``IntegrityError`` (``bad-statement``).
    """
    data = vault.repo.read_blob(commit, STATEMENT)
    return None if data is None else parse_signed(data).statement


def list_declared(vault: OpenVault, head: CommitId) -> list[tuple[Record, Declared]]:
    """Return the declared records of the baseline as ``head`` has them, proved or not, as they would be signed."""
    found = []
    for path, blob in vault.repo.iter_files(head, State.BASELINE.folder):
        if path.endswith(".md"):
            data = vault.repo.read_object(blob)
            record = _parse(parse_vault_path(path), data)
            if record is not None and is_declared(record):
                found.append((record, Declared(record.id, path, _sha256(data), blob)))
    return found


def _list_declared_after(vault: OpenVault, head: CommitId, change: Change, standing: Standing) -> tuple[Declared, ...]:
    """Return what is declared after ``change``: what was signed before, and what the operation itself does to it.

    In the first statement of a vault, what receipts prove takes the place of what was signed.
    """
    if standing.statement is not None:
        before = {one.path: one for one in standing.statement.declared}
    else:
        found = list_declared(vault, head)
        known = list_confirmed(vault, [record for record, _one in found], Standing(is_keyed=False))
        before = {one.path: one for record, one in found if record.path in known}
    ids = {one.id for one in change.records}
    touched = {str(edit.path) for edit in change.edits}
    after = {path: one for path, one in before.items() if path not in touched and one.id not in ids}
    content = {edit.path: edit.after for edit in change.edits}
    for one in change.records:
        data = None if one.after is None else content.get(one.after.path)
        if one.after is not None and data is not None and is_declared(one.after):
            after[one.after.path] = Declared(one.id, one.after.path, _sha256(data), Fingerprint(fingerprint(data)))
    return tuple(after[path] for path in sorted(after))


def _digest_policy(vault: OpenVault, head: CommitId, change: Change, standing: Standing) -> str | None:
    """Return the digest of the policy that people set: by ``change``, else as it was signed before.

    What was committed past that is not signed by whoever signs next. In the first statement of a vault, what receipts
    prove takes the place of what was signed.
    """
    if any(edit.path == POLICY for edit in change.edits):
        data = _find_after(change, POLICY)
    elif standing.statement is not None:
        return standing.statement.policy
    else:
        is_proved = not find_holding(vault, head).policy.problem
        data = vault.repo.read_blob(head, POLICY) if is_proved else None
    return None if data is None else _sha256(data)


def _with_statement(vault: OpenVault, head: CommitId, change: Change, signed: Signed) -> Change:
    """Return ``change`` with its statement, made from that of ``head``: were it another's by now, it would be stale."""
    path = VaultPath(STATEMENT)
    before = vault.repo.find_blobs(head, [path])[path]
    by = find_signer(signed.signature)
    assert by is not None
    edit = FileEdit(path, before, format_signed(signed))
    return replace(change, edits=(*change.edits, edit), signed_by=fingerprint_of(by))


def _remember(vault: OpenVault, receipt: Receipt, signed: Signed) -> None:
    """Keep on this machine that the statement was made, where the commit of ``receipt`` holds it."""
    if receipt.commit is None or not vault.options.home:
        return
    if vault.repo.read_blob(receipt.commit, STATEMENT) == format_signed(signed):
        one = signed.statement
        save_anchor(HomeLayout(vault.options.home), Anchor(one.vault, one.keys, one.counter, digest_of(one)))


def _find_after(change: Change, path: str) -> bytes | None:
    return next((edit.after for edit in change.edits if edit.path == path), None)


def _parse(path: VaultPath, data: bytes) -> Record | None:
    try:
        return parse_record(path, data)
    except GitmemError:
        return None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _needed(reason: str) -> PolicyError:
    return PolicyError(
        "signature-needed",
        f"what only a person may do is signed in this vault, and {reason}",
        "Name your key with `gitmem settings set signing-key FILE`; a key that is listed adds another with "
        "`gitmem keys add`.",
    )
