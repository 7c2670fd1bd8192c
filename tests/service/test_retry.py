"""The same operation id gives the same answer, whatever became of the vault, and never stands for two requests."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, PolicyError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import OpId, parse_op_id
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.plan import digest
from gitmem.service.query import Filters
from gitmem.service.retry import describe_request, given_fields
from gitmem.transaction.searched import MAX_NEW_COMMITS
from gitmem.wiring import make_vault, open_memory

from conftest import Desk, draft, git
from crash import run_killed

K = parse_op_id("k-1")


class Case:
    """One verb under an op id: what it needs beforehand, the request, and the same with something else asked."""

    def __init__(
        self,
        ask: Callable[[Memory, Actor, str, OpId | None], Receipt],
        other: Callable[[Memory, Actor, str, OpId | None], Receipt] | None,
        prepare: Callable[[Desk, Memory, Actor, str], object] = lambda _desk, _memory, _person, _ref: None,
    ) -> None:
        self.ask, self.other, self.prepare = ask, other, prepare


def _declared(title: str) -> Draft:
    return Draft(title, kind=Kind.GOAL)


def _write(desk: Desk, path: str, text: str) -> None:
    (desk.repo / path).write_text((desk.repo / path).read_text() + text if (desk.repo / path).exists() else text)


def _adoptable(desk: Desk, memory: Memory, _person: Actor, ref: str) -> None:
    _write(desk, memory.show(ref).hits[0].record.path, "A person's line.\n")
    _write(desk, "promoted/mine.md", "# Mine\n")


def _make_notes(desk: Desk, count: int) -> None:
    folder = desk.repo.parent / "notes"
    for number in range(count):
        (folder / f"part {number % 3}").mkdir(parents=True, exist_ok=True)
        (folder / f"part {number % 3}" / f"note {number}.md").write_text(f"Note {number}.\n")


def _import(memory: Memory, person: Actor, op_id: OpId | None, kind: Kind | None = None) -> Receipt:
    folder = str(Path(memory.vault.layout.repo).parent / "notes")
    receipt = memory.import_notes(folder, person, kind=kind, op_id=op_id).receipt
    assert receipt is not None
    return receipt


def _retire_first(_desk: Desk, memory: Memory, person: Actor, ref: str) -> None:
    memory.retire(ref, "outdated", person)


def _break_views(desk: Desk, _memory: Memory, _person: Actor, _ref: str) -> None:
    (desk.repo / "INDEX.md").write_text("mine\n")
    desk.git("commit", "-qam", "a backup")


_SUCCESSOR = "the-newer"
CASES = {
    "observe": Case(
        lambda memory, who, _ref, k: memory.observe(replace(draft("New"), key="a-key"), who, k),
        lambda memory, who, _ref, k: memory.observe(replace(draft("New"), key="another-key"), who, k),
    ),
    "declare": Case(
        lambda memory, who, _ref, k: memory.declare(_declared("New"), who, k),
        lambda memory, who, _ref, k: memory.declare(_declared("Newer"), who, k),
    ),
    "edit": Case(
        lambda memory, who, ref, k: memory.edit(ref, RecordEdit(body="First."), who, k),
        lambda memory, who, ref, k: memory.edit(ref, RecordEdit(body="First.", add_tags=("x",)), who, k),
    ),
    "promote": Case(
        lambda memory, who, ref, k: memory.promote(ref, who, k),
        lambda memory, who, _ref, k: memory.promote(_SUCCESSOR, who, k),
    ),
    "retire": Case(
        lambda memory, who, ref, k: memory.retire(ref, "outdated", who, _SUCCESSOR, k),
        lambda memory, who, _ref, k: memory.retire(_SUCCESSOR, "outdated", who, None, k),
    ),
    "restore": Case(
        lambda memory, who, ref, k: memory.restore(ref, who, k),
        lambda memory, who, _ref, k: memory.restore(_SUCCESSOR, who, k),
        _retire_first,
    ),
    "adopt": Case(
        lambda memory, who, _ref, k: memory.adopt((), who, k),
        lambda memory, who, _ref, k: memory.adopt(("promoted",), who, k),
        _adoptable,
    ),
    "import": Case(
        lambda memory, who, _ref, k: _import(memory, who, k),
        lambda memory, who, _ref, k: _import(memory, who, k, Kind.FINDING),
        lambda desk, _memory, _who, _ref: _make_notes(desk, 4),
    ),
    "import of many": Case(
        lambda memory, who, _ref, k: _import(memory, who, k),
        lambda memory, who, _ref, k: _import(memory, who, k, Kind.FINDING),
        lambda desk, _memory, _who, _ref: _make_notes(desk, 60),
    ),
    "repair": Case(lambda memory, who, _ref, k: memory.repair_views(who, k), None, _break_views),
}


def _keep(desk: Desk) -> Desk:
    return desk


def _lose_runtime(desk: Desk) -> Desk:
    shutil.rmtree(desk.runtime)
    return desk


def _clone(desk: Desk) -> Desk:
    place = desk.repo.parent / "clone"
    git(desk.repo.parent, "clone", "-q", str(desk.repo), str(place))
    return Desk(str(desk.repo.parent / "another home"), place, place)


SITUATIONS = {"receipts are there": _keep, "the runtime is lost": _lose_runtime, "a clone": _clone}


def same(one: Receipt, other: Receipt) -> bool:
    """Tell whether two receipts give the same answer; that one was made from history may be said."""
    return replace(one, notices=(), time="") == replace(other, notices=(), time="")


def go_on(memory: Memory, person: Actor, records: tuple[RecordRef, ...]) -> None:
    """Let later operations change, move and retire what an operation touched."""
    for ref in records[:2]:
        memory.edit(ref.id, RecordEdit(summary="Changed later."), person)
        if ref.state is State.OBSERVATION:
            memory.promote(ref.id, person)
        if ref.state is not State.RETIRED:
            memory.retire(ref.id, "later", person)
    memory.observe(draft("Something later"), person)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("verb", CASES)
def test_a_retry_gives_the_same_answer_whatever_came_after(
    desk: Desk, memory: Memory, person: Actor, verb: str, situation: str
) -> None:
    case = CASES[verb]
    memory.observe(replace(draft("The newer one"), key=_SUCCESSOR), person)
    ref = memory.observe(draft("The older one"), person).records[0].id
    case.prepare(desk, memory, person, ref)
    first = case.ask(memory, person, ref, K)
    assert first.changed
    go_on(memory, person, first.records)
    memory.close()
    there = SITUATIONS[situation](desk)
    before = (there.git("rev-parse", "HEAD"), there.git("status", "--porcelain"))
    with there.open() as later:
        assert same(case.ask(later, person, ref, K), first)
        with pytest.raises(InputError) as refused:
            later.observe(draft("A third"), person, K) if case.other is None else case.other(later, person, ref, K)
    assert refused.value.code == "op-id-reused"
    assert (there.git("rev-parse", "HEAD"), there.git("status", "--porcelain")) == before


@pytest.mark.parametrize("verb", CASES)
def test_a_retry_after_a_kill_behind_the_commit_gives_the_answer_of_the_first(
    desk: Desk, person: Actor, verb: str
) -> None:
    case = CASES[verb]
    with desk.open() as memory:
        memory.observe(replace(draft("The newer one"), key=_SUCCESSOR), person)
        ref = memory.observe(draft("The older one"), person).records[0].id
        case.prepare(desk, memory, person, ref)
    assert run_killed(desk.open, "receipt", lambda memory: case.ask(memory, person, ref, K))
    commit = desk.git("rev-parse", "HEAD").strip()
    with desk.open() as memory:
        again = case.ask(memory, person, ref, K)
        assert (again.commit, again.changed) == (commit, True)
        assert case.ask(memory, person, ref, K) == again


@pytest.mark.parametrize("at", ["commit", "receipt"])
@pytest.mark.parametrize("verb", CASES)
def test_inv_one_commit_when_two_ask_at_the_same_moment_under_one_id(
    desk: Desk, person: Actor, verb: str, at: str
) -> None:
    case = CASES[verb]
    with desk.open() as memory:
        memory.observe(replace(draft("The newer one"), key=_SUCCESSOR), person)
        ref = memory.observe(draft("The older one"), person).records[0].id
        case.prepare(desk, memory, person, ref)
    commits = len(desk.commits())
    committed, go = threading.Event(), threading.Event()
    answers: list[Receipt] = []

    def wait(step: str) -> None:
        if step == at:  # its files are in place, and nothing says yet whose they are; or the branch has moved, too
            committed.set()
            go.wait(30)

    def be_first() -> None:
        with desk.open(probe=wait) as memory:
            answers.append(case.ask(memory, person, ref, K))

    looks: list[str] = []

    def let_go(step: str) -> None:
        looks.append(step)
        if looks.count("lock") == 2:  # the first look is for what a crash left, and does not wait
            go.set()

    first = threading.Thread(target=be_first)
    first.start()
    assert committed.wait(30)
    try:
        with desk.open(probe=let_go) as memory:
            answers.append(case.ask(memory, person, ref, K))
    finally:
        go.set()
        first.join()
    assert same(answers[0], answers[1])
    assert answers[0].changed
    assert len(desk.commits()) == commits + 1


def test_what_changed_nothing_changes_nothing_when_asked_again_later(desk: Desk, memory: Memory, person: Actor) -> None:
    ref = memory.observe(draft(), person).records[0].id
    wanted = RecordEdit(body=draft().body)
    first = memory.edit(ref, wanted, person, K)
    assert (first.changed, first.commit) == (False, None)
    memory.edit(ref, RecordEdit(body="Another text."), person)
    assert memory.edit(ref, wanted, person, K) == first
    with pytest.raises(InputError) as refused:
        memory.edit(ref, RecordEdit(body="A third text."), person, K)
    assert refused.value.code == "op-id-reused"
    assert len(desk.commits()) == 3
    memory.observe(draft("Another"), person)
    desk.judge()


def test_what_was_refused_leaves_its_id_free(desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
    with pytest.raises(PolicyError):
        memory.observe(replace(draft(), evidence=()), agent, K)
    with pytest.raises(InputError):
        memory.observe(Draft(""), person, K)
    assert memory.observe(draft("Another"), person, K).changed
    assert len(desk.commits()) == 2


def test_an_answer_does_not_depend_on_who_asks_again(memory: Memory, person: Actor, agent: Actor) -> None:
    ref = memory.observe(draft(), person).records[0].id
    assert memory.promote(ref, person, K) == memory.promote(ref, agent, K)


@pytest.mark.parametrize("op_id", ["lock", "index", "HEAD", "0", "a-", "_" * 0 + "A" * 64, "con", "a--b__c"])
def test_any_id_of_the_allowed_form_works(desk: Desk, memory: Memory, person: Actor, op_id: str) -> None:
    assert memory.observe(draft(), person, parse_op_id(op_id)).op_id == op_id
    desk.judge()


@pytest.mark.parametrize("text", ["", "-a", "_a", "a b", "a.b", "a/b", "../a", "a\n", "é", "A" * 65, "a:b"])
def test_an_id_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_op_id(text)
    assert refused.value.code == "bad-op-id"


def test_a_secret_as_an_id_is_refused(desk: Desk, memory: Memory, person: Actor) -> None:
    with pytest.raises(PolicyError) as refused:
        memory.observe(draft(), person, parse_op_id("ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEF0123"))
    assert refused.value.code == "secret-found"
    assert len(desk.commits()) == 1


def test_the_commit_says_what_was_asked_as_a_digest(desk: Desk, memory: Memory, person: Actor) -> None:
    receipt = memory.observe(draft(), person, K)
    said = desk.git("log", "-1", "--format=%(trailers:key=Gitmem-Request,valueonly)").strip()
    assert said == receipt.request == digest(describe_request(kind="fact", **given_fields(replace(draft(), kind=None))))
    assert len(said) == 16


def test_what_is_not_asked_for_does_not_count() -> None:
    assert describe_request(ref="a", reason=None) == describe_request(ref="a")
    assert describe_request(a=1, b=2) == describe_request(b=2, a=1)
    assert given_fields(RecordEdit()) == {}
    assert given_fields(RecordEdit(body="")) == {"body": ""}
    assert given_fields(RecordEdit(properties={"x": None})) == {"properties": {"x": None}}


def test_an_amended_commit_still_answers_for_its_operation(desk: Desk, memory: Memory, person: Actor) -> None:
    first = memory.observe(draft(), person, K)
    desk.git("commit", "-q", "--amend", "--no-edit", "--date=2020-01-01T00:00:00Z")
    memory.close()
    again = _lose_runtime(desk)
    with again.open() as later:
        found = later.observe(draft(), person, K)
    assert (found.records, found.commit) == (first.records, desk.git("rev-parse", "HEAD").strip())


def test_history_is_walked_once_and_not_for_each_named_operation(desk: Desk, memory: Memory, person: Actor) -> None:
    first = memory.observe(draft(), person, K)
    for number in range(MAX_NEW_COMMITS):
        desk.git("commit", "-q", "--allow-empty", "-m", f"commit {number}")
    memory.close()
    clone = _clone(desk)
    with clone.open() as later:
        later.observe(draft("In the clone"), person, parse_op_id("k-2"))
        runtime = Path(later.vault.layout.runtime)
        kept = (runtime / "searched.json").read_bytes()
        assert K in json.loads(kept)["op_ids"]
        later.observe(draft("Another"), person, parse_op_id("k-3"))
        assert (runtime / "searched.json").read_bytes() == kept
        assert same(later.observe(draft(), person, K), first)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tip": "x"}', '{"tip": "' + "0" * 40 + '", "op_ids": []}'])
def test_what_is_remembered_of_history_may_be_damaged(desk: Desk, memory: Memory, person: Actor, text: str) -> None:
    first = memory.observe(draft(), person, K)
    memory.close()
    _lose_runtime(desk).runtime.mkdir()
    (desk.runtime / "searched.json").write_text(text)
    with desk.open() as later:
        assert same(later.observe(draft(), person, K), first)


def test_an_operation_that_was_taken_out_of_history_may_be_asked_for_anew(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    for number in range(MAX_NEW_COMMITS):
        desk.git("commit", "-q", "--allow-empty", "-m", f"commit {number}")
    first = memory.observe(draft(), person, K)
    memory.close()
    clone = _clone(desk)
    with clone.open() as later:
        assert same(later.observe(draft(), person, K), first)  # history is remembered
    clone.git("reset", "-q", "--hard", "HEAD~1")
    with clone.open() as later:
        again = later.observe(draft(), person, K)
    assert again.changed
    assert not same(again, first)


def test_a_vault_that_is_made_again_under_its_id_gives_the_same_answer(tmp_path: Path, person: Actor) -> None:
    home = str(tmp_path / "home")
    wanted = NewVault(Scope.WORKSPACE, path=str(tmp_path / "vault"))
    entry, first = make_vault(home, wanted, person, K)
    assert (first.op, first.op_id, first.changed) == (Action.INIT, K, True)
    for ask_home in (home, str(tmp_path / "another home")):
        assert make_vault(ask_home, wanted, person, K)[0].vault_id == entry.vault_id
        assert same(make_vault(ask_home, wanted, person, K)[1], first)
        with pytest.raises(InputError) as refused:
            make_vault(ask_home, replace(wanted, name="other"), person, K)
        assert refused.value.code == "op-id-reused"
    unchanged = make_vault(home, wanted, person, parse_op_id("k-2"))[1]
    assert (unchanged.op_id, unchanged.changed) == ("k-2", False)
    with open_memory(home, home, entry.path) as memory, pytest.raises(GitmemError) as refused:
        memory.observe(draft(), person, K)
    assert refused.value.code == "op-id-reused"


def test_two_who_make_the_vault_of_one_project_at_once_make_one(tmp_path: Path, person: Actor) -> None:
    home, project = str(tmp_path / "home"), tmp_path / "project"
    project.mkdir()
    for wanted in (
        NewVault(Scope.WORKSPACE, project=str(project)),
        NewVault(Scope.GLOBAL),
        NewVault(Scope.WORKSPACE, path=str(tmp_path / "vault")),
    ):
        start = threading.Barrier(4)
        made: list[tuple[str, Receipt]] = []

        def make(number: int, wanted: NewVault = wanted, start: threading.Barrier = start) -> None:
            start.wait()
            # For a vault at a path of its own each has another home, and so no lock in common.
            entry, receipt = make_vault(f"{home}{number}" if wanted.path else home, wanted, person, K)
            made.append((entry.vault_id, replace(receipt, notices=(), time="")))  # noqa: B023

        makers = [threading.Thread(target=make, args=(number,)) for number in range(4)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        assert len(made) == 4
        assert len(set(made)) == 1


def test_a_dry_run_is_no_operation(desk: Desk, memory: Memory, person: Actor) -> None:
    _make_notes(desk, 2)
    folder = str(desk.repo.parent / "notes")
    memory.import_notes(folder, person, op_id=K)
    report = memory.import_notes(folder, person, dry_run=True, op_id=K)
    assert (report.receipt, [one.code for one in report.left_out]) == (None, ["path-taken", "path-taken"])
    assert len(memory.list(Filters()).hits) == 2
