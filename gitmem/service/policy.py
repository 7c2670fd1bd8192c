"""Which policy holds in a vault, and what it opens to a model surface beyond the authority table.

What holds is the committed ``policy.yaml``, if a person is known to have set it: as with declared records (see
``confirmed``) that is what the newest operation on it left, or, in a vault that lists keys of people, what was signed.
Anybody can commit a file; nobody's file opens anything.
See ADR 0026.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence

from gitmem.errors import GitmemError, InputError, IntegrityError, UnavailableError
from gitmem.model.authority import Action, Authority, Decision, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, Fingerprint, fingerprint
from gitmem.model.policy import MAX_FILE_BYTES, Origin, Policy
from gitmem.model.record import Draft, Problem, Record, State
from gitmem.model.settings import Scope
from gitmem.model.vault_path import VaultPath
from gitmem.policy.evidence_rules import allow, find_rule
from gitmem.policy.narrowing import make_broken, make_stricter
from gitmem.service.standing import read_standing
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, replace
from gitmem.vault.layout import POLICY
from gitmem.vault.paths import read_file
from gitmem.vault.policy_file import parse_policy
from gitmem.vault.statement import STATEMENT, parse_signed

_APPLY = "a person makes it hold with `gitmem policy apply`"


@dataclass(frozen=True)
class Holding:
    """The policy that holds, what is committed (``None`` for no file), and the operation by which a person set it.

    ``set_by`` is ``None`` where no receipt tells of one.
    """

    policy: Policy
    blob: Fingerprint | None
    set_by: Receipt | None = None


def find_policy(vault: OpenVault) -> Policy:
    """Return the policy that holds now. Reads HEAD, and receipts; see ``find_holding``."""
    return find_holding(vault, vault.head()).policy


def find_holding(vault: OpenVault, head: CommitId) -> Holding:
    """Return what holds in ``head``.

    The committed file where a person is known to have set it as it is, the defaults where there is none and nobody set
    one. A file that can't be read closes everything to a model surface. Else what was set, what is committed and the
    defaults are taken together, the strictest of each, and nothing is opened. Raises ``UnavailableError``
    (``receipts-unreadable``).
    """
    from gitmem.transaction.receipts import find_last_of

    set_by = find_last_of(vault.layout, Action.POLICY)
    blob = vault.repo.find_blobs(head, (POLICY,))[POLICY]
    try:
        committed = read_policy(vault, head)
    except GitmemError as error:
        return Holding(make_broken(error.message), blob, set_by)
    left = _find_left(vault, set_by)
    if _is_set(vault, head, blob, left):
        return Holding(Policy() if committed is None else committed, blob, set_by)
    strictest = Policy()
    for one in (_read_set(vault, set_by), committed):
        strictest = strictest if one is None else make_stricter(strictest, one)
    return Holding(replace(strictest, origin=Origin.UNCONFIRMED, problem=_tell(blob, left)), blob, set_by)


def find_accept_rule(vault: OpenVault, draft: Draft, sessions: int, policy: Policy | None = None) -> Decision | None:
    """Return the decision of the policy's first rule by which ``draft`` is accepted without a person, or ``None``.

    ``sessions`` is in how many sessions it was proposed. It is accepted as an observation and as nothing else; the
    decision's ``rule`` is what the commit names. Never one for a boundary, preference, goal or state, and never one in
    a global vault. ``policy`` is the vault's, for who asks about many; it is found where it is not given.
    """
    if is_global(vault):
        return None
    rule = find_rule((policy or find_policy(vault)).accept, draft, sessions)
    return None if rule is None else allow(rule, "accepts without a person")


def find_promote_rule(vault: OpenVault, records: Sequence[Record]) -> Decision | None:
    """Return the decision of the policy's first rule by which all of ``records`` are promoted without a person.

    ``None`` where there is none, in a global vault, and for anything but observations that nobody declared.
    """
    if is_global(vault):
        return None
    rules = find_policy(vault).promote
    for record in records if rules else ():
        if not may_be_promoted_by_rule(record):
            return None
        sessions = count_sessions(vault, record)
        rules = tuple(rule for rule in rules if find_rule((rule,), record, sessions))
    return allow(rules[0], "promotes without a person") if rules else None


def may_be_promoted_by_rule(record: Record) -> bool:
    """Tell whether a rule of a policy may promote ``record`` at all: an observation that nobody declared."""
    return record.state is State.OBSERVATION and record.authority is not Authority.USER_DECLARED


def is_global(vault: OpenVault) -> bool:
    """Tell whether the vault, by its marker or by the home, is the global one, in which no rule opens anything."""
    return Scope.GLOBAL in (vault.entry.scope, vault.manifest.scope)


def count_sessions(vault: OpenVault, record: Record) -> int:
    """Return in how many sessions ``record`` was proposed or written, by receipts and by what the inbox decided.

    What its file says of that counts for nothing. At least 1.
    """
    from gitmem.transaction.receipts import iter_naming
    from gitmem.vault.inbox import load_decided

    found = {receipt.session for receipt in iter_naming(vault.layout, record.id) if receipt.session}
    for one in load_decided(vault.layout):
        if one.candidate.id == record.id:
            found |= {source.partition("/")[2] or source for source in one.candidate.sources}
    return max(1, len(found))


def list_policy_problems(vault: OpenVault, head: CommitId) -> list[Problem]:
    """Return what is wrong with the policy: ``policy-broken``, ``policy-unconfirmed``, ``policy-uncommitted``.

    The last one is about a file in the work tree that differs from what is committed, and so does not hold.
    """
    try:
        holding = find_holding(vault, head)
    except UnavailableError as error:
        return [Problem(error.code, error.message)]
    return [*_tell_holding(holding), *_tell_work_tree(vault, holding)]


def _tell_holding(holding: Holding) -> Iterator[Problem]:
    if holding.policy.origin is Origin.BROKEN:
        said = holding.policy.problem.removeprefix(f"{POLICY}, ").removeprefix(f"{POLICY}: ")
        message = f"it can't be read, and until a person mends it a model writes nothing here: {said}"
        yield Problem("policy-broken", message, POLICY)
    elif holding.policy.origin is Origin.UNCONFIRMED:
        message = f"{holding.policy.problem}; until then the strictest of what was set holds, and opens nothing"
        yield Problem("policy-unconfirmed", message, POLICY)


def _tell_work_tree(vault: OpenVault, holding: Holding) -> Iterator[Problem]:
    try:
        data = read_file(vault.layout.repo, VaultPath(POLICY), MAX_FILE_BYTES)
    except GitmemError as error:
        yield Problem("policy-uncommitted", f"it can't be read from the work tree: {error.message}", POLICY)
        return
    if (None if data is None else fingerprint(data)) == holding.blob:
        return
    what = "it is gone from the work tree" if data is None else "it is not as it is committed"
    yield Problem("policy-uncommitted", f"{what}, so the committed one holds; {_APPLY}", POLICY)


def read_policy(vault: OpenVault, commit: CommitId) -> Policy | None:
    """Return the policy that a commit has, ``None`` for none. Raises ``GitmemError`` for one that can't be read.

    Who put it there is no matter.
    """
    if vault.repo.find_blobs(commit, (POLICY,))[POLICY] is None:
        return None
    data = vault.repo.read_blob(commit, POLICY)
    if data is None:
        raise InputError(
            "bad-policy", f"{POLICY} is no regular file", f"Put a file of that name there, or none; {_APPLY}."
        )
    return _parse(data)


@functools.lru_cache(maxsize=16)
def _parse(data: bytes) -> Policy:
    return parse_policy(data)


def _read_set(vault: OpenVault, set_by: Receipt | None) -> Policy | None:
    """Return the policy that a person set last, ``None`` where that is none or can't be read any more."""
    try:
        return None if set_by is None or set_by.commit is None else read_policy(vault, set_by.commit)
    except GitmemError:
        return None


def _find_left(vault: OpenVault, set_by: Receipt | None) -> Fingerprint | None:
    """Return the file that the newest operation on the policy left, if it was a person's; ``None`` for none."""
    if set_by is None or set_by.surface != Surface.HUMAN.value or set_by.commit is None:
        return None
    try:
        return vault.repo.find_blobs(set_by.commit, (POLICY,))[POLICY]
    except IntegrityError:  # history was rewritten, and that commit is gone
        return Fingerprint("gone")


def _is_set(vault: OpenVault, head: CommitId, blob: Fingerprint | None, left: Fingerprint | None) -> bool:
    """Tell whether a person is known to have set the file ``blob`` that ``head`` has, or that there is none."""
    if blob is None and left is None and not _may_be_signed(vault, head):
        return True
    standing = read_standing(vault, head)
    if not standing.is_keyed:
        return left == blob
    digest = None if blob is None else hashlib.sha256(vault.repo.read_object(blob)).hexdigest()
    return standing.statement is not None and standing.statement.policy == digest


def _may_be_signed(vault: OpenVault, head: CommitId) -> bool:
    """Tell whether the statement that is committed, good or not, names a policy."""
    data = vault.repo.read_blob(head, STATEMENT)
    try:
        return data is not None and parse_signed(data).statement.policy is not None
    except IntegrityError:
        return True


def _tell(blob: Fingerprint | None, left: Fingerprint | None) -> str:
    if blob is None:
        return f"a person had set it, and it was taken away outside gitmem; {_APPLY}"
    how = "was changed outside gitmem" if left else "was committed outside gitmem"
    return f"it {how}, and nobody is known to have set it so; {_APPLY}"
