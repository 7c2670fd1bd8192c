"""What a shell may offer for a record or a tag that is being typed: read from the search catalog alone."""

from __future__ import annotations

from gitmem.model.ids import RecordId
from gitmem.model.record import State
from gitmem.service.reading import ask
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report


@dataclass(frozen=True)
class Suggestion:
    """One record by what it is called."""

    id: RecordId
    key: str | None
    title: str
    tags: tuple[str, ...]


def list_suggestions(vault: OpenVault) -> tuple[Suggestion, ...]:
    """Return all records but private ones, retired ones too, by path. Every note is looked at, and
    none read that did not change.

    Secrets are masked, as in all of the catalog. Raises what ``ask`` raises.
    """
    from gitmem.catalog.filters import Filters
    from gitmem.catalog.query import list_rows

    def question(database: Database, _report: Report) -> tuple[Suggestion, ...]:
        rows = list_rows(database, Filters(states=tuple(State)))
        return tuple(Suggestion(row.id, row.key, row.title, row.tags) for row in rows)

    return ask(vault, question, strict=True)
