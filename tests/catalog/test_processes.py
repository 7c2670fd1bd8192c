"""Several processes on one catalog: nobody waits for a reader, and a first catalog is made by all of them at once."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from catalog.other_process import tell

from gitmem.service.query import Filters

from conftest import Desk

PROCESSES = 6


def fill(desk: Desk) -> None:
    (desk.repo / "promoted").mkdir(exist_ok=True)
    for number in range(60):
        text = f"---\ngitmem_id: '{number:012}'\ntags: [tool/t{number % 3}]\n---\nword{number} common\n"
        (desk.repo / f"promoted/{number:02}.md").write_text(text)


def test_six_processes_make_the_first_catalog_at_once(desk: Desk) -> None:
    fill(desk)
    script = str(Path(__file__).with_name("other_process.py"))
    children = [
        subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    asked = f"{json.dumps(['open', desk.home, str(desk.repo)])}\n{json.dumps(['tell', str(desk.repo)])}\n"
    for child in children:  # all of them are at it before the first one is waited for
        assert child.stdin
        child.stdin.write(asked)
        child.stdin.close()
    told = []
    for child in children:
        assert child.stdout
        told += [json.loads(line) for line in child.stdout]
        child.stdout.close()
        assert child.wait() == 0
    with desk.open(memory_catalog=True) as memory:
        truth = tell(memory)
    assert told == [truth] * PROCESSES * 2
    with desk.open() as memory:
        assert memory.search("common", Filters()).status == "ok"


def test_a_reader_does_not_wait_for_a_writer(desk: Desk) -> None:
    fill(desk)
    with desk.open() as memory:
        tell(memory)
        writer = sqlite3.connect(desk.runtime / "catalog.sqlite", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM records")
        found = memory.search("common", Filters(), 100)
        assert (found.status, len(found.hits)) == ("ok", 60)
        writer.close()


def test_a_writer_waits_for_another_for_a_bounded_time(desk: Desk) -> None:
    fill(desk)
    with desk.open(catalog_wait_s=0.05) as memory:
        tell(memory)
        writer = sqlite3.connect(desk.runtime / "catalog.sqlite", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        (desk.repo / "promoted/00.md").write_text("---\ngitmem_id: '000000000000'\n---\nheron\n")
        found = memory.search("heron", Filters())
        assert (found.status, [hit.record.path for hit in found.hits]) == ("degraded", ["promoted/00.md"])
        assert found.diagnostics[-1].message == "the search catalog can't be used: database is locked"
        writer.close()


def test_others_read_while_it_is_made_afresh(desk: Desk) -> None:
    fill(desk)
    script = str(Path(__file__).with_name("other_process.py"))
    with (
        desk.open() as memory,
        subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        ) as child,
    ):
        truth = tell(memory)
        told: list[object] = []

        def ask_other(*asked: str) -> None:
            assert child.stdin
            assert child.stdout
            child.stdin.write(json.dumps(asked) + "\n")
            told.append(json.loads(child.stdout.readline()))

        ask_other("open", desk.home, str(desk.repo))
        steps = []

        def progress(done: int, total: int) -> None:
            steps.append((done, total))
            if done in (1, 59):
                ask_other("tell", str(desk.repo))

        answer = memory.rebuild_catalog(progress)
        assert (desk.runtime / "catalog.sqlite-wal").stat().st_size == 0
        ask_other("tell", str(desk.repo))
        assert child.stdin
        child.stdin.close()
    assert steps == [(number, 60) for number in range(1, 61)]
    assert (answer.status, answer.extra["reconcile"]["changed"]) == ("ok", 60)
    assert told == [truth] * 4


def test_one_that_is_broken_off_leaves_what_was_there(desk: Desk) -> None:
    fill(desk)

    def interrupt(done: int, _total: int) -> None:
        if done == 30:
            raise KeyboardInterrupt

    with desk.open() as memory:
        truth = tell(memory)
        with pytest.raises(KeyboardInterrupt):
            memory.rebuild_catalog(interrupt)
        assert memory.search("common", Filters()).extra["reconcile"]["changed"] == 0
        assert tell(memory) == truth
