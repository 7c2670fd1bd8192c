"""The records themselves, looked over: the facts of which ``curator.consolidate`` makes proposals. Reads alone.

What the catalog knows is asked of all records each time; what has to be read and compared, of a few, in turn.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.curator.consolidate import Consolidation, Facts, consolidate
from gitmem.model.answer import Answer, Status
from gitmem.model.candidate import Candidate, Wants
from gitmem.model.ids import RecordId
from gitmem.model.record import EPISODIC_KINDS, Draft, Record, State
from gitmem.service.near import find_near_paths
from gitmem.service.reading import Reading, answer, ask
from gitmem.service.superseded import find_replacements
from gitmem.service.vault import OpenVault
from gitmem.text import fold
from gitmem.typed import TYPE_CHECKING
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.catalog.query import Row

DEFAULT_LOOK = 100
"""How many records are read and compared with others at a time; the next time goes on behind them."""
MAX_LOOK = 20_000
MAX_NEAR = 5
"""With how many others each is compared."""
MAX_DATED = 200
"""Of how many records that are out of date, due for review or share a key the whole is read at a time."""


@dataclass(frozen=True)
class Looked:
    """What the records give reason to, and the id of the record that was looked at last."""

    found: Consolidation
    place: str


def consolidate_records(
    vault: OpenVault, place: str = "", look: int = DEFAULT_LOOK, sightings: Mapping[str, Sequence[str]] | None = None
) -> Looked:
    """Return what follows from the records as they are: ideas, and declared records for a person to look at.

    ``look`` records are compared with others, by id from ``place`` on and round again; ``sightings`` are the sessions
    that proposed what a record says already. Private records are left out. Raises what asking the catalog raises.
    """

    def work(reading: Reading) -> Answer:
        looked = _look(reading, place, look, sightings or {})
        return Answer(Status.OK, reading.head, extra={"looked": looked})

    looked: Looked = answer(vault, work).extra["looked"]
    return looked


def list_moot(vault: OpenVault, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return those that wait to change records and have nothing left to change: retired, promoted or gone by now."""
    from gitmem.catalog.query import list_rows

    changes = [one for one in candidates if one.wants is not Wants.RECORD]
    if not changes:
        return []
    states = ask(vault, lambda database, _report: {row.id: row.state for row in list_rows(database)})

    def is_moot(one: Candidate) -> bool:
        there = [states[target] for target in one.targets if target in states]
        if one.wants is Wants.PROMOTE:
            return State.OBSERVATION not in there
        return len(there) < min(2, len(one.targets))

    return [one for one in changes if is_moot(one)]


def _look(reading: Reading, place: str, look: int, sightings: Mapping[str, Sequence[str]]) -> Looked:
    from gitmem.catalog.query import list_rows

    rows = sorted(list_rows(reading.database), key=lambda row: row.id)
    window, last = _pick_window(rows, place, look)
    dated = _pick_dated(rows, reading.now.date().isoformat())
    sighted = [row for row in rows if row.id in sightings][:MAX_DATED]
    keyed, key_pairs = _pair_by_key(rows)
    own = {row.path: None for row in (*window, *dated, *sighted, *keyed)}
    records = {path: record for path, (record, _data) in reading.records(own).items()}
    near = {row.path: _find_near(reading, records[row.path]) for row in window if row.path in records}
    further = dict.fromkeys(path for paths in near.values() for path in paths if path not in records)
    records |= {path: record for path, (record, _data) in reading.records(further).items()}
    records = {path: one for path, one in records.items() if one.state is not State.RETIRED}
    pairs = [
        (records[path].id, records[other].id)
        for path, others in near.items()
        for other in others
        if path in records and other in records
    ]
    replaced = find_replacements(reading, list(records.values()))
    is_there = _make_finder(reading.vault.entry.project)
    facts = [_make_facts(one, replaced.get(one.path), sightings.get(one.id, ()), is_there) for one in records.values()]
    return Looked(consolidate(facts, [*pairs, *key_pairs], reading.now.date()), last)


def _pick_window(rows: Sequence[Row], place: str, look: int) -> tuple[list[Row], str]:
    """Return the next ``look`` records behind ``place``, round again at the end, and the id of the last of them."""
    told = [row for row in rows if row.kind not in EPISODIC_KINDS]
    start = next((number for number, row in enumerate(told) if row.id > place), 0)
    window = [*told[start:], *told[:start]][: min(look, MAX_LOOK)]
    return window, window[-1].id if window else place


def _pick_dated(rows: Iterable[Row], today: str) -> list[Row]:
    over = [row for row in rows if (row.valid_until or "~")[:10] < today or (row.review_after or "~")[:10] <= today]
    verified = [row for row in rows if row.verified and row.state is State.OBSERVATION]
    return [*over[:MAX_DATED], *verified[:MAX_DATED]]


def _pair_by_key(rows: Iterable[Row]) -> tuple[list[Row], list[tuple[RecordId, RecordId]]]:
    """Return the records that share a key, which only edits outside gitmem bring about, and each with the first."""
    by_key: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.key:
            by_key[fold(row.key)].append(row)
    shared = [some for some in by_key.values() if len(some) > 1]
    keyed = [row for some in shared for row in some][:MAX_DATED]
    return keyed, [(some[0].id, other.id) for some in shared for other in some[1:]]


def _find_near(reading: Reading, record: Record) -> list[str]:
    found = find_near_paths(reading, to_draft(record), MAX_NEAR + 1)
    return [path for path in found if path != record.path][:MAX_NEAR]


def to_draft(record: Record) -> Draft:
    """Return what ``record`` says as a draft, to be compared."""
    return Draft(record.title, record.body, record.kind, record.summary, record.tags, record.evidence, record.key)


def _make_facts(
    record: Record, replaced_by: Record | None, sightings: Sequence[str], is_there: Callable[[str], bool] | None
) -> Facts:
    files = [one.removeprefix("file:").partition("#")[0] for one in record.evidence if one.startswith("file:")]
    return Facts(
        id=record.id,
        state=record.state,
        draft=to_draft(record),
        authority=record.authority,
        created=record.created or "",
        source=record.source or "",
        sightings=tuple(sightings),
        verified=record.verified or "",
        valid_until=record.valid_until or "",
        review_after=record.review_after or "",
        files=len(files),
        gone=() if is_there is None else tuple(path for path in files if not is_there(path)),
        has_more_evidence=len(files) < len(record.evidence),
        replaced_by=None if replaced_by is None else (replaced_by.id, replaced_by.title),
    )


def _make_finder(project: str) -> Callable[[str], bool] | None:
    """Return what tells whether a file is in the project; ``None`` where that can't be told, since it isn't there."""
    if not project or not os.path.isdir(project):
        return None
    return lambda path: os.path.lexists(os.path.join(project, path))
