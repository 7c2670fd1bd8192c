"""What lies in the baseline, and how a new declaration compares with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitmem.curator.similar import NEAR, share
from gitmem.model.record import Draft, Record, State
from gitmem.service.confirmed import list_confirmed
from gitmem.service.list_records import list_records
from gitmem.service.query import Filters
from gitmem.service.vault import OpenVault
from gitmem.text import fold, one_line, quote
from gitmem.values import dataclass


@dataclass(frozen=True)
class Declared:
    """A baseline record. ``is_confirmed`` says that a person is known to have declared it, and left it as it is."""

    record: Record
    is_confirmed: bool


def list_declared(vault: OpenVault) -> tuple[Declared, ...]:
    """Return the baseline records, private ones left out, by title. Raises what reading raises."""
    records = [hit.record for hit in list_records(vault, Filters(states=(State.BASELINE,))).hits]
    confirmed = list_confirmed(vault, records)
    return tuple(Declared(record, record.path in confirmed) for record in records)


def find_same(draft: Draft, declared: Iterable[Declared]) -> Declared | None:
    """Return what a person is known to have declared that says what ``draft`` says, ``None`` for nothing."""
    return next((one for one in declared if one.is_confirmed and _is_same(draft, one.record)), None)


def tell_near(draft: Draft, declared: Iterable[Declared]) -> Iterator[str]:
    """Yield a line for each of ``declared`` that says nearly what ``draft`` says, in order."""
    for one in declared:
        record = one.record
        if _is_same(draft, record):
            why = "lies in the baseline already" if one.is_confirmed else "lies in the baseline, nobody knows by whom"
        elif share(draft, Draft(record.title, record.body, record.kind)) >= NEAR:
            why = "is much the same"
        else:
            continue
        yield f"{quote(record.title, 200)} ({record.id}) {why}"


def _is_same(draft: Draft, record: Record) -> bool:
    has_same_text = not draft.body.strip() or one_line(draft.body) == one_line(record.body)
    return draft.kind is record.kind and fold(draft.title) == fold(record.title) and has_same_text
