"""What is said of a section that was brought in step with the records: to people, and as a JSON document. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.output import Document
from gitmem.hosts.cli.plain import count
from gitmem.model.ids import new_op_id
from gitmem.text import make_visible

if TYPE_CHECKING:
    from gitmem.service.agents_md import Export


def format_export(export: Export, diff: str, folder: str, *, is_written: bool) -> str:
    """Return what became of the file, or would: a line, and the difference where nothing is written.

    A file below ``folder`` is named from there.
    """
    name = safe_line(export.file.removeprefix(os.path.join(folder, "")))
    shown = count(len(export.records), "record")
    if export.in_step:
        return f"{name} is in step; its section shows {shown}" if export.records else f"{name} has no section"
    if is_written:
        what = f"its section shows {shown}" if export.records else "its section is taken out"
        return f"{name} was written; {what}"
    return "\n".join([*map(make_visible, diff.split("\n")), "", f"{name} is not in step; nothing was written"])


def list_notices(export: Export) -> list[str]:
    """Return what is to be minded: what has no room, what is not known to be a person's, what is held back."""
    notices = []
    if export.omitted:
        notices.append(f"{count(export.omitted, 'record')} had no room; --max-chars allows more")
    if export.unconfirmed:
        one = "1 record is" if export.unconfirmed == 1 else f"{export.unconfirmed} records are"
        notices.append(f"{one} left out: nothing here proves that a person declared or reviewed them")
    if export.held_back:
        notices.append(f"{count(export.held_back, 'record')} left out: out of date or replaced")
    if export.kept:
        notices.append(f"what was edited by hand is kept in {export.kept}")
    return [*notices, *(safe_line(problem.message) for problem in export.problems)]


def export_document(export: Export, diff: str, *, is_written: bool) -> Document:
    """Return the document, ``write.schema.json``: ``records`` are those that the section shows, ``export`` the rest."""
    return {
        "ok": True,
        "op": "export",
        "op_id": new_op_id(),
        "commit": None,
        "changed": is_written and not export.in_step,
        "records": [{"id": one.id, "path": one.path, "state": one.state.value} for one in export.records],
        "notices": list_notices(export),
        "export": {
            "file": export.file,
            "in_step": is_written or export.in_step,
            "revision": export.revision,
            "omitted": export.omitted,
            "unconfirmed": export.unconfirmed,
            "held_back": export.held_back,
            "kept": export.kept or None,
            "diff": diff,
        },
    }
