"""Vaults to measure on: generated records of about 1 KB with thirteen properties, committed by Git itself."""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.model.authority import Actor, Authority, Surface
from gitmem.model.ids import ALPHABET, RecordId
from gitmem.model.record import Kind
from gitmem.model.settings import Scope, VaultEntry
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.vault import OpenVault, Options
from gitmem.vault.layout import HomeLayout
from gitmem.vault.record_file import file_name, format_record
from gitmem.vault.registry import load_registry
from gitmem.wiring import make_vault

PERSON = Actor(Surface.HUMAN, "Bench Person", "bench@example.com")
_SYLLABLES = [
    *[a + b for a in "bcdfghjklmnprst" for b in "aeo"][::2],
    *("cli", "dro", "fla", "gri", "plo", "sta", "tru"),
]
_WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES[::5] for c in _SYLLABLES[::2]]
_WEIGHTS = [1 / (rank + 2) for rank in range(len(_WORDS))]
"""Some 2,600 words, used as unevenly as the words of a language (Zipf)."""


@dataclass(frozen=True)
class Place:
    """One generated vault."""

    entry: VaultEntry
    root: Path

    def open(self, **options: Any) -> Memory:
        return Memory(OpenVault(self.entry, options=Options(**options)))

    def git(self, *args: str) -> str:
        return run_git(self.root, *args)


def run_git(folder: Path, *args: str) -> str:
    """Run Git quietly as nobody in particular; return its output."""
    identity = ("-c", "user.name=Bench Person", "-c", "user.email=bench@example.com")
    done = subprocess.run(["git", *identity, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def make_place(folder: Path, records: int) -> Place:
    """Make a vault of ``records`` records in ``folder``; its catalog is sharded from 500 records on.

    Without records it is as ``init`` makes it, unpacked.
    """
    shards = 1 if records < 500 else 32 if records < 50_000 else 1024
    wanted = NewVault(Scope.WORKSPACE, path=str(folder / "vault"), catalog_shards=shards)
    entry, _receipt = make_vault(str(folder / "home"), wanted, PERSON)
    place = Place(entry, Path(entry.path))
    source = random.Random(records)
    for number in range(records):
        path, data = make_note(source, number)
        target = place.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    if not records:
        return place
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "generated records")
    with place.open() as memory:
        memory.repair_views(PERSON)
    place.git("gc", "-q")
    return place


def find_place(folder: Path, records: int) -> Place:
    """Return the vault of ``records`` records that was made in ``folder``, made now where it was not."""
    if not folder.exists():
        folder.mkdir(parents=True)
        return make_place(folder, records)
    entry = load_registry(HomeLayout(str(folder / "home")))[0]
    return Place(entry, Path(entry.path))


def make_note(source: random.Random, number: int) -> tuple[str, bytes]:
    """Return the path and the bytes of one generated record."""
    record_id = RecordId("".join(source.choices(ALPHABET, k=12)))
    title = " ".join(_pick(source, 5)).capitalize()
    body = "\n\n".join(" ".join(_pick(source, 45)) for _ in range(2)) + f"\n\nCase {number}.\n"
    month = f"2026-{number % 12 + 1:02d}"
    folder = "promoted" if number % 50 == 0 else f"observations/{month}"
    data = format_record(
        record_id,
        title,
        body,
        kind=Kind.FACT,
        summary=" ".join(_pick(source, 8)),
        authority=Authority.WORKSPACE_EVIDENCE,
        tags=(f"tool/{source.choice(_WORDS[:40])}", f"domain/{source.choice(_WORDS[:20])}"),
        key=f"case-{number}",
        created=f"{month}-01T08:00:00Z",
        updated=f"{month}-02T08:00:00Z",
        source="bench/s1",
        evidence=(f"run:case {number}",),
        verified=f"{month}-03",
        review_after="2027-06-01",
    )
    return f"{folder}/{file_name(title, record_id)}", data


def _pick(source: random.Random, count: int) -> list[str]:
    return source.choices(_WORDS, _WEIGHTS, k=count)


def copy_place(place: Place, folder: Path) -> Path:
    """Return a copy of the vault's repository for plain Git to work in."""
    shutil.copytree(place.root, folder, symlinks=True)
    return folder
