"""A person's plain ``git revert`` of one operation: clean where nothing was built on it, and mended by the next one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, StateError
from gitmem.model.change import Receipt
from gitmem.service.memory import Memory
from gitmem.wiring import run_doctor

from conftest import Desk, draft
from random_history import PERSON, Historian

OPERATIONS = 25
MIN_CLEAN_OF_100 = 97
SAMPLE = range(4)


def revert(desk: Desk, commit: str) -> str:
    """Revert ``commit`` as a person does: ``clean``, ``conflict`` or ``empty`` (there was nothing left to revert)."""
    desk.git("revert", "--no-edit", commit, check=False)
    if desk.git("log", "-1", "--format=%b").startswith(f"This reverts commit {commit}"):
        return "clean"
    conflicts = desk.git("diff", "--name-only", "--diff-filter=U")
    desk.git("revert", "--abort" if conflicts else "--skip", check=False)
    desk.git("reset", "--hard", "--quiet")
    return "conflict" if conflicts else "empty"


def tree_of_records(desk: Desk) -> dict[str, str]:
    lines = desk.git("ls-tree", "-r", "HEAD").splitlines()
    folders = ("baseline/", "observations/", "promoted/", "retired/")
    return {path: entry for entry, path in (line.split("\t") for line in lines) if path.startswith(folders)}


def is_free(memory: Memory, receipt: Receipt) -> bool:
    """Tell whether nothing was built on an operation, so that ``undo`` would take it back."""
    try:
        memory.find_undoing(receipt.op_id)
    except StateError:
        return False
    return True


def run_history(make_desk: Callable[..., Desk], folder: Path, patch: pytest.MonkeyPatch, seed: int) -> Counter[str]:
    """Make one history, revert one operation of each kind (free, built upon), and check what comes after."""
    desk = make_desk(f"vault-{seed}")
    outcomes: Counter[str] = Counter()
    with desk.open() as memory:
        historian = Historian(memory, seed, folder / f"notes-{seed}")
        with patch.context() as ids:
            ids.setattr("gitmem.model.ids.new_token", historian.new_token)
            done = historian.run(OPERATIONS)
        order = random.Random(seed).sample(done, len(done))
        free = next(one for one in order if is_free(memory, one))
        built_upon = next((one for one in order if not is_free(memory, one)), None)

        before = tree_of_records(desk)
        wanted = {edit.path: edit.after for edit in memory.find_undoing(free.op_id).edits}
        outcomes[f"free: {revert(desk, str(free.commit))}"] += 1
        if outcomes["free: clean"]:
            after = tree_of_records(desk)
            assert {path: one for path, one in after.items() if path not in wanted} == {
                path: one for path, one in before.items() if path not in wanted
            }
            for path, data in wanted.items():
                assert (desk.repo / path).exists() is (data is not None)
                assert data is None or (desk.repo / path).read_bytes() == data
        assert find_wrong(desk, memory) == set()
        if built_upon is not None:
            outcome = f"built upon: {revert(desk, str(built_upon.commit))}"
            wrong = find_wrong(desk, memory)
            assert wrong <= {"duplicate-id", "duplicate-key"}  # Git's own answer, and `check` says so
            outcomes[" but ".join([outcome, *sorted(wrong)])] += 1
    return outcomes


def find_wrong(desk: Desk, memory: Memory) -> set[str]:
    """Do the next operation; return the codes of all that ``check`` finds then but links that lead nowhere."""
    memory.observe(draft("The next thing"), PERSON)
    desk.judge()
    return {row["code"] for row in memory.check().rows} - {"broken-link"}


def run_all(
    make_desk: Callable[..., Desk], folder: Path, patch: pytest.MonkeyPatch, seeds: range
) -> tuple[int, Counter[str]]:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        outcomes += run_history(make_desk, folder, patch, seed)
    return outcomes["free: clean"], outcomes


def test_a_plain_revert_of_what_nothing_was_built_on_is_clean(
    make_desk: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, outcomes = run_all(make_desk, tmp_path, monkeypatch, SAMPLE)
    assert clean == len(SAMPLE), outcomes


@pytest.mark.slow
def test_a_plain_revert_is_clean_in_97_of_100_histories(
    make_desk: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, outcomes = run_all(make_desk, tmp_path, monkeypatch, range(100))
    print(dict(sorted(outcomes.items())))
    assert clean >= MIN_CLEAN_OF_100, outcomes


def test_a_revert_under_way_is_not_written_into(desk: Desk, memory: Memory) -> None:
    one = memory.observe(draft(), PERSON)
    memory.promote(one.records[0].id, PERSON)
    desk.git("revert", "--no-edit", str(one.commit), check=False)
    with pytest.raises(GitmemError) as refused:
        memory.undo(one.op_id, PERSON)
    assert refused.value.code == "built-upon"
    with pytest.raises(GitmemError) as refused:
        memory.observe(draft("Another"), PERSON)
    assert refused.value.code == "git-operation-in-progress"
    desk.git("revert", "--abort")
    assert find_wrong(desk, memory) == set()


def test_doctor_says_what_a_clone_or_an_old_vault_lacks(desk: Desk) -> None:
    def rows() -> dict[str, str]:
        codes = ("directory-renames", "views-in-conflict")
        return {
            row["code"]: row["hint"]
            for row in run_doctor(desk.home, desk.home, str(desk.repo)).rows
            if row["code"] in codes
        }

    assert rows() == {}
    desk.git("config", "--unset", "merge.directoryRenames")
    (desk.repo / ".gitattributes").write_text("* -text\nINDEX.md merge=union\n")
    desk.git("commit", "--quiet", "--all", "--message", "As it was")
    assert rows() == {
        "directory-renames": "Run `git config merge.directoryRenames false` in the vault.",
        "views-in-conflict": "Add these lines to .gitattributes and commit it: "
        "catalog.json merge=union, catalog/*.json merge=union.",
    }
