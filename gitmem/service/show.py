"""One record, whole."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Hit, Place, Status
from gitmem.model.record import Kind, Problem, Record
from gitmem.model.settings import VaultEntry
from gitmem.model.validity import find_marks
from gitmem.service.find import get_past_record, get_record
from gitmem.service.global_vault import ask_global
from gitmem.service.reading import Reading, answer, mask
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import replace


def show(vault: OpenVault, ref: str, *, to_person: bool = False, as_of: str | None = None) -> Answer:
    """Return the record ``ref`` as the one hit; ``extra`` has its ``body``, ``properties`` and ``file`` (all of it).

    Of a task report ``extra["report"]`` has the parts, see ``task_report.describe_report``.

    Secrets that a person's edit brought in are masked. A private record is ``withheld``, unless it is shown to a person
    who is about to confirm something (``to_person``). ``as_of`` asks an earlier commit, see ``reading.answer``; no
    private record is found in one. Raises what ``get_record`` raises, and ``UnavailableError``
    (``scanner-failed``) when nothing may be shown.
    """
    if as_of is not None:
        return answer(vault, lambda reading: _show_past(reading, ref), as_of)
    settled = vault.settle_abandoned()
    head = vault.head()
    record, data = mask(*get_record(vault, ref))
    if record.private and not to_person:
        told = Problem("private", f"the record {record.id} is private; open its file to read it")
        return Answer(Status.WITHHELD, head, diagnostics=(*settled, told))
    uncommitted = vault.committed_ids(head, [record.path])[record.path] != record.fingerprint
    hit = Hit(record, uncommitted=uncommitted, marks=find_marks(record, vault.clock.now().date()))
    return Answer(Status.OK, head, (hit,), diagnostics=settled, extra=_whole(record, data))


def show_anywhere(vault: OpenVault, ref: str, find_global: Callable[[], VaultEntry | None]) -> Answer:
    """Return the record ``ref`` of ``vault``, or of the global one, with its ``vault``, where a workspace has none.

    For what a context or recall names by id. Otherwise as ``show``.
    """
    try:
        return show(vault, ref)
    except InputError as error:
        if error.code != "no-such-record":
            raise
        found, _problems = ask_global(vault, find_global, lambda other: _show_placed(other, ref), "")
        if found is None:
            raise
        return found


def _show_placed(vault: OpenVault, ref: str) -> Answer:
    found, place = show(vault, ref), Place(vault.entry.name, vault.entry.scope.value, vault.entry.path)
    return replace(found, hits=tuple(replace(hit, vault=place) for hit in found.hits))


def _show_past(reading: Reading, ref: str) -> Answer:
    record, data = get_past_record(reading, ref)
    return Answer(Status.OK, reading.head, (Hit(record),), extra=_whole(record, data))


def _whole(record: Record, data: bytes) -> dict[str, Any]:
    whole = {"body": record.body, "properties": record.properties, "file": data.decode("utf-8", "replace")}
    return whole if (report := _find_report(record)) is None else whole | {"report": report}


def _find_report(record: Record) -> dict[str, Any] | None:
    if record.kind is not Kind.TASK:
        return None
    from gitmem.service.task_report import describe_report

    return describe_report(record)
