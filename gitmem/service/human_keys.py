"""The keys of people: which a vault lists, and which this machine trusts. Adding and removing them is a person's."""

from __future__ import annotations

import os
from collections.abc import Callable

from gitmem.errors import InputError, StateError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import OpId, fingerprint, new_op_id
from gitmem.model.settings import Manifest
from gitmem.model.signing import Anchor
from gitmem.model.vault_path import VaultPath
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out_allowed, digest, find_earlier
from gitmem.service.retry import describe_request
from gitmem.service.signing import find_statement, list_declared
from gitmem.service.standing import UNTRUSTED, find_anchor, find_manifest, judge, list_unlike, read_standing
from gitmem.service.vault import OpenVault
from gitmem.text import find_hidden, one_line, quote
from gitmem.values import dataclass, replace
from gitmem.vault.anchor import save_anchor
from gitmem.vault.home_settings import save_settings
from gitmem.vault.layout import MANIFEST, HomeLayout
from gitmem.vault.manifest import MAX_NAME_CHARS, edit_human_keys
from gitmem.vault.ssh_key import fingerprint_of, read_public_key
from gitmem.vault.statement import digest_of

Keys = tuple[HumanKey, ...]


@dataclass(frozen=True)
class Trusting:
    """What ``trust_keys`` would trust: the keys, the statement's number, and what is said against it.

    ``before`` are the keys that this machine trusts now.
    """

    keys: tuple[HumanKey, ...]
    counter: int
    digest: str
    before: tuple[HumanKey, ...]

    def list_fingerprints(self) -> list[tuple[HumanKey, str]]:
        """Return each key with its fingerprint."""
        return [(one, fingerprint_of(one.key)) for one in self.keys]


@dataclass(frozen=True)
class Adding:
    """What ``add_key`` would list. Of the first key, the titles of what its statement declares, and what it leaves out.

    The latter has no proof here that a person declared it; an edit by a person gives it. ``None`` for a later key.
    """

    key: HumanKey
    fingerprint: str
    declared: tuple[str, ...] | None
    left_out: tuple[str, ...]


def list_human_keys(vault: OpenVault) -> Answer:
    """Return the vault's keys as rows: ``name``, ``type``, ``fingerprint``, ``trusted`` here, ``signs`` (here).

    Keys that this machine trusts and the vault does not list are rows, too, with ``listed`` false. What the signatures
    lack is told as diagnostics.
    """
    head = vault.head()
    standing = read_standing(vault, head)
    trusted = standing.anchor.keys if standing.anchor else ()
    own = find_own_key(vault)
    found = {one.key: one for one in (*trusted, *standing.keys)}
    rows = tuple(
        {
            "name": one.name,
            "type": one.key.split()[0],
            "fingerprint": fingerprint_of(one.key),
            "listed": one in standing.keys,
            "trusted": one.key in {each.key for each in trusted},
            "signs": one.key == own,
        }
        for one in sorted(found.values(), key=lambda one: one.name)
    )
    unlike = [] if standing.statement is None else list_unlike(vault, head, standing.statement)
    extra = {
        "signed": standing.statement.counter if standing.statement else None,
        "declared": len(standing.statement.declared) if standing.statement else None,
        "not_as_signed": len(unlike),
    }
    status = Status.OK if rows else Status.NO_MATCH
    return Answer(status, head, rows=rows, diagnostics=standing.problems, extra=extra)


def find_own_key(vault: OpenVault) -> str | None:
    """Return the public key that this machine signs with, ``None`` where none is set or it can't be read."""
    file = vault.settings.signing_key
    try:
        return read_public_key(file)[0] if file else None
    except InputError:
        return None


def read_key(file: str, name: str | None = None) -> HumanKey:
    """Return the key in a ``.pub`` file, or beside a private one, under ``name``, else under its comment.

    Raises ``InputError``: ``no-such-key``, ``bad-key``, ``bad-key-name``.
    """
    key, comment = read_public_key(file)
    chosen = one_line(name if name is not None else comment)
    if not 0 < len(chosen) <= MAX_NAME_CHARS or find_hidden(chosen):
        raise InputError("bad-key-name", "the key needs a name of one plain line", "Give one with --name.")
    return HumanKey(chosen, key)


def add_key(
    vault: OpenVault,
    file: str,
    name: str | None,
    actor: Actor,
    op_id: OpId | None = None,
    shown: HumanKey | None = None,
) -> Receipt:
    """List a person's key in the manifest, as a signed operation; the first is signed by the key itself.

    Where no signing key is set on this machine, the first becomes that. ``shown`` is the key that a person was shown:
    a file that holds another by now is refused, with ``StateError`` (``changed-meanwhile``). Raises ``InputError``
    (``key-listed`` and what ``read_key`` raises), ``PolicyError`` (``needs-human``, ``signature-needed``) and what
    ``plan.carry_out`` raises; nothing is written then.
    """
    key = read_key(file, name)
    if shown not in (None, key):
        raise StateError(
            "changed-meanwhile",
            "the file holds another key than the one that was shown; nothing was written",
            "Find out what changed it, and compare the fingerprint again.",
        )
    private = file.removesuffix(".pub")
    own = private if os.path.isfile(private) else file

    def edit(keys: tuple[HumanKey, ...]) -> tuple[HumanKey, ...]:
        for one in keys:
            if one.name == key.name or one.key == key.key:
                raise InputError("key-listed", f"{one.name!r} is listed already, or has this key", "See `keys list`.")
        return (*keys, key)

    manifest = find_manifest(vault, vault.head())
    before = vault.settings
    is_new = not before.signing_key and not (manifest and manifest.human_keys)
    vault.settings = replace(before, signing_key=own) if is_new else before
    try:
        request = describe_request(add=key.key, name=key.name)
        receipt = _change_keys(vault, actor, op_id, f"list the key of {key.name}", edit, request)
    except BaseException:
        vault.settings = before
        raise
    if is_new and vault.options.home:
        save_settings(HomeLayout(vault.options.home), vault.settings)
    return receipt


def remove_key(vault: OpenVault, name: str, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Take a key off the list, as a signed operation. Without the last one nothing is signed any more.

    Raises ``InputError`` (``no-such-key``) and what ``add_key`` raises.
    """

    def edit(keys: tuple[HumanKey, ...]) -> tuple[HumanKey, ...]:
        left = tuple(one for one in keys if one.name != name)
        if left == keys:
            raise InputError("no-such-key", f"no key is called {quote(name)}", "See `gitmem keys list`.")
        return left

    return _change_keys(
        vault, actor, op_id, f"take the key of {name} off the list", edit, describe_request(remove=name)
    )


def find_adding(vault: OpenVault, file: str, name: str | None = None) -> Adding:
    """Return what ``add_key`` would do, for a person to look at. Raises what ``read_key`` raises."""
    from gitmem.service.confirmed import list_confirmed

    key = read_key(file, name)
    if read_standing(vault, vault.head()).statement is not None:
        return Adding(key, fingerprint_of(key.key), None, ())
    found = [record for record, _one in list_declared(vault, vault.head()) if not record.private]
    known = list_confirmed(vault, found)
    titles = [[one.title for one in found if (one.path in known) is is_known] for is_known in (True, False)]
    return Adding(key, fingerprint_of(key.key), tuple(titles[0]), tuple(titles[1]))


def find_trusting(vault: OpenVault) -> Trusting:
    """Return what ``trust_keys`` would trust, for a person to look at.

    Raises ``StateError`` (``nothing-to-trust``, or the code of what is wrong with the statement).
    """
    head = vault.head()
    manifest = find_manifest(vault, head)
    keys = manifest.human_keys if isinstance(manifest, Manifest) else ()
    statement = find_statement(vault, head)
    anchor = find_anchor(vault)
    before = anchor.keys if anchor else ()
    if anchor is not None and anchor.is_roots:
        raise StateError(
            "anchor-is-roots", "the administrator of this machine says which keys are people's", "Ask them."
        )
    if not keys and not before:
        raise StateError("nothing-to-trust", "this vault lists no keys", "Add one with `gitmem keys add FILE`.")
    if not keys:
        return Trusting((), 0 if statement is None else statement.counter, _digest(vault), before)
    wanted = Anchor(vault.entry.vault_id, keys)
    problem = _find_problem_with(vault, wanted)
    if problem:
        raise StateError(*problem)
    assert statement is not None
    return Trusting(statement.keys, statement.counter, digest_of(statement), before)


def trust_keys(vault: OpenVault, actor: Actor, wanted: Trusting) -> None:
    """Have this machine trust ``wanted``, as a person who was shown it; nothing in the repository changes.

    Raises ``PolicyError`` (``needs-human``).
    """
    authorize(vault.entry.scope, Action.TRUST, actor)
    home = HomeLayout(vault.options.home)
    save_anchor(home, Anchor(vault.entry.vault_id, wanted.keys, wanted.counter, wanted.digest))


def _digest(vault: OpenVault) -> str:
    statement = find_statement(vault, vault.head())
    return "" if statement is None else digest_of(statement)


def _find_problem_with(vault: OpenVault, anchor: Anchor) -> tuple[str, str, str] | None:
    standing = judge(vault, vault.head(), anchor)
    hint = "Look at it with `gitmem verify` first."
    for problem in standing.problems:
        if problem.code != UNTRUSTED:
            return problem.code, problem.message, hint
    return None


def _change_keys(
    vault: OpenVault, actor: Actor, op_id: OpId | None, title: str, edit: Callable[[Keys], Keys], request: str
) -> Receipt:
    earlier = find_earlier(vault, Action.TRUST, op_id, request)
    if earlier is not None:
        return earlier

    def plan(rule: str) -> Change:
        data = vault.repo.read_blob(vault.head(), MANIFEST)
        assert data is not None
        manifest = find_manifest(vault, vault.head())
        after = edit_human_keys(data, edit(() if manifest is None else manifest.human_keys))
        return Change(
            action=Action.TRUST,
            op_id=op_id or new_op_id(),
            actor=actor,
            title=title,
            edits=(FileEdit(VaultPath(MANIFEST), fingerprint(data), after),),
            records=(),
            rule=rule,
            is_named=op_id is not None,
            request=digest(request),
        )

    return carry_out_allowed(vault, lambda: authorize(vault.entry.scope, Action.TRUST, actor), plan)
