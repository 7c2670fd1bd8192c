"""Maintenance of whole vaults: by itself, by hand, killed anywhere, beside readers. INV-OLD-OR-NEW."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable

import pytest

from gitmem.errors import GitmemError, StateError, UnavailableError
from gitmem.git import packs
from gitmem.git.packs import iter_loose, list_packs
from gitmem.model.authority import Actor
from gitmem.model.ids import parse_op_id
from gitmem.model.maintenance import Maintenance
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.transaction import maintain as engine
from gitmem.transaction.ground import MAINTAIN_STEPS

from conftest import Desk, draft
from crash import Killer, run_killed

SMALL = 40
"""So few loose objects start maintenance here that a few operations are enough."""
READER = """
import os, subprocess, sys
from gitmem.git.repo import open_repo
from gitmem.git.history import iter_commits
import pygit2
root, stop = sys.argv[1:]
repo, held, rounds = open_repo(root), pygit2.Repository(root), 0
while not os.path.exists(stop) or not rounds:
    commits = list(iter_commits(repo, repo.head().commit))
    for commit in commits[::3]:
        for path, blob in repo.iter_files(commit.id):
            repo.read_object(blob)
            assert len(held[blob].data) >= 0
    done = subprocess.run(["git", "-C", root, "log", "--stat", "--format=%H"], capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    rounds += 1
print(rounds)
"""


@pytest.fixture(autouse=True)
def _count_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count loose objects in all folders: so few of them are not spread evenly over some."""
    monkeypatch.setattr(packs, "SAMPLE", tuple(f"{number:02x}" for number in range(256)))


def observe(memory: Memory, actor: Actor, first: int, count: int) -> list[str]:
    """Write observations and return their notices."""
    said: list[str] = []
    for number in range(first, first + count):
        said += memory.observe(draft(f"Thing {number}", f"Text of {number}. " * 20), actor).notices
    return said


def objects(desk: Desk) -> set[str]:
    """Return id, kind and size of every object; Git has checked each."""
    assert desk.git("fsck", "--full", "--strict", "--no-dangling") == ""
    return set(desk.git("cat-file", "--batch-all-objects", "--batch-check").splitlines())


def loose(desk: Desk) -> int:
    with desk.open() as memory:
        return len(list(iter_loose(memory.vault.repo)))


def judge(desk: Desk) -> None:
    desk.judge()
    if (desk.repo / ".git/objects/info/commit-graph").exists():
        desk.git("commit-graph", "verify")
    counts = dict(line.split(": ") for line in desk.git("count-objects", "-v").splitlines())
    assert (counts["garbage"], counts["prune-packable"]) == ("0", "0")
    assert list((desk.repo / ".git/gitmem/maintain").rglob("*.*")) == []
    assert list((desk.repo / ".git/objects").glob("tmp_obj*")) == []


def test_operations_pack_by_themselves(desk: Desk, person: Actor) -> None:
    with desk.open(maintain_at_loose=SMALL) as memory:
        assert observe(memory, person, 0, 60) == []
        assert memory.list(Filters()).status == "ok"
        assert not memory.check().rows
    assert loose(desk) < 5 * SMALL
    with desk.open() as memory:
        assert 1 <= len(list_packs(memory.vault.repo)) <= 6
    assert len(desk.commits()) == 61
    judge(desk)
    assert (desk.repo / ".git/objects/info/commit-graph").exists()


def test_it_can_be_left_out(desk: Desk, person: Actor) -> None:
    with desk.open(maintain_at_loose=0) as memory:
        observe(memory, person, 0, 20)
    assert loose(desk) > 100
    assert list((desk.repo / ".git/objects/pack").glob("*")) == []


def test_by_hand_everything_is_packed_and_told(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        observe(memory, person, 0, 10)
        before, count = objects(desk), loose(desk)
        (desk.repo / ".git/objects/tmp_obj_gitmemabc").touch()
        planned = memory.maintain(person, dry_run=True)[1]
        assert (planned.packed, planned.before.loose, planned.graph, planned.graph_new) == (count, count, 0, 1)
        receipt, done = memory.maintain(person)
        assert (receipt.op.value, receipt.changed, receipt.commit) == ("maintain", False, None)
        assert done == Maintenance(
            before=planned.before, after=done.after, packed=count, graph=11, graph_new=11, litter=1
        )
        assert (done.after.loose, done.after.packs) == (0, 1)
        assert done.after.bytes < done.before.bytes
        again = memory.maintain(person)[1]
        assert again == Maintenance(before=done.after, after=done.after, graph=11)
        assert memory.maintain(person, dry_run=True)[1].graph_new == 0
        assert memory.observe(draft("Afterwards"), person).changed
    assert objects(desk) > before
    judge(desk)


def test_what_a_person_staged_and_reset_stays(desk: Desk, person: Actor) -> None:
    (desk.repo / "staged.md").write_text("staged\n")
    desk.git("add", "staged.md")
    (desk.repo / "staged.md").write_text("staged and edited again\n")
    with desk.open() as memory:
        observe(memory, person, 0, 2)
        desk.git("commit", "-q", "--allow-empty", "-m", "to be reset")
        gone = desk.git("rev-parse", "HEAD").strip()
        desk.git("reset", "-q", "--soft", "HEAD~1")
        memory.maintain(person)
    assert desk.git("diff", "--cached", "--name-only") == "staged.md\n"
    assert desk.git("show", ":staged.md") == "staged\n"
    assert (desk.repo / "staged.md").read_text() == "staged and edited again\n"
    assert desk.git("cat-file", "-t", gone) == "commit\n"


def test_a_person_may_use_git_while_it_packs(desk: Desk, person: Actor) -> None:
    asked = []

    def probe(step: str) -> None:
        if step == "maintain-verify":
            (desk.repo / "own.md").write_text(f"mine, {len(asked)}\n")
            desk.git("add", "own.md")
            asked.append(desk.git("commit", "-q", "-m", "mine"))

    with desk.open(probe=probe, maintain_at_loose=SMALL) as memory:
        observe(memory, person, 0, 8)
    assert asked
    assert "mine" in desk.commits()
    judge(desk)


@pytest.fixture
def large(desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A vault whose catalog is larger than one file should hold, as far as is asked here."""
    monkeypatch.setattr(engine, "GROWTH", {1: (8000, 32), 32: (8000, 1024)})
    folder = desk.repo.parent / "notes"
    folder.mkdir()
    for number in range(60):
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\nText.\n")
    with desk.open(maintain_at_loose=0) as memory:
        memory.import_notes(str(folder), person)
        observe(memory, person, 0, 3)
    assert (desk.repo / "catalog.json").stat().st_size > 8000
    return desk


def test_a_catalog_that_has_grown_is_spread_over_more_files(large: Desk, person: Actor) -> None:
    manifest = json.loads((large.repo / "manifest.json").read_text()) | {"of-a-person": {"a": 1}}
    (large.repo / "manifest.json").write_text(json.dumps(manifest))
    large.git("commit", "-q", "-a", "-m", "an own member in the manifest")
    with large.open(maintain_at_loose=0) as memory:
        found = memory.list(Filters()).hits
        assert memory.status().diagnostics[-1].code == "maintain-due"
        receipt, done = memory.maintain(person, parse_op_id("the-growth"))
        assert receipt.changed
        assert memory.maintain(person, parse_op_id("the-growth"))[0] == receipt
        assert (done.shards_before, done.shards_after) == (1, 32)
        assert memory.list(Filters()).hits == found
        assert not memory.check().rows
        assert memory.observe(draft("Afterwards"), person).notices == ()
        assert not memory.check().rows
        assert memory.maintain(person)[0].changed is False
        assert memory.status().diagnostics == ()
    assert json.loads((large.repo / "manifest.json").read_text()) == manifest | {"catalog_shards": 32}
    assert 20 < len(list((large.repo / "catalog").glob("?.json"))) <= 32
    changed = large.git("show", "--format=", "--name-only", str(receipt.commit)).split()
    assert [path for path in changed if not path.startswith("catalog/")] == ["catalog.json", "manifest.json"]
    message = large.git("log", "-1", "--format=%B", str(receipt.commit))
    assert message.startswith("maintain: spread the catalog over 32 files\n")
    assert "Gitmem-Rule: maintain\n" in message
    judge(large)


def test_the_last_growth_is_left_to_the_command(
    make_desk: Callable[..., Desk], person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROWTH", {1: (500, 32), 32: (500, 1024)})
    desk = make_desk(catalog_shards=32)
    with desk.open(maintain_at_loose=SMALL) as memory:
        assert observe(memory, person, 0, 12) == []
        assert len(desk.commits()) == 13
        told = memory.status().diagnostics
        assert [one.message for one in told] == ["the catalog has outgrown 32 files; `gitmem maintain` looks after it"]
        assert memory.maintain(person)[1].shards_after == 1024
        assert not memory.check().rows
        assert memory.status().diagnostics == ()
    judge(desk)


def test_it_grows_by_itself_and_says_so(large: Desk, person: Actor) -> None:
    commits = len(large.commits())
    with large.open(maintain_at_loose=SMALL) as memory:
        said = memory.observe(draft("One more"), person).notices
    assert said == ("the catalog has grown and is spread over 32 files, in a commit of its own",)
    assert len(large.commits()) == commits + 2
    judge(large)


def test_where_it_can_not_grow_the_operation_stands(large: Desk, person: Actor) -> None:
    manifest = (large.repo / "manifest.json").read_text()
    (large.repo / "manifest.json").write_text(manifest + "\n")
    with large.open(maintain_at_loose=SMALL) as memory:
        receipt = memory.observe(draft("One more"), person)
        assert receipt.changed
        assert receipt.notices[0].startswith("the vault's storage could not be looked after: manifest.json has")
        with pytest.raises(StateError, match="uncommitted edits"):
            memory.maintain(person)
    assert (large.repo / "manifest.json").read_text() == manifest + "\n"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), UnavailableError("no-luck", "no luck")])
def test_a_failure_after_the_catalog_grew_is_a_notice_of_a_commit_that_stands(
    large: Desk, person: Actor, error: Exception
) -> None:
    def probe(step: str) -> None:
        if step == "maintain-pack":
            raise error

    commits = large.commits()
    with large.open(probe=probe, maintain_at_loose=0) as memory:
        receipt, done = memory.maintain(person, parse_op_id("the-growth"))
        assert memory.maintain(person, parse_op_id("the-growth"))[0].commit == receipt.commit
    assert receipt.commit == large.git("rev-parse", "HEAD").strip()
    assert large.commits() == ["maintain: spread the catalog over 32 files", *commits]
    assert receipt.notices == (
        f"committed, but the vault's storage could not be looked after: {error}; `gitmem maintain` goes on",
    )
    assert (done.shards_before, done.shards_after, done.packed) == (1, 32, 0)
    assert done.before.loose < done.after.loose
    with large.open() as memory:
        assert memory.maintain(person)[1].packed == done.after.loose
    judge(large)


def test_a_failure_without_a_commit_is_an_error_and_nothing_is_lost(desk: Desk, person: Actor) -> None:
    def probe(step: str) -> None:
        if step == "maintain-pack":
            raise OSError(28, "No space left on device")

    before = objects(desk)
    with desk.open(probe=probe) as memory, pytest.raises(UnavailableError) as caught:
        memory.maintain(person)
    assert (caught.value.code, caught.value.message) == ("disk", "the disk refused: No space left on device")
    assert caught.value.hint.startswith("Nothing was lost; the next `gitmem maintain` goes on. ")
    assert objects(desk) == before
    with desk.open() as memory:
        assert memory.maintain(person)[1].packed == len(before)
    judge(desk)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("something unheard of")])
def test_a_failure_is_a_notice_of_an_operation_that_stands(desk: Desk, person: Actor, error: Exception) -> None:
    def probe(step: str) -> None:
        if step == "maintain-pack":
            raise error

    with desk.open(probe=probe, maintain_at_loose=SMALL) as memory:
        said = observe(memory, person, 0, 8)
    assert said
    assert set(said) == {f"the vault's storage could not be looked after: {error}; `gitmem maintain` tries again"}
    assert len(desk.commits()) == 9
    with desk.open() as memory:
        memory.maintain(person)
    judge(desk)


def test_it_waits_for_git_gc(desk: Desk, person: Actor) -> None:
    import platform

    (desk.repo / ".git/gc.pid").write_text(f"{os.getpid()} {platform.node()}")
    with desk.open(maintain_at_loose=SMALL) as memory:
        assert observe(memory, person, 0, 8) == []
        _receipt, done = memory.maintain(person)
    assert done.packed == 0
    assert done.left_alone == (f"loose objects and packs: a git gc is under way (process {os.getpid()}; gc.pid)",)
    assert list((desk.repo / ".git/objects/pack").glob("*")) == []


def test_torn_objects_and_kept_packs_are_told(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        observe(memory, person, 0, 3)
        memory.maintain(person)
        (pack,) = (desk.repo / ".git/objects/pack").glob("*.pack")
        pack.with_suffix(".keep").touch()
        torn = desk.repo / ".git/objects/ab" / ("cd" * 19)
        torn.parent.mkdir(exist_ok=True)
        torn.touch()
        observe(memory, person, 3, 3)
        done = memory.maintain(person)[1]
    assert done.left_alone == (
        f"loose objects that are not what their names say: ab{'cd' * 19}; see `git fsck`",
        f"{pack.stem}: it has a .keep file",
    )
    assert (done.after.loose, done.after.packs) == (1, 2)


@pytest.mark.parametrize("state", ["branch", "merge", "gone"])
def test_a_vault_that_can_not_be_written_is_refused(desk: Desk, person: Actor, state: str) -> None:
    code = {"branch": "not-on-managed-branch", "merge": "git-operation-in-progress", "gone": "vault-missing"}[state]
    if state == "branch":
        desk.git("switch", "-q", "-c", "other")
    elif state == "merge":
        (desk.repo / ".git/MERGE_HEAD").write_text(desk.git("rev-parse", "HEAD"))
    else:
        desk.repo.rename(desk.repo.with_name("elsewhere"))
    with desk.open() as memory, pytest.raises(GitmemError) as caught:
        memory.maintain(person)
    assert caught.value.code == code
    assert isinstance(caught.value, UnavailableError if state == "gone" else StateError)


@pytest.mark.parametrize("step", MAINTAIN_STEPS)
def test_inv_old_or_new_killed_at_each_step_by_hand(desk: Desk, person: Actor, step: str) -> None:
    with desk.open(maintain_at_loose=0) as memory:
        for first in (0, 4):
            observe(memory, person, first, 4)
            memory.maintain(person)
        observe(memory, person, 8, 6)
    before, commits = objects(desk), desk.commits()
    assert run_killed(
        lambda **rest: desk.open(maintain_at_loose=0, **rest), step, lambda memory: memory.maintain(person)
    )
    assert objects(desk) == before
    with desk.open() as memory:
        assert memory.status().status == "ok"
        assert memory.observe(draft("The next command"), person).changed
        memory.maintain(person)
        assert not memory.check().rows
    assert objects(desk) > before
    assert desk.commits() == ["observe: The next command", *commits]
    assert loose(desk) == 0
    judge(desk)


@pytest.mark.parametrize("step", MAINTAIN_STEPS)
def test_inv_old_or_new_killed_at_each_step_of_what_runs_by_itself(desk: Desk, person: Actor, step: str) -> None:
    killed = run_killed(
        lambda **rest: desk.open(maintain_at_loose=SMALL, **rest), step, lambda memory: observe(memory, person, 0, 60)
    )
    assert killed
    commits = desk.commits()
    with desk.open() as memory:
        # The operation was whole before its maintenance began.
        receipts = [line for file in desk.runtime.glob("receipts/*") for line in file.read_text().splitlines()]
        assert json.loads(receipts[-1])["commit"] == desk.git("rev-parse", "HEAD").strip()
        assert len(memory.list(Filters()).hits) == len(commits) - 1
        memory.maintain(person)
        assert not memory.check().rows
    judge(desk)
    assert desk.commits() == commits


@pytest.mark.parametrize("step", ["journal", "write-next", "stage", "commit", "prove", "receipt", "index", "finish"])
def test_inv_old_or_new_killed_while_the_catalog_grows(large: Desk, person: Actor, step: str) -> None:
    commits = large.commits()
    nth = 2 if step != "write-next" else 9

    def work(memory: Memory) -> object:
        return memory.observe(draft("One more"), person)

    assert run_killed(lambda **rest: large.open(maintain_at_loose=SMALL, **rest), step, work, nth)
    with large.open(maintain_at_loose=0) as memory:
        assert memory.list(Filters()).status == "ok"
        assert not memory.check().rows
        memory.maintain(person)
        assert not memory.check().rows
    assert sorted(large.commits()) == sorted(
        ["maintain: spread the catalog over 32 files", "observe: One more", *commits]
    )
    judge(large)


def test_readers_in_other_processes_go_on_while_packs_come_and_go(
    desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MAX_MERGED_OBJECTS", 100_000)
    stop = desk.repo.parent / "stop"
    with desk.open() as memory:
        observe(memory, person, 0, 3)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(desk.repo), str(stop)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        with desk.open(maintain_at_loose=SMALL) as memory:
            observe(memory, person, 3, 60)
            memory.maintain(person)
    finally:
        stop.touch()
        said = [reader.communicate(timeout=120) for reader in readers]
    assert [err for _out, err in said] == ["", ""]
    assert all(int(out) > 0 for out, _err in said)
    judge(desk)


def test_two_writers_and_a_killed_one_lose_nothing(desk: Desk, person: Actor) -> None:
    children = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for number, step in enumerate(("", "maintain-remove-more", "maintain-place-index")):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    with desk.open(maintain_at_loose=SMALL, probe=Killer(step or "never", 2), lock_wait_s=60) as memory:
                        observe(memory, person, 100 * number, 30)
                    code = 0
                finally:
                    os._exit(code)
            children.append(pid)
    ends = [os.waitpid(pid, 0)[1] for pid in children]
    assert os.WIFEXITED(ends[0])
    assert os.WEXITSTATUS(ends[0]) == 0
    assert [os.WTERMSIG(end) for end in ends if os.WIFSIGNALED(end)] in ([signal.SIGKILL] * n for n in range(3))
    with desk.open(maintain_at_loose=SMALL) as memory:
        observe(memory, person, 400, 1)
        assert len(memory.list(Filters()).hits) == len(desk.commits()) - 1
        memory.maintain(person)
        assert not memory.check().rows
    assert len([one for one in desk.commits() if one in {f"observe: Thing {number}" for number in range(30)}]) == 30
    judge(desk)


def test_reading_packed_and_loose_gives_the_same(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        memory.declare(Draft("Never do that", "Really.", Kind.BOUNDARY), person)
        observe(memory, person, 0, 20)
        tip = memory.vault.head()
        repo = memory.vault.repo
        before = {path: repo.read_object(blob) for path, blob in repo.iter_files(tip)}
        memory.maintain(person)
        repo = memory.vault.repo
        assert {path: repo.read_object(blob) for path, blob in repo.iter_files(tip)} == before
    with desk.open() as memory:
        repo = memory.vault.repo
        assert {path: repo.read_object(blob) for path, blob in repo.iter_files(tip)} == before
