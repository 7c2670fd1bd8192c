"""Asking the search catalog: brought in step with the working tree first, in one go with the question.

What every reading verb has in common is here: abandoned operations are settled, the catalog is reconciled, problems of
files become diagnostics, and a memory that can't be read gets a status that says so (INV-NEVER-SILENT).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress

from gitmem.clock import format_utc, moment_at
from gitmem.errors import GitmemError, InputError, IntegrityError, StateError, UnavailableError
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.model.record import Problem, Record
from gitmem.model.validity import find_marks
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any, TypeVar
from gitmem.values import dataclass, replace

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report
    from gitmem.service.hidden import Hidden
    from gitmem.service.past import Past

T = TypeVar("T")
WITHHELD = ("scanner-failed",)


class _OutdatedError(Exception):
    """A note is not, or may not be, what the catalog says of it, though its folder has not changed."""


def ask(vault: OpenVault, question: Callable[[Database, Report], T], *, strict: bool = False) -> T:
    """Return what ``question`` returns on a catalog that is in step with the working tree.

    Callers in one process share a reconciliation that begins while they wait. ``strict`` looks at every note of a
    vault however large; an answer that is not made of rereads (a count) wants that. Elsewhere a note that was found to
    be written in place has the question asked once more like that. Raises ``UnavailableError``: ``vault-missing``,
    ``scanner-failed``.
    """
    from gitmem.service.in_step import bring_in_step

    catalog, strict = vault.catalog, strict or vault.options.strict
    database = catalog.database
    database.return_to_file(vault.clock.monotonic_s())

    def work() -> T:
        report = catalog.reconcile(lambda: bring_in_step(vault, strict=strict), strict=strict)
        with database.steady(report.epoch):
            return question(database, report)

    try:
        return database.attempt(work)
    except _OutdatedError:
        return ask(vault, question, strict=True)


def check_current(database: Database, report: Report, found: Mapping[str, str | None]) -> None:
    """Check, where not every note was looked at, that the catalog speaks of the notes as they were ``found``.

    ``found`` has the fingerprint of each note as it was read now, ``None`` for one that is no record to be shown any
    more. Where they differ, ``ask`` asks again, of a catalog for which every note was looked at.
    """
    if report.tier != "folders":
        return
    from gitmem.catalog.query import find_fingerprints

    if find_fingerprints(database, found) != found:
        raise _OutdatedError


@dataclass(frozen=True)
class Reading:
    """One moment of the records that a question is asked of: the work tree, or what an earlier commit held (``past``).

    ``head`` is the commit that the whole answer speaks of; ``database`` is in step with the moment, as ``report`` says.
    ``now`` is the time of that moment, in UTC: of the question, or of the earlier commit.
    """

    vault: OpenVault
    head: CommitId
    database: Database
    report: Report
    now: datetime.datetime
    past: Past | None = None

    def open(self) -> AbstractContextManager[Callable[[str], bytes]]:
        """Return what reads a note of this moment by its path, see ``StableReader`` and ``Past.open``."""
        if self.past is not None:
            return self.past.open()
        from gitmem.vault.scan import StableReader

        return StableReader(self.vault.layout.repo, self.vault.clock)

    def ensure_strict(self) -> None:
        """Have the question asked again of a catalog for which every note was looked at, unless this is one.

        For what is told from the catalog alone, such as another spelling: it may be of a note that is private by now.
        """
        if self.report.tier == "folders":
            raise _OutdatedError

    def records(self, paths: Iterable[str]) -> dict[str, tuple[Record, bytes]]:
        """Return the records at ``paths`` with their bytes, reread and masked.

        Left out is what is private, and what changed or went since the scan. Raises ``UnavailableError``
        (``scanner-failed``): nothing may be shown then.
        """
        if self.past is None:
            wanted = list(paths)
            found = read_records(self.vault, wanted)
            prints = {path: found[path][0].fingerprint if path in found else None for path in wanted}
            check_current(self.database, self.report, prints)
            return found
        with self.past.open() as read:
            return _read_records(read, self.past.parse, paths)

    def iter_link_targets(self) -> Iterator[str]:
        """Yield every file that a link may mean; hidden files and folders left out."""
        if self.past is not None:
            return self.past.iter_link_targets()
        from gitmem.service.worktree import iter_link_targets

        return iter_link_targets(self.vault)

    def uncommitted(self, records: Iterable[Record]) -> set[str]:
        """Return the paths of those among ``records`` that differ from what ``head`` has there."""
        if self.past is not None:
            return set()
        wanted = list(records)
        committed = self.vault.committed_ids(self.head, [record.path for record in wanted])
        return {record.path for record in wanted if committed[record.path] != record.fingerprint}


def answer(
    vault: OpenVault, question: Callable[[Reading], Answer], as_of: str | None = None, *, strict: bool = False
) -> Answer:
    """Return ``question``'s answer with the revision and what was settled or is degraded.

    Hits are marked where they are out of date, or due for review, on the day of the moment that is asked.
    ``extra["reconcile"]`` says how the notes were looked at, with the members of ``Report`` that it names. ``strict``
    is for answers that are not made of rereads, see ``ask``; that nothing was found is said only after such a look.

    With ``as_of``, a date or revision as ``get_revision`` reads it, the answer is of that commit, and
    ``extra["as_of"]`` is the time at which it was made. The status is ``degraded`` when the catalog could only be had
    in memory. Raises as ``ask`` and ``get_revision`` do.
    """
    settled = vault.settle_abandoned()
    head = vault.head()

    def ask_marked(reading: Reading) -> Answer:
        found = question(reading)
        hits = tuple(replace(hit, marks=find_marks(hit.record, reading.now.date())) for hit in found.hits)
        return replace(found, hits=hits)

    def ask_now(*, strict: bool) -> Answer:
        return ask(vault, lambda database, report: _ask_now(vault, head, database, report, ask_marked), strict=strict)

    if as_of is None:
        found = ask_now(strict=strict)
        if found.status is Status.NO_MATCH and found.extra["reconcile"]["tier"] == "folders":
            found = ask_now(strict=True)
    else:
        from gitmem.service.revision import get_revision

        head = get_revision(vault, as_of)
        found = _ask_past(vault, head, ask_marked)
    diagnostics = [*settled, *found.diagnostics]
    status = found.status
    if vault.database.degraded:
        diagnostics.append(Problem("catalog-degraded", vault.database.reason))
        status = Status.DEGRADED
    return Answer(status, head, found.hits, found.rows, tuple(diagnostics), found.extra)


def _ask_now(
    vault: OpenVault, head: CommitId, database: Database, report: Report, question: Callable[[Reading], Answer]
) -> Answer:
    found = question(Reading(vault, head, database, report, vault.clock.now()))
    return replace(found, extra={**found.extra, "reconcile": describe_report(report)})


def describe_report(report: Report) -> dict[str, Any]:
    """Return what an answer says of the reconciliation that it rests on."""
    return {
        "tier": report.tier,
        "notes": report.notes,
        "looked_at": report.looked_at,
        "changed": report.changed,
    }


def _ask_past(vault: OpenVault, commit: CommitId, question: Callable[[Reading], Answer]) -> Answer:
    from gitmem.catalog.past import copy_by_content
    from gitmem.catalog.reconcile import reconcile
    from gitmem.git.history import read_commit
    from gitmem.policy.secrets import redact
    from gitmem.relevance.terms import extract_terms
    from gitmem.service.hidden import list_hidden
    from gitmem.service.past import scan_commit

    def copy(database: Database, report: Report) -> tuple[Database, Hidden]:
        return copy_by_content(database), list_hidden(vault, database, report, [commit])

    database, hidden = ask(vault, copy, strict=True)  # what is private now must be known
    past = scan_commit(vault, commit, hidden)
    made = moment_at(read_commit(vault.repo, commit).time)
    try:
        with past.open() as read:
            report = reconcile(database, past.scan, read, past.parse, extract_terms, redact)
        found = question(Reading(vault, commit, database, report, made, past))
    finally:
        database.close()
    return replace(found, extra={"as_of": format_utc(made), **found.extra})


def report(read: Callable[[], Answer]) -> Answer:
    """Return ``read``'s answer, or one that says why the memory can't be read and holds nothing of it.

    ``withheld`` when the secret scanner failed (closed), ``unavailable`` when the vault or its repository is missing or
    unfit. Nothing that is told holds a secret. Raises ``InputError`` for a question that is not well formed.
    """
    from gitmem.service.masked import tell_masked

    try:
        return tell_masked(read)
    except (UnavailableError, StateError, IntegrityError) as error:
        status = Status.WITHHELD if error.code in WITHHELD else Status.UNAVAILABLE
        return Answer(status, None, diagnostics=(Problem(error.code, error.message),), extra={"hint": error.hint})
    except OSError as error:
        problem = Problem("system-error", f"the system refused: {error}")
        return Answer(
            Status.UNAVAILABLE,
            None,
            diagnostics=(problem,),
            extra={"hint": "See to it and ask again; `gitmem doctor` may help."},
        )


def read_records(vault: OpenVault, paths: Iterable[str]) -> dict[str, tuple[Record, bytes]]:
    """Return the records at ``paths`` in the work tree, reread and masked; what changed or went is left out."""
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import StableReader

    with StableReader(vault.layout.repo, vault.clock) as read:
        return _read_records(read, parse_record, paths)


def _read_records(
    read: Callable[[str], bytes], parse: Callable[[VaultPath, bytes], Record | None], paths: Iterable[str]
) -> dict[str, tuple[Record, bytes]]:
    found = {}
    for path in paths:
        with suppress(InputError, StateError):
            data = read(path)
            record = parse(parse_vault_path(path), data)
            if record is not None and not record.private:
                found[path] = mask(record, data)
    return found


def iter_private(vault: OpenVault, database: Database) -> Iterator[Record]:
    """Yield the private records, read from their files: the catalog holds nothing of them but their paths."""
    from gitmem.catalog.query import list_private_paths
    from gitmem.vault.record_file import parse_record
    from gitmem.vault.scan import read_stable

    for text in list_private_paths(database):
        with suppress(GitmemError):
            path = parse_vault_path(text)
            record = parse_record(path, read_stable(vault.layout.repo, path, vault.clock))
            if record is not None:
                yield record


def find_hidden(vault: OpenVault, asked: Iterable[CommitId]) -> Hidden:
    """Return what is private now, for answers about the commits in ``asked``. Raises what ``ask`` raises."""
    from gitmem.service.hidden import list_hidden

    return ask(vault, lambda database, report: list_hidden(vault, database, report, asked), strict=True)


def mask(record: Record, data: bytes) -> tuple[Record, bytes]:
    """Return the record and its bytes without the secrets that an edit outside gitmem brought in.

    The fingerprint stays that of the file. A record that is nothing without them keeps only its id and place. Raises
    ``UnavailableError`` (``scanner-failed``): nothing may be shown then.
    """
    from gitmem.policy.secrets import redact
    from gitmem.vault.record_file import parse_record

    text = data.decode("utf-8", "replace")
    clean = redact(text)
    if clean == text:
        return record, data
    try:
        masked = parse_record(record.path, clean.encode())
    except InputError:
        masked = None
    if masked is None or masked.id != record.id:
        masked = Record(record.id, record.path, record.state, "[withheld]", "", record.fingerprint)
    return replace(masked, fingerprint=record.fingerprint), clean.encode()
