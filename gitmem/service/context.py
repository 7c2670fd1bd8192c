"""What a session starts with: confirmed boundaries, preferences, goals and state, a choice of what was reviewed, and
the last task reports.

INV-BOUNDARIES: only what a person is known to have declared stands under Boundaries, as it is committed, and none of
it is left out.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Container, Iterable
from itertools import chain, zip_longest

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.context import Context, Entry, HeldBack, Part
from gitmem.model.ids import CommitId
from gitmem.model.record import Kind, Problem, Record, State
from gitmem.model.settings import Scope, VaultEntry
from gitmem.model.validity import find_marks, is_in_force
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.confirmed import list_confirmed
from gitmem.service.global_vault import UNREADABLE, ask_global
from gitmem.service.missing import count_missing
from gitmem.service.reading import Reading, ask, mask
from gitmem.service.recent_reports import list_recent_reports
from gitmem.service.reviewed import list_reviewed
from gitmem.service.standing import PROBLEMS, read_standing
from gitmem.service.superseded import find_superseded, find_superseded_declared
from gitmem.service.vault import OpenVault
from gitmem.text import fold, shorten
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import dataclass, replace

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.query import Row
    from gitmem.catalog.reconcile import Report
    from gitmem.model.vault_path import VaultPath
    from gitmem.service.as_signed import AsSigned

MAX_REVIEWED = 12
"""How many reviewed records a context shows at most."""
_EDITED = "edited since, shown as committed"
_AS_SIGNED = "changed or removed since without a signature, shown as signed"
_GONE = "moved, removed or unreadable since, shown as committed"
_UNPROVED = "in promoted/, but no person is known to have reviewed it"
_TOLD = frozenset({UNREADABLE, *PROBLEMS})
"""What a model is told of, too: part of the memory is missing, or not proved."""
_MAX_SOURCE_CHARS = 80
_PARTS = {Kind.BOUNDARY: Part.BOUNDARY, Kind.PREFERENCE: Part.PREFERENCE}
_ORDER = list(Part)


@dataclass(frozen=True)
class _Look:
    """What one vault has for a context."""

    head: CommitId
    entries: tuple[Entry, ...]
    held_back: HeldBack
    more: int
    problems: tuple[Problem, ...]


def context(
    vault: OpenVault, max_chars: int | None = None, find_global: Callable[[], VaultEntry | None] = lambda: None
) -> Answer:
    """Return the context of ``vault``: ``extra["text"]``, and the records that it shows as rows, in order.

    A workspace's context holds the global vault's boundaries and preferences, too; where that vault can't be read, the
    text says so and the status is ``degraded``. Baseline records stand there as they are committed, others only if they
    are not edited since. ``extra`` has ``omitted`` (no room), ``held_back`` by reason, and ``max_chars``. The status is
    ``no-match``, with an empty text, where there is nothing at all. Same records, same day, same text.

    Raises ``InputError`` (``bad-limit``), ``StateError`` (``boundaries-do-not-fit``, ``context-does-not-fit``) and
    what opening a vault raises.
    """
    from gitmem.render.context import DEFAULT_CONTEXT_CHARS, count_omitted, render_context

    limit = DEFAULT_CONTEXT_CHARS if max_chars is None else max_chars
    if limit < 1:
        raise InputError("bad-limit", "a context has room for a whole number of characters", "Leave --max-chars out.")
    own = _look(vault, vault.entry.scope, is_own=True)
    shared, problems = _look_at_global(vault, find_global)
    looks, told = [own, *shared], [*own.problems, *problems]
    entries = sorted(chain.from_iterable(look.entries for look in looks), key=_sort_key)
    is_degraded = any(problem.code in ("catalog-degraded", *_TOLD) for problem in told)
    wanted = Context(
        name=vault.entry.name,
        scope=vault.entry.scope,
        revision=own.head,
        entries=tuple(entries),
        held_back=sum((look.held_back for look in looks), HeldBack()),
        more=own.more,
        status=Status.DEGRADED if is_degraded else Status.OK,
        notices=tuple(problem.message for problem in told if problem.code in _TOLD),
    )
    extra = {"max_chars": limit, "held_back": vars(wanted.held_back)}
    if not wanted.entries and wanted.held_back == HeldBack() and not is_degraded:
        return Answer(Status.NO_MATCH, own.head, diagnostics=tuple(told), extra={"text": "", "omitted": 0, **extra})
    text, shown = render_context(wanted, limit)
    extra = {"text": text, "omitted": count_omitted(wanted, len(shown)), **extra}
    return Answer(wanted.status, own.head, rows=tuple(map(_row, shown)), diagnostics=tuple(told), extra=extra)


def _look_at_global(
    vault: OpenVault, find_global: Callable[[], VaultEntry | None]
) -> tuple[list[_Look], tuple[Problem, ...]]:
    missing = "its boundaries and preferences are missing here"
    look, problems = ask_global(vault, find_global, lambda other: _look(other, Scope.GLOBAL, is_own=False), missing)
    if look is None:
        return [], problems
    return [look], tuple(replace(one, message=f"global vault: {one.message}", path="") for one in look.problems)


def _look(vault: OpenVault, scope: Scope, *, is_own: bool) -> _Look:
    settled = vault.settle_abandoned()
    head = vault.head()
    now = vault.clock.now()

    def gather(database: Database, report: Report) -> _Look:
        return _gather(Reading(vault, head, database, report, now), scope, is_own=is_own)

    look = ask(vault, gather)
    degraded = (Problem("catalog-degraded", vault.database.reason),) if vault.database.degraded else ()
    return replace(look, problems=(*settled, *look.problems, *degraded))


def _gather(reading: Reading, scope: Scope, *, is_own: bool) -> _Look:
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.query import list_rows

    today = reading.now.date()
    rows = list_rows(reading.database, Filters(states=(State.BASELINE,)))
    found, unreadable = read_baseline(reading)
    committed = found.records
    wanted = [one for one in committed if is_own or one.kind in _PARTS]
    back = {one.path for one in committed if one.id in found.back}
    confirmed = list_confirmed(reading.vault, committed, found.standing) | back
    current, held = sort_out(wanted, today, find_superseded_declared(reading, wanted, confirmed))
    known = {one.id for one in committed}
    files = {row.path: row for row in rows}
    entries = [
        Entry(
            one,
            _part(one) if one.path in confirmed else Part.UNCONFIRMED,
            scope,
            (*_review_marks(one, today), _AS_SIGNED) if one.id in found.back else _marks(one, files, today),
        )
        for one in current
    ]
    new = [row for row in rows if row.id not in known and (is_own or row.kind in _PARTS)]
    shown = {one.id for one in committed if one.path in confirmed}
    missing = count_missing(reading.vault, reading.head, shown, {one.path for one in unreadable}, found.standing)
    held += HeldBack(uncommitted=len(new), unreadable=len(unreadable), missing=missing)
    told = [one for one in reading.report.problems if one.path.startswith(f"{State.BASELINE.folder}/")]
    problems = (*found.standing.problems, *unreadable, *told)
    if not is_own:
        return _Look(reading.head, tuple(entries), held, 0, problems)
    reviewed, more, held_reviewed = _choose_reviewed(reading, today)
    proved = list_reviewed(reading.vault, reviewed, found.standing)
    entries += [Entry(one, Part.REVIEWED, scope, _marks_of_reviewed(one, proved, today)) for one in reviewed]
    entries += [Entry(one, Part.REPORT, scope, _by(one), said) for one, said in list_recent_reports(reading)]
    return _Look(reading.head, tuple(entries), held + held_reviewed, more, problems)


def read_baseline(reading: Reading) -> tuple[AsSigned, list[Problem]]:
    """Return the baseline as HEAD has it, masked, without what is private there or now, and what can't be read.

    What people signed stands there as they signed it.
    """
    from gitmem.service.as_signed import put_back_signed
    from gitmem.service.hidden import list_hidden
    from gitmem.service.past import scan_commit

    hidden = list_hidden(reading.vault, reading.database, reading.report, [reading.head])
    past = scan_commit(reading.vault, reading.head, hidden, (State.BASELINE.folder,))
    records, problems = [], []
    with past.open() as read:
        for path in sorted(past.blobs):
            try:
                data = read(path)
                record = past.parse(parse_vault_path(path), data)
            except InputError as error:
                problems.append(Problem(error.code, f"as committed: {error.message}", path))
                continue
            if record is not None and not record.private:
                records.append(mask(record, data)[0])
    return put_back_signed(past, read_standing(reading.vault, reading.head), records), problems


def sort_out(
    records: Iterable[Record], today: datetime.date, superseded: Container[str]
) -> tuple[list[Record], HeldBack]:
    """Return the records that are in force, and how many are not; ``superseded`` has paths."""
    current, held = [], HeldBack()
    for one in records:
        if not is_in_force(one, today):
            held += HeldBack(out_of_date=1)
        elif one.superseded_by or one.path in superseded:
            held += HeldBack(superseded=1)
        else:
            current.append(one)
    return current, held


def _choose_reviewed(reading: Reading, today: datetime.date) -> tuple[list[Record], int, HeldBack]:
    """Return at most ``MAX_REVIEWED`` reviewed records, how many more there are, and how many are held back.

    A record of each namespace in turn, within one the latest verified or updated first.
    """
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.query import list_rows

    rows = list_rows(reading.database, Filters(states=(State.PROMOTED,)))
    in_force = [row for row in rows if is_in_force(row, today)]
    queue = _take_turns(in_force)[: 2 * MAX_REVIEWED]
    found = reading.records(row.path for row in queue)
    records = [found[row.path][0] for row in queue if row.path in found]
    uncommitted = reading.uncommitted(records)
    committed = [one for one in records if one.path not in uncommitted]
    current, held = sort_out(committed, today, find_superseded(reading, committed))
    held += HeldBack(out_of_date=len(rows) - len(in_force), uncommitted=len(uncommitted))
    chosen = current[:MAX_REVIEWED]
    return chosen, len(in_force) - (len(queue) - len(current)) - len(chosen), held


def _take_turns(rows: Iterable[Row]) -> list[Row]:
    by_id = sorted(rows, key=lambda row: row.id)
    latest = sorted(by_id, key=lambda row: row.verified or row.updated or row.created or "", reverse=True)
    spaces: dict[str, list[Row]] = {}
    for row in latest:
        spaces.setdefault(_namespace(row), []).append(row)
    turns = zip_longest(*(spaces[space] for space in sorted(spaces)))
    return [row for turn in turns for row in turn if row is not None]


def _namespace(row: Row) -> str:
    top, slash, _rest = (row.tags or ("",))[0].partition("/")
    return fold(top) if slash else ""


def _marks(record: Record, files: dict[Any, Row], today: datetime.date) -> tuple[str, ...]:
    row = files.get(record.path)
    edited = () if row is not None and row.fingerprint == record.fingerprint else (_GONE if row is None else _EDITED,)
    return (*_review_marks(record, today), *edited)


def _review_marks(record: Record, today: datetime.date) -> tuple[str, ...]:
    return tuple(mark.text for mark in find_marks(record, today))


def _marks_of_reviewed(record: Record, proved: Container[VaultPath], today: datetime.date) -> tuple[str, ...]:
    return (*_review_marks(record, today), *(() if record.path in proved else (_UNPROVED,)))


def _by(record: Record) -> tuple[str, ...]:
    return (f"by {shorten(record.source, _MAX_SOURCE_CHARS)}",) if record.source else ()


def _part(record: Record) -> Part:
    return Part.GOAL if record.kind is None else _PARTS.get(record.kind, Part.GOAL)


def _sort_key(entry: Entry) -> tuple[Any, ...]:
    if entry.part in (Part.REVIEWED, Part.REPORT):
        return (_ORDER.index(entry.part),)  # chosen in an order of their own, which a stable sort keeps
    return (_ORDER.index(entry.part), entry.scope.value, fold(entry.record.title), entry.record.id)


def _row(entry: Entry) -> dict[str, Any]:
    record = entry.record
    return {
        "id": record.id,
        "path": record.path,
        "title": record.title,
        "summary": record.summary,
        "state": record.state.value,
        "kind": record.kind.value if record.kind else None,
        "authority": record.authority.value if record.authority else None,
        "tags": list(record.tags),
        "part": entry.part.value,
        "scope": entry.scope.value,
        "marks": list(entry.marks),
    }
