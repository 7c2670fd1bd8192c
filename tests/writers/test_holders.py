"""Who holds the vault, stopped at any step or in another worktree: others wait for a bounded time and are told who."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import StateError, UnavailableError
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.service.memory import Memory
from gitmem.transaction.ground import STEPS
from gitmem.vault.lock import FOLDER
from gitmem.wiring import open_memory

from conftest import Desk, draft, git

HELD = [step for step in STEPS if step not in ("lock", "write-next")]


def stop_at(open_memory: Callable[..., Memory], step: str, work: Callable[[Memory], object]) -> int:
    """Do ``work`` in a child that stops itself (SIGSTOP) at ``step``; return its process id when it has stopped."""

    def stop(found: str) -> None:
        if found == step:
            os.kill(os.getpid(), signal.SIGSTOP)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with open_memory(probe=stop) as memory:
                work(memory)
            code = 0
        finally:
            os._exit(code)
    _pid, status = os.waitpid(pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), "it ended before it reached the step"
    return pid


def go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
    _pid, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def assert_told(pid: int, memory: Memory, person: Actor) -> None:
    with pytest.raises(UnavailableError) as refused:
        memory.observe(draft("Another"), person)
    assert refused.value.code == "vault-busy"
    assert f"process {pid} (observe " in refused.value.message
    assert ", since 2" in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("ending", [go_on, kill])
@pytest.mark.parametrize("step", HELD)
def test_a_stopped_holder_is_named_and_then_everything_goes_on(
    desk: Desk, person: Actor, step: str, ending: Callable[[int], None]
) -> None:
    pid = stop_at(desk.open, step, lambda memory: memory.observe(draft(), person))
    try:
        with desk.open(lock_wait_s=0.05) as memory:
            assert_told(pid, memory, person)
    finally:
        ending(pid)
    with desk.open() as memory:
        memory.observe(draft("Another"), person)
    subjects = desk.commits()
    assert subjects[0] == "observe: Another"
    finished = ending is go_on or step in ("prove", "receipt", "index", "finish")
    assert len(subjects) == (3 if finished else 2)
    desk.judge()


@pytest.mark.parametrize("what", ["lock", ""])
def test_a_lock_that_is_deleted_under_an_operation_lets_nobody_in(desk: Desk, person: Actor, what: str) -> None:
    pid = stop_at(desk.open, "commit", lambda memory: memory.observe(draft(), person))
    place = desk.repo / ".git" / FOLDER / what
    place.unlink() if what else shutil.rmtree(place)
    try:
        with desk.open(lock_wait_s=0.05) as memory, pytest.raises(UnavailableError) as refused:
            memory.observe(draft("Another"), person)
    finally:
        go_on(pid)
    assert refused.value.code == "vault-busy"
    with desk.open() as memory:
        memory.observe(draft("Another"), person)
    assert desk.commits()[:2] == ["observe: Another", "observe: Run tests with two workers"]
    desk.judge()


def test_a_linked_worktree_shares_the_lock_and_writes_only_on_the_managed_branch(desk: Desk, person: Actor) -> None:
    linked = desk.repo.parent / "linked"
    desk.git("worktree", "add", "-q", "-b", "side", str(linked))

    def open_linked(**options: object) -> Memory:
        return Desk(desk.home, linked, desk.runtime).open(**options)

    with open_linked() as memory, pytest.raises(StateError) as refused:
        memory.observe(draft(), person)
    assert refused.value.code == "not-on-managed-branch"
    pid = stop_at(desk.open, "clean", lambda memory: memory.observe(draft(), person))
    try:
        with open_linked(lock_wait_s=0.05) as memory:
            assert_told(pid, memory, person)
    finally:
        go_on(pid)
    desk.git("switch", "-q", "-c", "elsewhere")
    git(linked, "switch", "-q", "main")
    with open_linked() as memory:  # now the linked one is on the managed branch
        receipt = memory.observe(draft("From the linked worktree"), person)
    assert git(linked, "rev-parse", "HEAD").strip() == receipt.commit
    assert git(linked, "status", "--porcelain") == ""
    with desk.open() as memory, pytest.raises(StateError) as refused:
        memory.observe(draft(), person)
    assert refused.value.code == "not-on-managed-branch"
    assert desk.git("status", "--porcelain") == ""


def _separate(desk: Desk) -> Desk:
    desk.git("init", "-q", "--separate-git-dir", str(desk.repo.parent / "elsewhere.git"))
    return desk


def _through_a_link(desk: Desk) -> Desk:
    link = desk.repo.parent / "link"
    link.symlink_to(desk.repo)
    return Desk(desk.home, link, desk.runtime)


def _from_another_home(desk: Desk) -> Desk:
    return Desk(str(desk.repo.parent / "another home"), desk.repo, desk.runtime)


WAYS: dict[str, Callable[[Desk], Desk]] = {
    "a separate git directory": _separate,
    "a symbolic link on the way": _through_a_link,
    "another home": _from_another_home,
}


def assert_one_lock(desk: Desk, other: Desk, person: Actor) -> None:
    """Assert that two ways to one vault share its lock, and that both write, each in turn and at once."""
    for holder, waiter in ((desk, other), (other, desk)):
        pid = stop_at(holder.open, "clean", lambda memory: memory.observe(draft(), person))
        try:
            with waiter.open(lock_wait_s=0.05) as memory:
                assert_told(pid, memory, person)
        finally:
            go_on(pid)
    made: list[Receipt] = []

    def write(way: Desk) -> None:
        with way.open(lock_wait_s=120.0) as memory:
            made.extend(memory.observe(draft(f"Number {number}"), person) for number in range(5))

    writers = [threading.Thread(target=write, args=(way,)) for way in (desk, other)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({receipt.commit for receipt in made}) == 10
    assert len(desk.commits()) == 13
    assert desk.git("fsck", "--strict", "--no-dangling") == ""
    assert desk.git("status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_vault_shares_its_lock(desk: Desk, person: Actor, way: str) -> None:
    assert_one_lock(desk, WAYS[way](desk), person)


def test_a_bind_mount_shares_the_lock(desk: Desk, person: Actor, tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    done = subprocess.run(["mount", "--bind", str(desk.repo), str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no bind mounts here: {done.stderr.strip()}")
    try:
        assert_one_lock(desk, Desk(str(tmp_path / "container"), place, desk.runtime), person)
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_memory_that_was_opened_before_a_fork_works_in_both(desk: Desk, person: Actor) -> None:
    with desk.open(lock_wait_s=120.0) as memory:
        memory.observe(draft("Before"), person)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for number in range(3):
                    memory.observe(draft(f"Child {number}"), person)
                code = 0
            finally:
                os._exit(code)
        for number in range(3):
            memory.observe(draft(f"Parent {number}"), person)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(desk.commits()) == 8
    desk.judge()


IN_FLIGHT: dict[str, Callable[[Memory, Actor, str], object]] = {
    "observe": lambda memory, person, _ref: memory.observe(draft("In flight"), person),
    "promote": lambda memory, person, ref: memory.promote(ref, person),
    "retire": lambda memory, person, ref: memory.retire(ref, "outdated", person),
}


@pytest.mark.parametrize("verb", IN_FLIGHT)
def test_inv_people_first_what_another_operation_puts_in_place_is_not_adopted(
    desk: Desk, person: Actor, verb: str
) -> None:
    with desk.open() as memory:
        ref = memory.observe(draft(), person).records[0].id
    (desk.repo / "promoted" / "mine.md").write_text("# Mine\n")
    waiting, go = threading.Event(), threading.Event()

    def wait(step: str) -> None:
        if step == "commit":
            waiting.set()
            go.wait(60)

    def work() -> None:
        with desk.open(probe=wait) as memory:
            IN_FLIGHT[verb](memory, person, ref)

    looks: list[str] = []

    def let_go(step: str) -> None:
        looks.append(step)
        if looks.count("lock") == 2:  # the first look is for what a crash left, and does not wait
            go.set()

    other = threading.Thread(target=work)
    other.start()
    assert waiting.wait(60)
    try:
        with desk.open(probe=let_go, lock_wait_s=120.0) as memory:
            receipt = memory.adopt((), person)
    finally:
        go.set()
        other.join()
    assert [one.path for one in receipt.records] == ["promoted/mine.md"]
    assert [subject.partition(":")[0] for subject in desk.commits()] == ["adopt", verb, "observe", "init"]
    desk.judge()


def test_what_two_adopt_at_once_is_committed_once(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        path = memory.observe(draft(), person).records[0].path
    note = desk.repo / path
    note.write_text(note.read_text().replace("updated: ", "was-updated: ") + "A person's line.\n")

    def adopt_first(step: str) -> None:
        looks.append(step)
        if step == "lock" and looks.count("lock") == 2:  # it has looked, and is about to commit
            with desk.open() as first:
                first.adopt((), person)

    looks: list[str] = []
    with desk.open(probe=adopt_first) as memory, pytest.raises(StateError) as refused:
        memory.adopt((), person)
    assert refused.value.code == "stale"
    assert len(desk.commits()) == 3
    desk.judge()


def test_a_file_that_goes_while_it_is_looked_at_is_no_damage(desk: Desk, person: Actor) -> None:
    folder = desk.repo / "promoted"
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            for number in range(20):
                (folder / f"{number}.md").write_text("here\n")
            for number in range(20):
                (folder / f"{number}.md").unlink()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        with open_memory(desk.home, desk.home, str(desk.repo)) as memory:
            told = {memory.status().status.value for _ in range(20)}
    finally:
        stop.set()
        other.join()
    assert told == {"ok"}
