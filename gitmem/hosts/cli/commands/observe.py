"""``gitmem observe``."""

from __future__ import annotations

from typing import Any

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import draft_options
from gitmem.hosts.cli.writing import write_draft
from gitmem.model.record import EPISODIC_KINDS, KNOWLEDGE_KINDS, Kind

KINDS = [kind.value for kind in Kind if kind in KNOWLEDGE_KINDS | EPISODIC_KINDS]


@verb(
    "observe",
    """
gitmem observe "Run tests with two workers" --body "More exhaust the database." --evidence run:ci-4812
gitmem observe "The build needs Node 24" --kind finding --tag tool/node --evidence file:package.json#L7
git log -1 --format=%B | gitmem observe "Why we left Redis" --body-file - --evidence commit:1a2b3c4d
gitmem observe --from findings.jsonl
""",
)
@draft_options(KINDS)
@pass_call
def command(call: Call, /, **values: Any) -> int:
    """Write an observation: something learned, with what shows it.

    Writes one new record into observations/ and commits it; with --from all records of a file, in one commit, or none
    of them. Without evidence a person has to confirm it at the terminal.
    """
    many = values["from_file"] is not None
    effect = "new records in observations/" if many else "a new record in observations/"
    return write_draft(call, "observe", values, f"{effect}, as evidence, in one commit")
