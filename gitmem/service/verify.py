"""Prove from history alone who changed what only people may, and name the first operation that breaks a rule.

Parents come before children, so what is named first is what came first. Kept are ids, which actor wrote which
observation, and the digests of statements; commits are read and let go. ADR 0025.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from gitmem.clock import format_utc, moment_at
from gitmem.errors import GitmemError
from gitmem.git.commit import Commit
from gitmem.git.history import read_commit
from gitmem.git.trees import find_file
from gitmem.model.answer import Answer, Status
from gitmem.model.change import RecordChange
from gitmem.model.deed import Deed, Fault
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import CommitId, RecordId
from gitmem.model.policy import Policy
from gitmem.model.signing import Signed
from gitmem.policy.commit_rules import (
    Around,
    check_operation,
    check_outside,
    check_trailers,
    is_of_person,
    is_operation,
    list_guarded,
)
from gitmem.service.chain import Chain, Link, check_statement, check_unclaimed, list_signers
from gitmem.service.deeds import list_oldest_first, read_deed
from gitmem.service.openssh import is_signed
from gitmem.service.operations import parse_operation
from gitmem.service.revision import get_revision
from gitmem.service.trust import judge_trust
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.layout import POLICY
from gitmem.vault.policy_file import parse_policy
from gitmem.vault.statement import format_canonical

MAX_TOLD = 20
"""How many commits are named, the oldest of each sort; all are counted."""
_AT_ONCE = 64
_RUNS_AT_ONCE = 4
_MAX_REMEMBERED = 64
_PROGRESS_COMMITS = 100
Row = dict[str, Any]


def verify(vault: OpenVault, since: str | None = None, progress: Callable[[int], None] = lambda _done: None) -> Answer:
    """Return what history proves. Rows are the commits that break a rule, the first one first, then others to mind.

    A row has ``severity`` (``error``, ``warning`` for a commit of plain Git that changed what only people may, in a
    vault that had no keys then), ``code``, ``message``, ``commit``, ``op``, ``op_id``, ``title``, ``by``, ``time`` and
    ``record``, the id of the one that it is about. ``extra`` has ``verdict``: ``proven`` (every such change since the
    first key is signed, by keys that are trusted here), ``consistent`` (nothing contradicts itself, and not all is
    proved), ``broken``; ``commits``, ``signed``, ``outside``, ``unsigned`` (changes of that sort without a signature
    that broke no rule), ``faults`` and ``first``.

    Looks at each commit that HEAD reaches, merged branches too, or those after ``since``. Where all of it holds, and
    builds on what this machine trusts, the anchor moves on to HEAD. ``progress`` is told how many were looked at.
    Raises ``InputError`` (``no-such-revision``), ``IntegrityError`` (``object-unreadable``), ``UnavailableError``
    (``openssh-missing``).
    """
    head = vault.head()
    stop = None if since is None else get_revision(vault, since)
    walk = _Walk(vault, stop)
    for number, commit in enumerate(list_oldest_first(vault, head, stop), 1):
        walk.look(number, commit)
        if number % _PROGRESS_COMMITS == 0:
            progress(number)
    walk.check_signatures()
    trust = judge_trust(vault, head, walk.chain, walk.read_link(head), is_broken=bool(walk.faults))
    errors = [*walk.list_errors(), *(_row("error", one.code, one.message, None) for one in trust.wrong)]
    extra: dict[str, Any] = {
        "verdict": trust.verdict,
        **{name: walk.counts[name] for name in ("commits", "signed", "outside", "unsigned")},
        "faults": len(walk.faults) + len(trust.wrong),
        "first": errors[0] if errors else None,
        "since": stop,
    }
    return Answer(Status.OK, head, rows=(*errors, *walk.warnings), diagnostics=trust.problems, extra=extra)


@dataclass(frozen=True)
class _Found:
    """A commit with its number in the walk, and the first rule that it breaks."""

    number: int
    commit: CommitId
    fault: Fault


@dataclass(frozen=True)
class _Signature:
    number: int
    commit: CommitId
    signed: Signed
    signers: tuple[HumanKey, ...]


class _Walk:
    """Goes through history, parents before children, and collects what is found; commits are read and let go."""

    def __init__(self, vault: OpenVault, start: CommitId | None) -> None:
        self.vault = vault
        self.chain = Chain(vault)
        self.counts: Counter[str] = Counter()
        self.faults: dict[CommitId, _Found] = {}
        self.warnings: list[Row] = []
        self._is_whole = start is None
        self._commits: dict[CommitId, Commit] = {}
        self._owners: dict[RecordId, str] = {}
        self._seen: set[str] = set()
        self._waiting: list[_Signature] = []
        if start is not None:
            self.chain.begin(self.read_link(start))

    def list_errors(self) -> list[Row]:
        """Return the oldest of the commits that break a rule, the first one first."""
        first = sorted(self.faults.values(), key=lambda one: one.number)[:MAX_TOLD]
        return [_row("error", one.fault.rule, one.fault.message, self.read(one.commit), one.fault) for one in first]

    def read_link(self, commit: CommitId) -> Link:
        """Return what ``commit`` has for a statement."""
        return self.chain.read(self.read(commit))

    def read(self, commit: CommitId) -> Commit:
        """Return the commit; the last ones are remembered."""
        if commit not in self._commits:
            while len(self._commits) >= _MAX_REMEMBERED:
                del self._commits[next(iter(self._commits))]
            self._commits[commit] = read_commit(self.vault.repo, commit)
        return self._commits[commit]

    def look(self, number: int, commit_id: CommitId) -> None:
        """Judge one commit, whose parents were judged before."""
        commit = self.read(commit_id)
        links = {parent: self.read_link(parent) for parent in commit.parents}
        # A merge goes on with the line in which people signed last.
        parent = max(links, key=lambda one: links[one].counter, default=None)
        before, link = links[parent] if parent else Link(), self.chain.read(commit)
        bringing = [one for one in links if links[one].is_keyed or not before.is_keyed]
        deed = read_deed(self.vault, commit, parent, bringing)
        faults = [*check_trailers(deed)]
        if not faults:
            faults += self._check(commit, deed, link, before)
            faults += self._check_merge(link, before, list(links.values())) if deed.is_merge else ()
        self._sign(number, deed, link, before)
        self._count(number, commit, deed, faults, is_signed=link.blob not in (None, before.blob))
        self.chain.remember(link)
        self._follow(deed)

    def _check(self, commit: Commit, deed: Deed, link: Link, before: Link) -> Iterator[Fault]:
        is_new = link.blob != before.blob and not deed.is_merge
        if is_of_person(deed) and (before.is_keyed or is_new):
            yield from check_statement(self.vault, commit, deed, link, before)
        elif is_new:
            yield check_unclaimed(link)
        if is_operation(deed):
            yield from self._check_op_id(deed)
            yield from check_operation(deed, self._around(commit.parents[0] if commit.parents else None, before))
        else:
            yield from check_outside(deed, is_keyed=before.is_keyed)
        if _changes_keys(deed) and not (is_of_person(deed) and is_new):
            yield Fault("not-signed", "it changes which keys are people's, and nobody signed for it")

    def _check_merge(self, link: Link, before: Link, links: list[Link]) -> Iterator[Fault]:
        if link.blob != before.blob:
            yield Fault("statement-rolled-back", "the merge has another statement than the last one of its parents")
        if self._is_whole and not all(self.chain.leads_to(one, before) for one in links):
            yield Fault("statement-forked", "the merge joins two lines in which people signed apart from each other")

    def _sign(self, number: int, deed: Deed, link: Link, before: Link) -> None:
        if link.signed is not None and link.blob != before.blob and not deed.is_merge:
            self.counts["signed"] += 1
            self._waiting.append(_Signature(number, deed.commit, link.signed, list_signers(link, before)))
            if len(self._waiting) >= _AT_ONCE:
                self.check_signatures()

    def _count(self, number: int, commit: Commit, deed: Deed, faults: list[Fault], *, is_signed: bool) -> None:
        self.counts["commits"] += 1
        self.counts["outside"] += not is_operation(deed)
        grave = next((one for one in faults if one.is_grave), None)
        if grave is not None:
            self.faults[deed.commit] = _Found(number, deed.commit, grave)
        elif list_guarded(deed) and not is_signed:
            self.counts["unsigned"] += 1
            if faults and len(self.warnings) < MAX_TOLD:
                self.warnings.append(_row("warning", faults[0].rule, faults[0].message, commit, faults[0]))

    def _check_op_id(self, deed: Deed) -> Iterator[Fault]:
        op_id = deed.find_trailer("Gitmem-Op-Id") or ""
        if op_id in self._seen:
            yield Fault("operation-doubled", "an earlier commit has the same operation id")
        self._seen.add(op_id)

    def _around(self, parent: CommitId | None, before: Link) -> Around:
        return Around(self.vault.entry.scope, lambda: self._read_policy(parent, before), self._owns)

    def _read_policy(self, parent: CommitId | None, before: Link) -> Policy | None:
        """Return the policy that ``parent`` has; none where that is not as it was signed."""
        blob = None if parent is None else find_file(self.vault.repo, self.read(parent).tree, POLICY)
        if blob is None:
            return None
        data = self.vault.repo.read_object(blob)
        if before.is_keyed and before.signed and before.signed.statement.policy != hashlib.sha256(data).hexdigest():
            return None
        try:
            return parse_policy(data)
        except GitmemError:
            return None

    def _owns(self, one: RecordChange, name: str) -> bool:
        """Tell whether ``name`` alone touched the record so far; what came before a partial walk is not held against.

        One that comes back is its old self.
        """
        known = self._owners.get(one.id)
        return known == name if known is not None else (not self._is_whole or one.before is None)

    def _follow(self, deed: Deed) -> None:
        is_models = is_operation(deed) and deed.find_trailer("Gitmem-Surface") == "model"
        name = deed.find_trailer("Gitmem-Actor") or "" if is_models else ""
        for one in deed.records:
            known = self._owners.get(one.id, name if one.before is None or not self._is_whole else "")
            self._owners[one.id] = name if known == name else ""

    def check_signatures(self) -> None:
        """Look at the signatures that wait, several at once: each is a program's run."""
        with ThreadPoolExecutor(_RUNS_AT_ONCE) as pool:
            for one, is_good in zip(self._waiting, pool.map(_is_good, self._waiting), strict=True):
                if not is_good:
                    fault = Fault("bad-signature", "its statement is not signed by a key that was listed then")
                    self.faults.setdefault(one.commit, _Found(one.number, one.commit, fault))
        self._waiting = []


def _is_good(one: _Signature) -> bool:
    return is_signed(format_canonical(one.signed.statement), one.signed.signature, one.signers)


def _changes_keys(deed: Deed) -> bool:
    before, after = deed.manifest or (None, None)
    return (before.human_keys if before else ()) != (after.human_keys if after else ())


def _row(severity: str, code: str, message: str, commit: Commit | None, fault: Fault | None = None) -> Row:
    row: Row = {"severity": severity, "code": code, "message": message, "commit": None}
    if commit is None:
        return row
    one = parse_operation(commit)
    return row | {
        "commit": commit.id,
        "op": one.op,
        "op_id": one.op_id,
        "title": one.title,
        "by": one.by,
        "time": format_utc(moment_at(commit.time)),
        "record": fault.record if fault else None,
    }
