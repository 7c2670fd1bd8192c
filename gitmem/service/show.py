"""One record, whole."""

from __future__ import annotations

from gitmem.model.answer import Answer, Hit, Status
from gitmem.model.record import Problem
from gitmem.service.find import get_record
from gitmem.service.reading import mask
from gitmem.service.vault import OpenVault


def show(vault: OpenVault, ref: str, *, to_person: bool = False) -> Answer:
    """Return the record ``ref`` as the one hit; ``extra`` has its ``body``, ``properties`` and ``file`` (all of it).

    Secrets that a person's edit brought in are masked. A private record is ``withheld``, unless it is shown to a person
    who is about to confirm something (``to_person``). Raises what ``get_record`` raises, and ``UnavailableError``
    (``scanner-failed``) when nothing may be shown.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    record, data = mask(*get_record(vault, ref))
    if record.private and not to_person:
        told = Problem("private", f"the record {record.id} is private; open its file to read it", record.path)
        return Answer(Status.WITHHELD, head, diagnostics=(*settled, told))
    uncommitted = vault.committed_ids(head, [record.path])[record.path] != record.fingerprint
    extra = {"body": record.body, "properties": record.properties, "file": data.decode("utf-8", "replace")}
    return Answer(Status.OK, head, (Hit(record, uncommitted=uncommitted),), diagnostics=settled, extra=extra)
