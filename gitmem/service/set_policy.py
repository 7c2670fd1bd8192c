"""Set the vault's policy, as a person: ``policy.yaml`` is committed whole, in an operation of its own."""

from __future__ import annotations

from gitmem.errors import InputError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt
from gitmem.model.ids import OpId, fingerprint, new_op_id
from gitmem.model.policy import MAX_FILE_BYTES
from gitmem.model.vault_path import VaultPath
from gitmem.service.differences import describe_edit
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out, carry_out_allowed, digest, find_earlier, no_change
from gitmem.service.policy import find_holding
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass
from gitmem.vault.layout import POLICY
from gitmem.vault.paths import read_file
from gitmem.vault.policy_file import check_policy_schema, default_policy, parse_policy

_PATH = VaultPath(POLICY)


@dataclass(frozen=True)
class Setting:
    """A policy that would be set, as it was read: its bytes (``None``: the file goes), and from where.

    ``is_edited`` says that the file of the work tree itself is committed. ``shown`` is what a person should see of it:
    the lines that change, or all of it. ``is_same`` says that just this holds already.
    """

    data: bytes | None
    is_edited: bool
    shown: str
    is_same: bool


def find_setting(vault: OpenVault, data: bytes | None = None) -> Setting:
    """Return what setting ``data`` would change; the work tree's own file where that is ``None``.

    Raises ``InputError`` (``bad-policy``, ``no-policy-file`` where there is none and none was), ``StateError`` for a
    link in the file's place.
    """
    vault.settle_abandoned()
    head = vault.head()
    is_edited = data is None
    if is_edited:
        data = read_file(vault.layout.repo, _PATH, MAX_FILE_BYTES + 1)
    holding = find_holding(vault, head)
    if data is None and holding.blob is None and holding.set_by is None:
        raise InputError("no-policy-file", f"the vault has no {POLICY}", "`gitmem policy init` makes one to edit.")
    if data is not None:
        parse_policy(data)
        check_policy_schema(data)
    blob = None if data is None else fingerprint(data)
    is_same = blob == holding.blob and not holding.policy.problem
    old = None if holding.blob is None else vault.repo.read_blob(head, POLICY)
    return Setting(data, is_edited, describe_edit(old, data), is_same)


def set_policy(
    vault: OpenVault, data: bytes | None, actor: Actor, op_id: OpId | None = None, setting: Setting | None = None
) -> Receipt:
    """Commit ``data`` as the vault's policy; what lies in the work tree as ``policy.yaml`` where that is ``None``.

    ``setting`` is what ``find_setting`` returned when it was shown: just that is committed. A committed file that
    nobody is known to have set is confirmed by a commit that leaves it as it is. Where just this holds already,
    nothing is committed. Raises as ``find_setting`` does, ``PolicyError`` (``needs-human``), and what ``carry_out``
    raises (``dirty-path`` where the work tree's file has other edits); nothing is written then.
    """
    request = describe_request(data=data, apply=data is None or None)
    earlier = find_earlier(vault, Action.POLICY, op_id, request)
    if earlier is not None:
        return earlier
    found = find_setting(vault, data) if setting is None else setting
    if found.is_same:
        return carry_out(vault, no_change(Action.POLICY, actor, op_id, request))
    return carry_out_allowed(
        vault,
        lambda: authorize(vault.entry.scope, Action.POLICY, actor),
        lambda rule: _plan(vault, found, actor, rule, op_id, request),
    )


def init_policy(vault: OpenVault, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit the file that says what holds by default, with what each member means, for a person to edit.

    Raises ``StateError`` (``policy-exists``) where there is a file of that name, committed or not, and what
    ``set_policy`` raises.
    """
    request = describe_request(init=True)
    earlier = find_earlier(vault, Action.POLICY, op_id, request)
    if earlier is not None:
        return earlier
    committed = vault.repo.find_blobs(vault.head(), (POLICY,))[POLICY]
    if committed is not None or read_file(vault.layout.repo, _PATH, MAX_FILE_BYTES + 1) is not None:
        hint = "Edit it, then commit it with `gitmem policy apply`; `gitmem policy show` says what holds."
        raise StateError("policy-exists", f"the vault has a {POLICY} already", hint)
    data = default_policy()
    setting = Setting(data, is_edited=False, shown=describe_edit(None, data), is_same=False)
    return carry_out_allowed(
        vault,
        lambda: authorize(vault.entry.scope, Action.POLICY, actor),
        lambda rule: _plan(vault, setting, actor, rule, op_id, request),
    )


def _plan(vault: OpenVault, found: Setting, actor: Actor, rule: str, op_id: OpId | None, request: str) -> Change:
    committed = vault.repo.find_blobs(vault.head(), (POLICY,))[POLICY]
    after = None if found.data is None else fingerprint(found.data)
    before = after if found.is_edited else committed
    verb = "Confirm" if after == committed else "Take away" if after is None else "Change" if committed else "Set"
    return Change(
        action=Action.POLICY,
        op_id=op_id or new_op_id(),
        actor=actor,
        title=f"{verb} {POLICY}",
        # What is confirmed as it is committed is not adopted: then nothing on disk is to differ.
        edits=(FileEdit(_PATH, before, found.data, adopted=found.is_edited and after != committed),),
        records=(),
        rule=rule,
        is_named=op_id is not None,
        request=digest(request),
    )
