"""Notes to try things on: a few odd ones of our own, the sample that ships, and real vaults where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem import resources

HERE = Path(__file__).parent
VAULTS = HERE.parents[1] / "shared" / "vaults"
HAS_VAULTS = VAULTS.is_dir()
ORACLE = VAULTS / "obsidian-oracle"


def iter_own_notes() -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the notes in ``tests/notes`` and of the sample, by name."""
    for folder in (HERE / "notes", resources.folder("templates") / "sample"):
        for path in sorted(folder.glob("*.md")):
            yield path.name, path.read_bytes()


def iter_real_notes() -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the notes of the real vaults, those within Obsidian's dumps last."""
    for path in sorted(VAULTS.rglob("*.md")):
        yield path.name, path.read_bytes()
    for dump in load_dumps(ORACLE):
        yield dump["filePath"], dump["fileContents"].encode()


def load_dumps(folder: Path) -> list[dict[str, Any]]:
    """Return the dumps in ``folder`` that hold a note: its text beside what Obsidian finds in it.

    Those in ``tests/dumps`` are written by hand in the same form, from what Obsidian documents and its own dumps show.
    """
    dumps = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    return [dump for dump in dumps if dump.get("fileContents") is not None]
