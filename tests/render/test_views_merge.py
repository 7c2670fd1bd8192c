"""Views and real Git: two branches and reverts stay clean, and what comes out is what gitmem would have written."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import cast

import pytest

from gitmem.model.change import RecordChange
from gitmem.model.ids import ALPHABET, RecordId, fingerprint
from gitmem.model.record import Record, State
from gitmem.model.vault_path import parse_vault_path
from gitmem.render.views import render_views, update_views

TRIALS = 100
MIN_CLEAN = 97


def merge(folder: Path, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """Return what ``git merge-file`` makes of the three, ``None`` for a conflict."""
    paths = []
    for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(data)
        paths.append(str(folder / name))
    done = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


class Team:
    """A source of records with random ids, the same in every run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def records(self, count: int) -> list[Record]:
        return [self._record(RecordId("".join(self._random.choices(ALPHABET, k=12)))) for _ in range(count)]

    def _record(self, record_id: RecordId) -> Record:
        path = parse_vault_path(f"observations/2026-11/note-{record_id[:6]}.md")
        return Record(record_id, path, State.OBSERVATION, f"Note {record_id}", body="", fingerprint=fingerprint(b""))


def catalog(records: list[Record]) -> bytes:
    return render_views(records, 1)["catalog.json"]


def add(base: bytes, records: list[Record]) -> bytes:
    read = {"catalog.json": base, "INDEX.md": b""}.get
    views = update_views(read, [RecordChange(None, record) for record in records], 1)
    return cast(bytes, views["catalog.json"])


@pytest.mark.parametrize("size", [40, 500])
def test_two_branches_that_each_add_a_record_merge_cleanly(tmp_path: Path, size: int) -> None:
    team = Team(seed=size)
    base, clean = catalog(team.records(size)), 0
    for _ in range(TRIALS):
        mine, yours = team.records(1), team.records(1)
        merged = merge(tmp_path, add(base, mine), base, add(base, yours))
        if merged is not None:
            clean += 1
            assert merged == add(base, mine + yours)
    assert clean >= MIN_CLEAN


@pytest.mark.parametrize("size", [40, 500])
def test_reverting_an_older_record_stays_clean(tmp_path: Path, size: int) -> None:
    team = Team(seed=size)
    before, clean = catalog(team.records(size)), 0
    for _ in range(TRIALS):
        old, later = team.records(1), team.records(10)
        merged = merge(tmp_path, add(before, old + later), add(before, old), before)
        if merged is not None:
            clean += 1
            assert merged == add(before, later)
    assert clean >= MIN_CLEAN


def test_git_revert_takes_one_record_out_of_the_views(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], capture_output=True, check=True)

    def commit(records: list[Record]) -> None:
        for path, data in render_views(records, 1).items():
            (tmp_path / path).write_bytes(data)
        git("add", "--all")
        git("commit", "--message", "operation")

    team = Team(seed=3)
    vault = team.records(5)
    git("init")
    commit(vault)
    later = team.records(4)
    for count in range(1, 5):
        commit(vault + later[:count])
    git("revert", "--no-edit", "HEAD~3")
    assert (tmp_path / "catalog.json").read_bytes() == catalog(vault + later[1:])
