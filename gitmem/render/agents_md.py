"""The section of AGENTS.md that is made from confirmed records. Pure; the same records give the same text.

A record's text can pass for nothing else there: each entry begins with its id, each line of its text with a quotation
mark, and what would open a tag or a comment, a mark of the section among them, is written as an entity (INV-QUOTED).
So is the sign with which hosts have another file read into their instructions: `@path`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gitmem.errors import StateError
from gitmem.model.record import Kind, Record
from gitmem.model.settings import Scope
from gitmem.render.passages import take_beginning
from gitmem.render.quoted import format_entry, pick_summary

DEFAULT_CHARS = 8000
MAX_TEXT_CHARS = 600
"""How long a record's text may be to stand there whole."""
GROUPS = {
    Kind.BOUNDARY: "Boundaries, declared by a person: keep to them",
    Kind.PREFERENCE: "Preferences, declared by a person",
    Kind.CONVENTION: "Conventions, reviewed by a person",
    Kind.PROCEDURE: "Procedures, reviewed by a person",
}
"""The kinds that are shown, in order, with their headings."""
_TITLES = {Scope.WORKSPACE: "## What holds in this project", Scope.GLOBAL: "## What holds in every project"}
_ABOUT = (
    "Made by `gitmem export agents-md` from a memory that people review. Change the records and run it "
    "again; what is edited here does not stay. `gitmem show ID` has a record whole."
)
_NOTHING = "Nothing is declared or reviewed at present."
_SHORTENED = "shortened"
_IMPORT = re.compile(r"(?<!\S)@(?=\S)")


def render_agents_md(
    records: Sequence[Record], scope: Scope, max_chars: int = DEFAULT_CHARS
) -> tuple[str, tuple[Record, ...]]:
    """Return the text, at most ``max_chars`` characters, and the records that it shows, in order.

    ``records`` are of the kinds in ``GROUPS``, in the order in which they get room. What has none is left out and
    counted; a boundary never is. Raises ``StateError`` (``boundaries-do-not-fit``) with the room that is needed.
    """
    boundaries = [i for i, record in enumerate(records) if record.kind is Kind.BOUNDARY]
    shown = {i: _brief(records[i]) for i in boundaries}
    needed = len(_compose(records, shown, scope))
    if needed > max_chars:
        message = f"the section takes {needed} characters with its boundaries alone, and {max_chars} are allowed"
        hint = f"Allow {needed} or more with --max-chars, or give boundaries short summaries, or retire some."
        raise StateError("boundaries-do-not-fit", message, hint, needed=needed)
    others = [i for i in range(len(records)) if i not in shown]
    for i in (*boundaries, *others):
        for lines in (_full(records[i]), _brief(records[i])):
            trial = {**shown, i: lines}
            if len(_compose(records, trial, scope)) <= max_chars:
                shown = trial
                break
    return _compose(records, shown, scope), tuple(records[i] for i in sorted(shown))


def _full(record: Record) -> tuple[str, ...]:
    body = record.body.strip()
    return format_entry(record, _labels(record), body) if len(body) <= MAX_TEXT_CHARS else _brief(record)


def _brief(record: Record) -> tuple[str, ...]:
    body = record.body.strip()
    said = pick_summary(record) or take_beginning(body, MAX_TEXT_CHARS)
    is_whole = body in ("", said)
    return format_entry(record, _labels(record) if is_whole else [*_labels(record), _SHORTENED], said)


def _labels(record: Record) -> list[str]:
    if record.verified:
        return [f"verified {record.verified[:10]}"]
    date = record.updated or record.created
    return [date[:10] if date else "undated"]


def _compose(records: Sequence[Record], shown: Mapping[int, tuple[str, ...]], scope: Scope) -> str:
    lines = [_TITLES[scope], "", _ABOUT]
    for kind, heading in GROUPS.items():
        entries = [shown[i] for i in sorted(shown) if records[i].kind is kind]
        if entries:
            lines += ["", f"### {heading}", "", *(_IMPORT.sub("&#64;", line) for entry in entries for line in entry)]
    omitted = len(records) - len(shown)
    if omitted:
        more = "1 record more has" if omitted == 1 else f"{omitted} records more have"
        lines += ["", f"{more} no room here; `gitmem list` shows them."]
    return "\n".join(lines if records else [*lines, "", _NOTHING])
