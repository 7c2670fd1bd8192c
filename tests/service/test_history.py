"""The history of a record, told with the commit graph and without, and judged by looking at every commit."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitmemError
from gitmem.git.commit_graph import write_commit_graph
from gitmem.git.history import iter_commits
from gitmem.git.packed_graph import graph_path
from gitmem.model.authority import Actor
from gitmem.model.ids import RecordId
from gitmem.model.vault_path import VaultPath
from gitmem.service.edit import RecordEdit
from gitmem.service.history import iter_touches
from gitmem.service.memory import Memory
from gitmem.vault.record_file import parse_record

from conftest import Desk, draft

Told = list[tuple[str, str | None, str | None]]


def tell(memory: Memory, record_id: str, path: str) -> Told:
    """Return the subject of each commit that touched a record, and where it lay before and after; newest first."""
    return [
        (touch.commit.message.splitlines()[0], touch.before, touch.after)
        for touch in iter_touches(memory.vault, RecordId(record_id), path)
    ]


def write_graph(memory: Memory) -> None:
    memory.vault.repo.reopen()
    write_commit_graph(memory.vault.repo, lambda _step: None)


def find_places(memory: Memory, record_id: str) -> dict[str, tuple[str, str] | None]:
    """Return path and blob of the record in each commit, by reading every file of it."""
    repo, known = memory.vault.repo, dict[str, str | None]()

    def id_of(path: str, blob: str) -> str | None:
        if blob not in known:
            try:
                record = parse_record(VaultPath(path), repo.read_object(blob))
                known[blob] = record.id if record else None
            except GitmemError:
                known[blob] = None
        return known[blob]

    places: dict[str, tuple[str, str] | None] = {}
    for commit in iter_commits(repo, memory.vault.head()):
        files = [(path, blob) for path, blob in repo.iter_files(commit.id) if path.endswith(".md")]
        places[commit.id] = next((one for one in files if id_of(*one) == record_id), None)
    return places


def judge(memory: Memory, record_id: str, path: str) -> None:
    """Assert that what is told is what reading all of every commit tells, each once, children before parents."""
    places = find_places(memory, record_id)
    expected = set()
    for commit in iter_commits(memory.vault.repo, memory.vault.head()):
        before = [places[parent] for parent in commit.parents] or [None]
        if all(one != places[commit.id] for one in before):
            expected.add(commit.id)
    told = [touch.commit.id for touch in iter_touches(memory.vault, RecordId(record_id), path)]
    assert len(told) == len(set(told))
    assert set(told) == expected


def test_a_record_is_followed_through_all_that_can_happen_to_it(
    desk: Desk, memory: Memory, agent: Actor, person: Actor
) -> None:
    one = memory.observe(draft(), agent).records[0]
    memory.observe(draft("Another one", "Nothing to do with it."), agent)
    name = Path(one.path).name
    memory.edit(one.id, RecordEdit(body="Four are too many."), person)
    promoted = memory.promote(one.id, person)
    write_graph(memory)
    memory.undo(promoted.op_id, person)
    (desk.repo / "promoted/tests").mkdir(parents=True)
    desk.git("mv", one.path, "promoted/tests/workers.md")
    desk.git("commit", "-qm", "by hand: moved")
    file = desk.repo / "promoted/tests/workers.md"
    file.write_text(file.read_text() + "By hand.\n")
    desk.git("commit", "-qam", "by hand: edited")
    memory.retire(one.id, "outdated", person)
    retired = memory.show(one.id).hits[0].record.path
    memory.restore(one.id, person)
    expected = [
        ("restore: Run tests with two workers", retired, "promoted/tests/workers.md"),
        ("retire: Run tests with two workers", "promoted/tests/workers.md", retired),
        ("by hand: edited", "promoted/tests/workers.md", "promoted/tests/workers.md"),
        ("by hand: moved", one.path, "promoted/tests/workers.md"),
        ("undo: promote: Run tests with two workers", f"promoted/{name}", one.path),
        ("promote: Run tests with two workers", one.path, f"promoted/{name}"),
        ("edit: Run tests with two workers", one.path, one.path),
        ("observe: Run tests with two workers", None, one.path),
    ]
    assert tell(memory, one.id, "promoted/tests/workers.md") == expected
    write_graph(memory)
    assert tell(memory, one.id, "promoted/tests/workers.md") == expected
    judge(memory, one.id, "promoted/tests/workers.md")


@pytest.mark.parametrize("with_graph", [False, True])
def test_both_sides_of_a_merge_are_followed(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, *, with_graph: bool
) -> None:
    one = memory.observe(draft(), agent).records[0]
    branch = desk.git("symbolic-ref", "--short", "HEAD").strip()
    desk.git("switch", "-qc", "side")
    (desk.repo / "promoted").mkdir(exist_ok=True)
    desk.git("mv", one.path, "promoted/moved.md")
    desk.git("commit", "-qm", "side: moved")
    desk.git("switch", "-q", branch)
    file = desk.repo / one.path
    file.write_text(file.read_text() + "On this side.\n")
    desk.git("commit", "-qam", "main: edited", "--date", "2030-01-01T00:00:00Z")
    memory.observe(draft("Another one", "Nothing to do with it."), agent)
    desk.git("merge", "-q", "--no-edit", "-m", "merged", "side")
    if with_graph:
        write_graph(memory)
    told = tell(memory, one.id, "promoted/moved.md")
    assert told[0] == ("merged", one.path, "promoted/moved.md")
    assert sorted(told[1:3]) == [("main: edited", one.path, one.path), ("side: moved", one.path, "promoted/moved.md")]
    assert told[3:] == [("observe: Run tests with two workers", None, one.path)]
    judge(memory, one.id, "promoted/moved.md")


@pytest.mark.parametrize("with_graph", [False, True])
def test_what_came_back_has_its_earlier_life(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, *, with_graph: bool
) -> None:
    done = memory.observe(draft(), agent)
    one = done.records[0]
    undone = memory.undo(done.op_id, person)
    memory.undo(undone.op_id, person)
    desk.git("rm", "-q", one.path)
    desk.git("commit", "-qm", "by hand: removed")
    desk.git("revert", "--no-edit", "HEAD")
    if with_graph:
        write_graph(memory)
    assert [(before, after) for _subject, before, after in tell(memory, one.id, one.path)] == [
        (None, one.path),
        (one.path, None),
        (None, one.path),
        (one.path, None),
        (None, one.path),
    ]


def test_a_commit_that_was_amended_is_not_taken_at_its_word_by_the_graph(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    one = memory.observe(draft(), agent).records[0]
    memory.observe(draft("Another one", "Nothing to do with it."), agent)
    file = desk.repo / one.path
    file.write_text(file.read_text() + "Slipped in.\n")
    desk.git("commit", "-qa", "--amend", "--no-edit")
    write_graph(memory)
    assert [row[0] for row in tell(memory, one.id, one.path)] == [
        "observe: Another one",
        "observe: Run tests with two workers",
    ]


def test_a_damaged_graph_and_one_that_leads_astray_cost_nothing_but_time(
    desk: Desk, memory: Memory, agent: Actor, person: Actor
) -> None:
    one = memory.observe(draft(), agent).records[0]
    memory.edit(one.id, RecordEdit(summary="Two, not more."), person)
    expected = tell(memory, one.id, one.path)
    write_graph(memory)
    graph = Path(graph_path(memory.vault.repo))
    sound = graph.read_bytes()
    graph.chmod(0o644)
    at = sound.index(b"CDAT")
    rows = int.from_bytes(sound[at + 4 : at + 12])
    astray = sound[: rows + 20] + b"\x00\xff" + sound[rows + 22 : -20]  # the first commit's parent is number 16,7xx,xxx
    ends = int.from_bytes(sound[(found := sound.index(b"BIDX")) + 4 : found + 12])
    backwards = sound[:ends] + b"\x00\xff\xff\xff" + sound[ends + 4 : -20]
    lies = [forged + hashlib.sha1(forged).digest() for forged in (astray, backwards)]
    for damage in (b"", sound[:-30], sound[:-1] + bytes([sound[-1] ^ 1]), *lies):
        graph.write_bytes(damage)
        assert tell(memory, one.id, one.path) == expected


def test_names_in_other_scripts_are_followed_with_a_graph_of_gits_own(
    desk: Desk, memory: Memory, agent: Actor, person: Actor
) -> None:
    one = memory.observe(draft("退款手续费"), agent).records[0]
    memory.edit(one.id, RecordEdit(summary="两次"), person)
    memory.promote(one.id, person)
    path = memory.show(one.id).hits[0].record.path
    desk.git("commit-graph", "write", "--reachable", "--changed-paths")
    assert [row[0].partition(":")[0] for row in tell(memory, one.id, path)] == ["promote", "edit", "observe"]


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_are_told_alike_with_a_graph_and_without(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, seed: int
) -> None:
    source = random.Random(seed)
    ids = [memory.observe(draft(f"Record {n}", f"Text {n}."), agent).records[0].id for n in range(3)]
    branches = [desk.git("symbolic-ref", "--short", "HEAD").strip()]
    for number in range(40):
        _step(desk, source, branches, number)
        if number == 25:
            write_graph(memory)
    desk.git("switch", "-q", branches[0])
    for record_id in ids:
        found = [file for file in desk.repo.glob("*/**/*.md") if record_id in file.read_text()]
        path = str(found[0].relative_to(desk.repo))
        told = tell(memory, record_id, path)
        judge(memory, record_id, path)
        write_graph(memory)
        assert sorted(tell(memory, record_id, path)) == sorted(told)
        judge(memory, record_id, path)


def _step(desk: Desk, source: random.Random, branches: list[str], number: int) -> None:
    """Do one thing that a person may do with Git: edit, move, branch off, switch, or merge."""
    notes = [path for path in desk.git("ls-files", "*.md").split() if path != "INDEX.md"]
    steps: list[Callable[[], object]] = [
        lambda: _append(desk, source.choice(notes), number),
        lambda: _move(desk, source.choice(notes), number),
        lambda: _branch(desk, branches, number),
        lambda: desk.git("switch", "-q", source.choice(branches)),
        lambda: _merge(desk, source.choice(branches)),
    ]
    source.choices(steps, (6, 4, 1, 3, 2))[0]()


def _append(desk: Desk, path: str, number: int) -> None:
    file = desk.repo / path
    file.write_text(file.read_text() + f"\nLine {number}.\n")
    desk.git("commit", "-qam", f"edit {number}")


def _move(desk: Desk, path: str, number: int) -> None:
    (desk.repo / "promoted").mkdir(exist_ok=True)
    desk.git("mv", path, f"promoted/n{number}.md")
    desk.git("commit", "-qm", f"move {number}")


def _branch(desk: Desk, branches: list[str], number: int) -> None:
    branches.append(f"b{number}")
    desk.git("switch", "-qc", branches[-1])


def _merge(desk: Desk, branch: str) -> None:
    desk.git("merge", "-q", "--no-edit", "-m", f"merge {branch}", branch, check=False)
    if desk.git("status", "--porcelain"):
        desk.git("merge", "--abort", check=False)
