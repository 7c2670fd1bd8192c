"""The rules that a commit is held against: what its trailers may say of it, and what has to be signed. ADR 0025."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gitmem.errors import GitmemError, IntegrityError
from gitmem.git.history import Commit
from gitmem.git.message import OP_ID, parse_message
from gitmem.model.authority import Action, Surface
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import CommitId
from gitmem.model.record import State, state_of
from gitmem.model.signing import Signed
from gitmem.service.committed import Changed, iter_paths, read_changed
from gitmem.service.openssh import is_signed
from gitmem.service.policy import read_policy
from gitmem.service.vault import OpenVault
from gitmem.vault.layout import MANIFEST, POLICY
from gitmem.vault.manifest import parse_manifest
from gitmem.vault.statement import STATEMENT, digest_of, format_canonical, parse_signed

_REPEATED = ("Gitmem-Record",)
_NEEDED = ("Gitmem-Op", OP_ID, "Gitmem-Surface")
_OF_PEOPLE_ALONE = (Action.DECLARE, Action.ADOPT, Action.POLICY, Action.TRUST)
_OF_STORAGE = (Action.REPAIR, Action.MAINTAIN)
_POLICY_RULE = "policy:"
_MAX_REMEMBERED = 64


@dataclass(frozen=True)
class Fault:
    """One rule that a commit breaks: a stable code, and one line for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What was found of one commit.

    ``signed`` is the statement that it brings, if it does; ``is_outside`` says that it was not made by gitmem,
    ``touches`` that it changes what only people may.
    """

    faults: tuple[Fault, ...]
    signed: Signed | None
    is_outside: bool
    touches: bool


@dataclass
class Judge:
    """Holds commits of one vault against the rules, in any order: each is compared with its own parents."""

    vault: OpenVault
    _signed: dict[str, Signed | None] = field(default_factory=dict)
    _keys: dict[str, tuple[HumanKey, ...]] = field(default_factory=dict)

    def judge(self, commit: Commit) -> Verdict:
        """Return what is to be said of ``commit``. Raises ``IntegrityError`` (``object-unreadable``), and
        ``UnavailableError`` (``openssh-missing``) where it brings a statement."""
        is_keyed = {parent: bool(self.list_keys(parent)) for parent in commit.parents}
        changed = read_changed(self.vault, commit, is_keyed)
        trailers = parse_message(commit.message).trailers
        named = dict(trailers)
        is_outside = OP_ID not in named
        faults = list(_check_trailers(trailers))
        if not is_outside and not faults:
            faults += self._check_operation(commit, named, changed)
        signed: Signed | None = None
        try:
            signed = self._find_new(commit)
            faults += self._check_signed(commit, named, changed, signed, is_keyed=any(is_keyed.values()))
        except IntegrityError as error:
            if error.code != "bad-statement":
                raise
            faults.append(Fault("bad-statement", error.message))
        return Verdict(tuple(faults), signed, is_outside, bool(changed.of_people))

    def list_keys(self, commit: CommitId) -> tuple[HumanKey, ...]:
        """Return the keys that have to sign what comes after ``commit``: those that were signed, else those listed."""
        try:
            signed = self.find_signed(commit)
        except IntegrityError as error:
            if error.code != "bad-statement":
                raise
            signed = None
        return signed.statement.keys if signed is not None else self._list_listed(commit)

    def find_signed(self, commit: CommitId) -> Signed | None:
        """Return the statement that ``commit`` has. Raises ``IntegrityError`` (``bad-statement``)."""
        blob = self.vault.repo.find_blobs(commit, (STATEMENT,))[STATEMENT]
        if blob is None:
            return None
        if blob not in self._signed:
            if len(self._signed) >= _MAX_REMEMBERED:
                self._signed.clear()
            data = self.vault.repo.read_blob(commit, STATEMENT)
            self._signed[blob] = None if data is None else parse_signed(data)
        return self._signed[blob]

    def _find_new(self, commit: Commit) -> Signed | None:
        """Return the statement of a commit if no parent has the same."""
        blob = self.vault.repo.find_blobs(commit.id, (STATEMENT,))[STATEMENT]
        olds = {self.vault.repo.find_blobs(parent, (STATEMENT,))[STATEMENT] for parent in commit.parents}
        return None if blob in olds else self.find_signed(commit.id)

    def _count(self, commit: CommitId) -> int:
        signed = self.find_signed(commit)
        return 0 if signed is None else signed.statement.counter

    def _list_listed(self, commit: CommitId) -> tuple[HumanKey, ...]:
        blob = self.vault.repo.find_blobs(commit, (MANIFEST,))[MANIFEST]
        if blob is None:
            return ()
        if blob not in self._keys:
            if len(self._keys) >= _MAX_REMEMBERED:
                self._keys.clear()
            data = self.vault.repo.read_blob(commit, MANIFEST)
            try:
                self._keys[blob] = () if data is None else parse_manifest(data).human_keys
            except GitmemError:
                self._keys[blob] = ()
        return self._keys[blob]

    def _check_operation(self, commit: Commit, named: dict[str, str], changed: Changed) -> Iterator[Fault]:
        """Yield what an operation does and its own trailers don't allow it."""
        try:
            action = Action(named["Gitmem-Op"])
        except ValueError:
            yield Fault("forged-trailers", f"there is no operation called {named['Gitmem-Op'][:40]!r}")
            return
        if action in _OF_STORAGE and any(path != MANIFEST for path in iter_paths(changed)):
            path = next(path for path in iter_paths(changed) if path != MANIFEST)
            yield Fault("more-than-it-says", f"a {action.value} changes no record, and this one changes {path}")
        if named["Gitmem-Surface"] == Surface.HUMAN.value or action is Action.INIT:
            return
        if action in _OF_PEOPLE_ALONE:
            yield Fault("not-a-model-s", f"a model surface can't {action.value}")
        elif changed.of_people and not self._is_by_policy(commit, named, changed):
            yield Fault("not-a-model-s", f"a model surface can't change {changed.of_people[0]}")

    def _is_by_policy(self, commit: Commit, named: dict[str, str], changed: Changed) -> bool:
        """Tell whether a rule of the policy of then lets a model surface promote what the commit promotes."""
        rule = named.get("Gitmem-Rule", "")
        if not rule.startswith(_POLICY_RULE) or not commit.parents:
            return False
        if any(state_of(path) is not State.PROMOTED or changed.files[path].old for path in changed.of_people):
            return False
        parent = commit.parents[0]
        try:
            policy = read_policy(self.vault, parent)
        except GitmemError:
            return False
        if policy is None or rule.removeprefix(_POLICY_RULE) not in {one.id for one in policy.promote}:
            return False
        signed = self.find_signed(parent) if self.list_keys(parent) else None
        data = self.vault.repo.read_blob(parent, POLICY)
        return signed is None or (data is not None and signed.statement.policy == _sha256(data))

    def _check_signed(
        self, commit: Commit, named: dict[str, str], changed: Changed, signed: Signed | None, *, is_keyed: bool
    ) -> Iterator[Fault]:
        if signed is not None:
            yield from self._check_statement(commit, named, changed, signed)
            return
        has = self.vault.repo.find_blobs(commit.id, (STATEMENT,))[STATEMENT] is not None
        had = any(self.vault.repo.find_blobs(parent, (STATEMENT,))[STATEMENT] is not None for parent in commit.parents)
        if had and not has:
            yield Fault("statement-missing", f"what people signed ({STATEMENT}) is taken away")
        elif len(commit.parents) > 1 and self._count(commit.id) < max(map(self._count, commit.parents)):
            yield Fault("statement-rolled-back", "of two statements the merge keeps the older one")
        if not is_keyed:
            if self._list_listed(commit.id) and not any(map(self._list_listed, commit.parents)):
                yield Fault("not-signed", "keys are listed that nobody signed for")
            return
        by_policy = named.get("Gitmem-Surface") == Surface.MODEL.value and self._is_by_policy(commit, named, changed)
        if changed.of_people and not by_policy:
            yield Fault("not-signed", f"{changed.of_people[0]} is changed, and nobody signed for it")
        elif (
            named.get("Gitmem-Surface") == Surface.HUMAN.value
            and named.get("Gitmem-Op") not in _OF_STORAGE
            and any(True for _path in iter_paths(changed))
        ):
            yield Fault("not-signed", "it says that a person did it, and nobody signed for it")

    def _check_statement(
        self, commit: Commit, named: dict[str, str], changed: Changed, signed: Signed
    ) -> Iterator[Fault]:
        """Yield what is wrong with a new statement: its place in the chain, what it is of, its signature."""
        parent = commit.parents[0] if commit.parents else None
        before = None if parent is None else self.find_signed(parent)
        one = signed.statement
        if one.vault != self.vault.entry.vault_id:
            yield Fault("statement-of-another-vault", "what was signed is another vault's")
        follows = (1, None) if before is None else (before.statement.counter + 1, digest_of(before.statement))
        if len(commit.parents) > 1 or (one.counter, one.previous) != follows:
            yield Fault("statement-out-of-order", f"statement {one.counter} does not follow the one before it")
        if (one.op_id, one.action.value, Surface.HUMAN.value) != (
            named.get(OP_ID),
            named.get("Gitmem-Op"),
            named.get("Gitmem-Surface"),
        ):
            yield Fault("statement-of-another-operation", "what was signed is another operation")
        yield from self._check_files(commit, changed, signed)
        if set(one.keys) != set(self._list_listed(commit.id)):
            yield Fault("keys-differ", f"the keys in {MANIFEST} are not those that were signed")
        keys_before = () if before is None else before.statement.keys
        allowed = [key for key in keys_before if key in one.keys or not one.keys] if keys_before else list(one.keys)
        if not is_signed(format_canonical(one), signed.signature, allowed):
            yield Fault("bad-signature", "its statement is not signed by a key that was listed then")

    def _check_files(self, commit: Commit, changed: Changed, signed: Signed) -> Iterator[Fault]:
        repo, files = self.vault.repo, dict(signed.statement.files)
        for path in iter_paths(changed):
            new = changed.files[path].new
            sha256 = None if new is None else _sha256(repo.read_object(new))
            if path not in files or files[path] != sha256:
                yield Fault("statement-of-another-change", f"what was signed does not say so of {path}")
                return
        before = self.find_signed(commit.parents[0]) if commit.parents else None
        known = set() if before is None else set(before.statement.declared)
        new_ones = [one for one in signed.statement.declared if one not in known]
        blobs = repo.find_blobs(commit.id, [one.path for one in new_ones])
        for ref in new_ones:
            if blobs[ref.path] != ref.blob or _sha256(repo.read_object(ref.blob)) != ref.sha256:
                yield Fault("declared-not-as-signed", f"{ref.path} is signed as declared and is not there so")
                return


def _check_trailers(trailers: tuple[tuple[str, str], ...]) -> Iterator[Fault]:
    """Yield what shows that gitmem did not write the trailers of a commit that has its names."""
    names = Counter(name for name, _value in trailers if name.lower().startswith("gitmem-"))
    if not names:
        return
    for name, times in names.items():
        if times > 1 and name not in _REPEATED:
            yield Fault("forged-trailers", f"{name} stands there {times} times")
            return
    named = dict(trailers)
    missing = [name for name in _NEEDED if name not in named]
    if missing:
        yield Fault("forged-trailers", f"it has trailers of gitmem's, but no {missing[0]}")
    elif named["Gitmem-Surface"] not in (Surface.HUMAN.value, Surface.MODEL.value):
        yield Fault("forged-trailers", "its Gitmem-Surface is neither human nor model")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
