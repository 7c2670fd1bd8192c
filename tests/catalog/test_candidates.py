"""Which record a link's name leads to."""

from __future__ import annotations

import pytest

from gitmem.catalog.candidates import find_named
from gitmem.model.authority import Actor
from gitmem.model.links import link_name
from gitmem.service.memory import Memory
from gitmem.service.reading import ask

from conftest import Desk, draft

NOTES = {
    "observations/deep/Redis Notes.md": "m7k2q9x4c001",
    "promoted/redis notes.md": "m7k2q9x4c002",
    "promoted/old redis notes.md": "m7k2q9x4c003",
    "promoted/Über.md": "m7k2q9x4c004",
    "promoted/缓存.md": "m7k2q9x4c005",
    "retired/2026-11/gone.md": "m7k2q9x4c006",
    "promoted/secret.md": "m7k2q9x4c007",
}


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("Redis Notes", "observations/deep/Redis Notes.md"),
        ("promoted/REDIS NOTES.md", "observations/deep/Redis Notes.md"),
        ("notes", None),
        ("old redis notes", "promoted/old redis notes.md"),
        ("über", "promoted/Über.md"),
        ("缓存", "promoted/缓存.md"),
        ("gone", None),
        ("secret", None),
        ("", None),
        ("%", None),
    ],
)
def test_a_name_leads_to_the_first_record_of_that_name(
    memory: Memory, desk: Desk, agent: Actor, target: str, path: str | None
) -> None:
    memory.observe(draft(), agent)
    for place, record in NOTES.items():
        file = desk.repo / place
        file.parent.mkdir(parents=True, exist_ok=True)
        private = "private: true\n" if "secret" in place else ""
        file.write_text(f"---\ngitmem_id: {record}\n{private}---\n\nText.\n")

    name = link_name(target)
    found = ask(memory.vault, lambda database, _report: find_named(database, [name, "nothing"]))

    assert found == ({} if path is None else {name: path})
