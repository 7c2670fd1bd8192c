"""INV-PRIVATE: of a private record nothing is told by any read, in the catalog, the views or a commit made since."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from gitmem.hosts.cli.output import read_document
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, State
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk, draft

MARKERS = ("zanzibar", "quokka", "narwhal", "wombat", "axolotl", "pangolin")
"""One word for each of title, body, tag, key, summary and alias of the private record."""
TITLE, BODY, TAG, KEY, SUMMARY, ALIAS = MARKERS
EVERY = Filters(states=tuple(State))


@pytest.fixture
def hidden(memory: Memory, person: Actor) -> str:
    """A record that was public once and is private now, beside a public one that links to it; returns its id."""
    wanted = Draft(f"The {TITLE} report", f"It says {BODY}. #{TAG}/inline", Kind.FACT, f"On {SUMMARY}", (f"{TAG}/x",))
    made = memory.observe(Draft(**{**asdict(wanted), "key": KEY}), person).records[0]
    memory.edit(made.id, RecordEdit(properties={"aliases": [ALIAS]}), person)
    memory.observe(draft("A public note", "Nothing of it here."), person)
    memory.edit(made.id, RecordEdit(properties={"private": True}), person)
    return made.id
