"""The labelled corpus as a vault: records about invented projects, the sample of ``gitmem tour``, and queries."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import BASELINE_KINDS, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault, open_memory

HERE = Path(__file__).parent / "corpus"
SAMPLE = Path(__file__).parents[2] / "templates" / "sample"
PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")


def read_queries() -> list[dict[str, object]]:
    return [json.loads(line) for line in (HERE / "queries.jsonl").read_text().splitlines()]


def is_held_out(query: dict[str, object]) -> bool:
    """Tell which half a query is in; what a query asks decides, so that adding one moves no other."""
    return hashlib.sha256(str(query["query"]).encode()).digest()[0] % 2 == 1


def open_corpus(folder: Path) -> Memory:
    """Make the vault below ``folder`` and return it opened: 102 records of ours and 55 of the sample, all reviewed."""
    notes = {State.BASELINE: folder / "baseline", State.PROMOTED: folder / "promoted"}
    for place in notes.values():
        place.mkdir()
    for line in (HERE / "records.jsonl").read_text().splitlines():
        one = json.loads(line)
        state = State.BASELINE if Kind(one["kind"]) in BASELINE_KINDS else State.PROMOTED
        (notes[state] / f"{one['name']}.md").write_text(_format_note(one))
    for note in SAMPLE.glob("*.md"):
        shutil.copy(note, notes[State.PROMOTED])
    home = str(folder / "home")
    entry, _receipt = make_vault(home, NewVault(Scope.GLOBAL, path=str(folder / "vault")), PERSON)
    memory = open_memory(home, home, entry.path)
    for state, place in notes.items():
        memory.import_notes(str(place), PERSON, state=state)
    return memory


def _format_note(one: dict[str, object]) -> str:
    tags = "".join(f"  - {tag}\n" for tag in one["tags"])  # type: ignore[attr-defined]
    key = f"key: {one['key']}\n" if "key" in one else ""
    title = json.dumps(one["title"], ensure_ascii=False)
    return f"---\ntitle: {title}\nkind: {one['kind']}\n{key}tags:\n{tags}---\n\n{one['body']}\n"
