"""One record, whole."""

from __future__ import annotations

from gitmem.errors import UnavailableError
from gitmem.model.answer import Answer, Hit, Status
from gitmem.policy.secrets import redact
from gitmem.service.find import get_record
from gitmem.service.vault import OpenVault
from gitmem.vault.frontmatter import parse_note


def show(vault: OpenVault, ref: str) -> Answer:
    """Return the record ``ref`` as the one hit; ``extra`` has ``body``, ``properties`` and the file's ``text``.

    Secrets that a person's edit brought in are masked; when the scanner fails the answer is ``withheld`` and holds
    nothing of the record. Raises what ``get_record`` raises.
    """
    settled = vault.settle_abandoned()
    record, data = get_record(vault, ref)
    head = vault.head()
    uncommitted = vault.committed_ids([record.path])[record.path] != record.fingerprint
    try:
        text = redact(data.decode("utf-8", "replace"))
        note = parse_note(text.encode())
    except UnavailableError:
        return Answer(Status.WITHHELD, head, diagnostics=settled)
    extra = {"body": note.body, "properties": note.properties, "text": text}
    return Answer(Status.OK, head, (Hit(record, uncommitted=uncommitted),), diagnostics=settled, extra=extra)
