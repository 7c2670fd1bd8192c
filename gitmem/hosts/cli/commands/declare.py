"""``gitmem declare``."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import draft_options
from gitmem.hosts.cli.writing import write_draft
from gitmem.model.record import BASELINE_KINDS, Kind

KINDS = [kind.value for kind in Kind if kind in BASELINE_KINDS]
_EFFECT = "a new record in baseline/, declared by you and given to agents as such, in one commit"


@verb(
    "declare",
    """
gitmem declare "Never write to the production database" --kind boundary
gitmem declare "Small pull requests" --kind preference --body "A reviewer is done in twenty minutes."
gitmem declare "Offline check-in by April" --kind goal --editor
""",
)
@draft_options(KINDS, kind_required=True)
@pass_call
def command(call: Call, /, title: str, **values: Any) -> int:
    """Declare a boundary, preference, goal or state, as a person.

    Writes one new record into baseline/ and commits it. A person has to confirm it at the terminal.
    """
    return write_draft(call, "declare", title, values, _EFFECT)
