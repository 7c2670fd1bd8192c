"""``gitmem declare``."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import draft_options
from gitmem.hosts.cli.writing import write_draft
from gitmem.model.record import BASELINE_KINDS, Kind

KINDS = [kind.value for kind in Kind if kind in BASELINE_KINDS]
_EFFECT = "in baseline/, declared by you and given to agents as such, in one commit"


@verb(
    "declare",
    """
gitmem declare "Never write to the production database" --kind boundary
gitmem declare "Small pull requests" --kind preference --body "A reviewer is done in twenty minutes."
gitmem declare "Offline check-in by April" --kind goal --editor
gitmem declare --from house-rules.jsonl
""",
)
@draft_options(KINDS)
@pass_call
def command(call: Call, /, **values: Any) -> int:
    """Declare a boundary, preference, goal or state, as a person.

    Writes one new record into baseline/ and commits it; with --from all records of a file, in one commit, or none of
    them. A person has to confirm it at the terminal.
    """
    many = values["from_file"] is not None
    return write_draft(call, "declare", values, f"{'new records' if many else 'a new record'} {_EFFECT}")
