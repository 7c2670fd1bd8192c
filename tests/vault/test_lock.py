"""One writer a repository, in order; nobody waits longer than was asked, whatever is stopped, deleted or forked."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.clock import SystemClock
from gitmem.errors import UnavailableError
from gitmem.vault.lock import FOLDER, QUEUE_PLACES, hold_lock
from gitmem.vault.os_lock import try_lock, try_lock_folder

LONG_S = 60.0


class JumpingClock(SystemClock):
    """Each look at it is ``LONG_S`` later: as if the first wait had taken all the time."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic_s(self) -> float:
        self.looks += 1
        return self.looks * LONG_S


def lock_file(common_dir: Path) -> Path:
    return common_dir / FOLDER / "lock"


def is_free(common_dir: Path) -> bool:
    try:
        with hold_lock(str(common_dir), "a look", timeout_s=0):
            return True
    except UnavailableError:
        return False


def fork(work: Callable[[], None]) -> int:
    """Run ``work`` in a child; return its process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


@contextmanager
def held_by_child(common_dir: Path) -> Iterator[int]:
    """A child process holds the lock inside the block, unless it is killed; yields its process id."""
    said, telling = os.pipe()
    waiting, ending = os.pipe()

    def hold() -> None:
        os.close(ending)
        with hold_lock(str(common_dir), "observe abc"):
            os.write(telling, b"x")
            os.read(waiting, 1)

    pid = fork(hold)
    os.close(waiting)
    os.read(said, 1)
    try:
        yield pid
    finally:
        os.close(ending)
        os.waitpid(pid, 0)
        os.close(said)
        os.close(telling)


def test_the_second_of_two_is_told_who_holds_the_vault_doing_what_since_when(tmp_path: Path) -> None:
    with hold_lock(str(tmp_path), "observe abc"):
        with pytest.raises(UnavailableError) as caught, hold_lock(str(tmp_path), "other", timeout_s=0):
            pass
        assert caught.value.code == "vault-busy"
        assert re.fullmatch(
            rf"another operation holds the vault: process {os.getpid()} "
            r"\(observe abc, since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)",
            caught.value.message,
        )
    assert is_free(tmp_path)
    assert lock_file(tmp_path).read_bytes() == b""


def test_all_waits_together_last_no_longer_than_asked(tmp_path: Path) -> None:
    with hold_lock(str(tmp_path), "observe abc"):
        begin_s = time.monotonic()
        with pytest.raises(UnavailableError), hold_lock(str(tmp_path), "other", LONG_S, JumpingClock()):
            pass
        assert time.monotonic() - begin_s < LONG_S / 2


@pytest.mark.parametrize("place", range(QUEUE_PLACES))
def test_a_stopped_waiter_does_not_keep_the_others_from_a_free_vault(tmp_path: Path, place: int) -> None:
    with hold_lock(str(tmp_path), "makes the folders"):
        pass
    stopped = try_lock(str(tmp_path / FOLDER / "queue" / str(place)))
    assert stopped is not None
    with hold_lock(str(tmp_path), "observe abc", timeout_s=0.02):
        pass
    stopped.release()


def test_waiters_are_served_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    served: list[int] = []

    def wait(number: int) -> None:
        with hold_lock(str(tmp_path), f"waiter {number}", LONG_S):
            served.append(number)

    waiters = [threading.Thread(target=wait, args=(number,)) for number in range(QUEUE_PLACES)]
    with hold_lock(str(tmp_path), "first"):
        for number, waiter in enumerate(waiters):
            waiter.start()
            while is_place_free(tmp_path, number):  # each has its place before the next one comes
                time.sleep(0.001)
    for waiter in waiters:
        waiter.join()
    assert served == list(range(QUEUE_PLACES))


def is_place_free(common_dir: Path, place: int) -> bool:
    folder = common_dir / FOLDER / "queue"
    lock = try_lock(str(folder / str(place))) if folder.exists() else None
    if lock is not None:
        lock.release()
    return lock is not None or not folder.exists()


def test_two_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(50):
            with hold_lock(str(tmp_path), "thread", LONG_S):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (100, 1)


DELETIONS: dict[str, Callable[[Path], object]] = {
    "the lock file": lambda common_dir: lock_file(common_dir).unlink(),
    "the whole folder": lambda common_dir: shutil.rmtree(common_dir / FOLDER),
    "the lock file, and another came": lambda common_dir: (
        lock_file(common_dir).rename(common_dir / "gone"),
        lock_file(common_dir).write_bytes(b"{}"),
    ),
}


@pytest.mark.parametrize("what", DELETIONS)
def test_deleting_the_lock_while_it_is_held_gives_no_second_holder(tmp_path: Path, what: str) -> None:
    with held_by_child(tmp_path) as pid:
        DELETIONS[what](tmp_path)
        with pytest.raises(UnavailableError) as refused, hold_lock(str(tmp_path), "other", timeout_s=0.05):
            pass
        assert refused.value.code == "vault-busy"
        os.kill(pid, signal.SIGKILL)
    assert is_free(tmp_path)


def test_a_file_that_was_replaced_while_it_was_locked_counts_as_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    file = tmp_path / "lock"
    real = fcntl.flock

    def replaced(fd: int, how: int) -> None:
        real(fd, how)
        monkeypatch.undo()
        file.unlink()
        file.write_bytes(b"")

    monkeypatch.setattr(fcntl, "flock", replaced)
    assert try_lock(str(file)) is None
    lock = try_lock(str(file))
    assert lock is not None
    lock.release()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_goes_with_its_holder(tmp_path: Path, sent: signal.Signals) -> None:
    with held_by_child(tmp_path) as pid:
        assert not is_free(tmp_path)
        os.kill(pid, sent)
    assert is_free(tmp_path)


def test_what_a_dead_holder_left_in_the_file_names_nobody_wrongly(tmp_path: Path) -> None:
    with held_by_child(tmp_path) as pid:
        os.kill(pid, signal.SIGKILL)
    left = json.loads(lock_file(tmp_path).read_bytes())
    assert (left["pid"], left["what"]) == (pid, "observe abc")
    guard = try_lock_folder(str(tmp_path))  # somebody who has not written its name yet
    assert guard is not None
    with pytest.raises(UnavailableError) as refused, hold_lock(str(tmp_path), "other", timeout_s=0):
        pass
    assert "of which only a child is left" in refused.value.message
    for text in (json.dumps(left | {"boot": "before"}), "", "[]", "{", '{"pid": 99999999999999999999}'):
        lock_file(tmp_path).write_text(text)
        with pytest.raises(UnavailableError) as refused, hold_lock(str(tmp_path), "other", timeout_s=0):
            pass
        assert refused.value.message == "another operation holds the vault: an unknown process"
    guard.release()


def test_a_child_that_was_forked_while_the_lock_is_held_does_not_let_it_go(tmp_path: Path) -> None:
    lock = hold_lock(str(tmp_path), "observe abc")
    lock.__enter__()
    os.waitpid(fork(lambda: lock.__exit__(None, None, None)), 0)
    assert not is_free(tmp_path)
    lock.__exit__(None, None, None)
    assert is_free(tmp_path)


def test_a_child_that_lives_on_does_not_keep_the_lock(tmp_path: Path) -> None:
    waiting, ending = os.pipe()

    def live() -> None:
        os.close(ending)
        os.read(waiting, 1)

    with hold_lock(str(tmp_path), "observe abc"):
        pid = fork(live)
    assert is_free(tmp_path)
    os.close(ending)
    os.waitpid(pid, 0)
    os.close(waiting)


@pytest.mark.parametrize("name", ["lock", "queue/0"])
def test_a_folder_in_a_locks_place_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "gitmem" / name).mkdir(parents=True)
    with pytest.raises(UnavailableError) as raised, hold_lock(str(tmp_path), "test"):
        pass
    assert raised.value.code == "disk"


def test_a_lock_that_cant_be_made_is_told_as_the_disks_refusal(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file in the way")
    with pytest.raises(UnavailableError) as caught, hold_lock(str(tmp_path), "observe abc", timeout_s=0):
        pass
    assert caught.value.code == "disk"
