"""The crash journal: it lies with the lock, outlives the runtime, and is not believed where it could do harm."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.git.repo import open_repo
from gitmem.model.authority import Actor
from gitmem.model.ids import fingerprint
from gitmem.service.query import Filters
from gitmem.transaction.journal import journal_folder, load_journal, save_journal
from gitmem.wiring import open_memory

from conftest import Desk, draft
from crash import run_killed


def abandon(desk: Desk, person: Actor, step: str) -> str:
    """Kill a promotion at ``step``; return its record's id."""
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0].id
    assert run_killed(desk.open, step, lambda memory: memory.promote(one, person))
    return str(one)


@pytest.mark.parametrize("step", ["write", "write-next", "stage", "receipt", "finish"])
def test_an_abandoned_operation_is_settled_although_the_runtime_is_gone(desk: Desk, person: Actor, step: str) -> None:
    one = abandon(desk, person, step)
    shutil.rmtree(desk.runtime)
    with desk.open() as memory:
        assert [problem.code for problem in memory.status().diagnostics] == ["recovered"]
        desk.judge()
        state = memory.show(one).hits[0].record.state
        assert state == ("promoted" if step in ("receipt", "finish") else "observation")
        assert not memory.check().rows


@pytest.mark.parametrize("step", ["write-next", "receipt"])
def test_another_home_settles_what_the_first_abandoned(desk: Desk, person: Actor, step: str, tmp_path: Path) -> None:
    one = abandon(desk, person, step)
    other = str(tmp_path / "another-home")
    with open_memory(other, other, str(desk.repo)) as memory:
        assert memory.list(Filters()).hits[0].record.id == one
        desk.judge()
        assert memory.observe(draft("From the other home"), person).commit


def forge(desk: Desk, person: Actor, **edit: Any) -> Path:
    """Leave a journal of an operation that was stopped, with values of its first file changed; return its file."""
    abandon(desk, person, "stage")
    folder = journal_folder(open_repo(str(desk.repo)).common_dir)
    file = Path(folder, os.listdir(folder)[0])
    value = json.loads(file.read_bytes())
    value["edits"][0].update(edit)
    file.write_text(json.dumps(value))
    return file


@pytest.mark.parametrize(
    "name", ["../outside.md", "/outside.md", ".git/config", "observations/../../outside.md", 7, None]
)
def test_a_journal_that_names_a_file_outside_the_vault_is_set_aside(desk: Desk, person: Actor, name: object) -> None:
    outside = desk.repo.parent / "outside.md"
    outside.write_bytes(b"not yours")
    file = forge(desk, person, path=name, before=None, after=fingerprint(b"not yours"))
    with desk.open() as memory:
        said = [problem.message for problem in memory.status().diagnostics]
    assert said[0] == f"a crash journal can't be understood; it is kept as .git/gitmem/journal/{file.name}.unreadable"
    assert outside.read_bytes() == b"not yours"
    assert file.with_name(file.name + ".unreadable").exists()


@pytest.mark.parametrize(
    "temp", ["promoted/notes.md", "../.gitmem-x-0.tmp", ".gitmem-x-0.tmp", "promoted/.gitmem-x-0.tmp.md"]
)
def test_a_journal_with_a_temporary_file_of_another_name_is_set_aside(desk: Desk, person: Actor, temp: str) -> None:
    file = forge(desk, person, temp=temp)
    with desk.open() as memory:
        memory.status()
    assert file.with_name(file.name + ".unreadable").exists()


def test_a_journal_reads_back_as_it_was_saved(desk: Desk, person: Actor) -> None:
    abandon(desk, person, "write")
    common_dir = open_repo(str(desk.repo)).common_dir
    (name,) = os.listdir(journal_folder(common_dir))
    journal = load_journal(common_dir, name)
    other = replace(journal, branch="other")
    save_journal(common_dir, other)
    assert load_journal(common_dir, name) == other
