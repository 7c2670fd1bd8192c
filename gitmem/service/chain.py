"""The chain of signed statements in a vault's history: what each has to say, seen from its own commit. ADR 0025.

Everything is compared with the commit's parent; signatures are looked at by whoever asks, many at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from gitmem.errors import GitmemError
from gitmem.git.history import Commit
from gitmem.git.trees import find_file
from gitmem.model.deed import Deed, Fault
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import CommitId, Fingerprint
from gitmem.model.signing import Declared, Signed, Statement
from gitmem.model.vault_path import find_path_problem, parse_vault_path
from gitmem.service.confirmed import is_declared
from gitmem.service.standing import find_manifest
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, replace
from gitmem.vault.layout import MANIFEST, POLICY
from gitmem.vault.record_file import parse_record
from gitmem.vault.ssh_key import find_signer, fingerprint_of
from gitmem.vault.statement import STATEMENT, digest_of, parse_signed

_MAX_REMEMBERED = 8


@dataclass(frozen=True)
class Link:
    """What a commit has for a statement: its blob, and the statement if it can be understood. ``None``: no file.

    ``is_keyed`` says that its manifest lists keys, so that what a person does next has to be signed.
    """

    blob: Fingerprint | None = None
    signed: Signed | None = None
    digest: str = ""
    is_keyed: bool = False

    @property
    def keys(self) -> tuple[HumanKey, ...]:
        """The keys that have to sign what comes next; none where the last one was taken out, signed for or not."""
        return self.signed.statement.keys if self.signed and self.is_keyed else ()

    @property
    def counter(self) -> int:
        """The statement's number, 0 for none."""
        return self.signed.statement.counter if self.signed else 0


class Chain:
    """Reads the statements of commits, and remembers by its digest which statement followed which."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._links: dict[Fingerprint, Link] = {}
        self._keyed: dict[Fingerprint | None, bool] = {None: False}
        self._before: dict[str, tuple[int, str | None]] = {}
        self.start = 0
        """The number of the statement that the history which is read goes on from; 0 where it is read whole."""

    def begin(self, link: Link) -> None:
        """Take ``link`` for what the history which is read goes on from."""
        self.start = link.counter
        self.remember(link)

    def read(self, commit: Commit) -> Link:
        """Return what ``commit`` has. Raises ``IntegrityError`` (``object-unreadable``)."""
        repo = self._vault.repo
        blob, manifest = (find_file(repo, commit.tree, path) for path in (STATEMENT, MANIFEST))
        if manifest not in self._keyed:
            found = find_manifest(self._vault, commit.id)
            self._keyed[manifest] = found is None or bool(found.human_keys)
        if blob is None:
            return Link(is_keyed=self._keyed[manifest])
        if blob not in self._links:
            while len(self._links) >= _MAX_REMEMBERED:
                del self._links[next(iter(self._links))]
            self._links[blob] = _parse(blob, repo.read_object(blob))
        return replace(self._links[blob], is_keyed=self._keyed[manifest])

    def remember(self, link: Link) -> None:
        """Keep that the statement is part of this history."""
        if link.signed is not None:
            self._before[link.digest] = (link.counter, link.signed.statement.previous)

    def holds(self, digest: str) -> bool:
        """Tell whether the statement of this digest is part of the history that was read."""
        return digest in self._before

    def leads_to(self, earlier: Link, later: Link) -> bool:
        """Tell whether ``later`` is ``earlier`` or was signed on top of it, by what was read so far."""
        if earlier.signed is None or earlier.digest == later.digest:
            return earlier.blob in (None, later.blob)
        here: str | None = later.digest
        while here is not None and here != earlier.digest:
            counter, previous = self._before.get(here, (0, None))
            here = previous if counter > earlier.counter else None
        return here == earlier.digest


def list_signers(link: Link, before: Link) -> tuple[HumanKey, ...]:
    """Return the keys one of which has to have signed the statement, as ``service.signing`` has it."""
    after = link.keys
    if not before.keys:
        return after
    return tuple(one for one in before.keys if one in after or not after)


def check_statement(vault: OpenVault, commit: Commit, deed: Deed, link: Link, before: Link) -> Iterator[Fault]:
    """Yield what the statement of a person's commit does not say as it should; its signature is another question.

    ``before`` is what the commit's parent has.
    """
    if link.blob == before.blob:
        yield Fault("not-signed", "a person's operation in a vault that lists keys, and no signature is for it")
        return
    if link.blob is None:
        yield Fault("statement-missing", f"it takes {STATEMENT} away")
        return
    if link.signed is None:
        yield Fault("bad-statement", f"{STATEMENT} can't be understood")
        return
    statement = link.signed.statement
    yield from _check_place(vault, deed, statement, before)
    yield from _check_signer(deed, link.signed)
    yield from _check_files(vault, commit, deed, statement)
    yield from _check_declared(vault, commit, statement, before)
    yield from _check_keys_and_policy(vault, commit.id, statement, before)


def check_unclaimed(link: Link) -> Fault:
    """Return what is wrong with a statement that came, went or changed by no operation of a person's."""
    if link.blob is None:
        return Fault("statement-missing", f"what people signed ({STATEMENT}) is taken away")
    if link.signed is None:
        return Fault("bad-statement", f"{STATEMENT} can't be understood")
    return Fault("statement-of-another-operation", f"it changes {STATEMENT}, and is no person's operation")


def _check_place(vault: OpenVault, deed: Deed, one: Statement, before: Link) -> Iterator[Fault]:
    if one.vault != vault.entry.vault_id:
        yield Fault("statement-of-another-vault", "what was signed is another vault's")
    if (one.counter, one.previous) != (before.counter + 1, before.digest or None):
        there = f"follows statement {before.counter}" if before.signed else "is the first in its line"
        yield Fault("statement-out-of-order", f"statement {one.counter} {there}, and was not signed on top of that")
    if one.op_id != deed.find_trailer("Gitmem-Op-Id") or one.action.value != deed.find_trailer("Gitmem-Op"):
        yield Fault("statement-of-another-operation", f"what was signed is the {one.action} {one.op_id}")


def _check_signer(deed: Deed, signed: Signed) -> Iterator[Fault]:
    by = find_signer(signed.signature)
    named = deed.find_trailer("Gitmem-Signed-By")
    if by is None or named != fingerprint_of(by):
        yield Fault("signer-not-as-named", "its trailer Gitmem-Signed-By names another key than the one that signed")


def _check_files(vault: OpenVault, commit: Commit, deed: Deed, one: Statement) -> Iterator[Fault]:
    signed = dict(one.files)
    private = {side.path for each in deed.records if each.is_private for side in (each.before, each.after) if side}
    for path in sorted({*signed, *deed.files} - {STATEMENT}):
        blob = find_file(vault.repo, commit.tree, path)
        told = "a private record" if path in private else path
        if path not in signed:
            yield Fault("statement-of-another-change", f"it changes {told}, which was not signed for")
        elif (None if blob is None else _sha256(vault, blob)) != signed[path]:
            yield Fault("statement-of-another-change", f"{told} is not as it was signed")


def _check_declared(vault: OpenVault, commit: Commit, one: Statement, before: Link) -> Iterator[Fault]:
    """Compare the signed list of what is declared with what it was, and what the operation did to it."""
    if before.signed is None or not before.keys:
        for each in one.declared:
            blob = find_file(vault.repo, commit.tree, each.path)
            if blob != each.blob or _sha256(vault, blob) != each.sha256:
                message = f"{each.id} was signed as declared and is not so there"
                yield Fault("declared-not-as-signed", message, record=each.id)
        return
    ids, paths = {ref.id for ref in one.records}, {path for path, _digest in one.files}
    wanted = [each for each in before.signed.statement.declared if each.id not in ids and each.path not in paths]
    wanted += [found for path, _digest in one.files if (found := _find_declared(vault, commit, path)) is not None]
    differ = {*wanted} ^ {*one.declared}
    if differ:
        first = min(differ, key=lambda each: each.path)
        what = "leaves out" if first in wanted else "lists, against what it does,"
        yield Fault("declared-not-as-signed", f"its list of what is declared {what} {first.id}", record=first.id)


def _check_keys_and_policy(vault: OpenVault, commit: CommitId, one: Statement, before: Link) -> Iterator[Fault]:
    manifest = find_manifest(vault, commit)
    if manifest is None or set(manifest.human_keys) != set(one.keys):
        yield Fault("keys-differ", "the keys in manifest.json are not those that were signed")
    is_set = any(path == POLICY for path, _digest in one.files)
    if is_set or before.signed is None or not before.keys:
        data = vault.repo.read_blob(commit, POLICY)
        wanted = {None if data is None else hashlib.sha256(data).hexdigest(), *([] if is_set else [None])}
    else:
        wanted = {before.signed.statement.policy}
    if one.policy not in wanted:
        yield Fault("policy-differs", "the policy that was signed is not the one that people had set")


def _find_declared(vault: OpenVault, commit: Commit, path: str) -> Declared | None:
    blob = find_file(vault.repo, commit.tree, path)
    if blob is None or not path.endswith(".md") or find_path_problem(path):
        return None
    data = vault.repo.read_object(blob)
    try:
        record = parse_record(parse_vault_path(path), data)
    except GitmemError:
        return None
    is_one = record is not None and is_declared(record)
    return Declared(record.id, path, hashlib.sha256(data).hexdigest(), blob) if record and is_one else None


def _sha256(vault: OpenVault, blob: Fingerprint) -> str:
    return hashlib.sha256(vault.repo.read_object(blob)).hexdigest()


def _parse(blob: Fingerprint, data: bytes) -> Link:
    try:
        signed = parse_signed(data)
    except GitmemError:
        return Link(blob)
    return Link(blob, signed, digest_of(signed.statement))
