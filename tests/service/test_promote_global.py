"""Promotion to the global vault: one operation in each vault under one id, whatever happens between the two."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError
from gitmem.model.authority import Action, Actor, Proof, Surface
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options
from gitmem.transaction.apply import hold_vault
from gitmem.transaction.ground import HANDOVER_STEPS, STEPS
from gitmem.transaction.receipts import append_receipt
from gitmem.wiring import make_vault, open_memory

from conftest import Desk, draft
from crash import run_killed
from signing_ground import make_key, needs_openssh

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid", session="s1")
OP = parse_op_id("the-operation")


@dataclass(frozen=True)
class Home:
    """A home with a workspace and the global vault."""

    here: Desk
    there: Desk

    def open(self, where: str = "acme", **options: object) -> Memory:
        return open_memory(self.here.home, self.here.home, where, Options(**options))  # type: ignore[arg-type]

    @property
    def pending(self) -> list[str]:
        return sorted(path.name for path in Path(self.here.home, "pending").glob("*"))

    def judge(self) -> None:
        """Assert that both vaults are sound, and that nothing waits."""
        self.here.judge()
        self.there.judge()
        assert self.pending == []


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = str(tmp_path / "home")
    desks = []
    for wanted in (NewVault(Scope.WORKSPACE, path=str(tmp_path / "acme"), name="acme"), NewVault(Scope.GLOBAL)):
        entry, _receipt = make_vault(root, wanted, PERSON)
        desks.append(Desk(root, Path(entry.path), Path(entry.runtime)))
    return Home(*desks)


@pytest.fixture
def acme(home: Home) -> Iterator[Memory]:
    with home.open() as memory:
        yield memory


def observe(memory: Memory, title: str = "Run tests with two workers", body: str = "More starve the database.") -> str:
    seen = Draft(title, body, Kind.FACT, tags=("tool/pytest",), evidence=("file:src/a.py#L3", "run:make test"))
    return memory.observe(seen, AGENT).records[0].id


def where(home: Home, record_id: str) -> tuple[str, str]:
    """Return the state of the record in the workspace's vault and in the global one, empty where it has none."""
    found = []
    for name in ("acme", "global"):
        with home.open(name) as memory:
            listed = memory.list(Filters(states=tuple(State))).hits
            found.append(next((hit.record.state.value for hit in listed if hit.record.id == record_id), ""))
    return found[0], found[1]


def fails(memory: Memory, refs: list[str], actor: Actor = PERSON, op: str | None = None) -> tuple[str, str, str]:
    with pytest.raises(GitmemError) as raised:
        memory.promote_to_global(refs, actor, None if op is None else parse_op_id(op))
    return raised.value.code, raised.value.message, raised.value.hint


def test_the_record_goes_and_each_vault_says_so(home: Home, acme: Memory) -> None:
    one = observe(acme)
    before = acme.show(one).hits[0].record

    done = acme.promote_to_global([one], PERSON, OP)

    home.judge()
    name = before.path.rpartition("/")[2]
    month = before.path.split("/")[1]
    assert [(ref.id, ref.path) for ref in done.there.records] == [(one, f"promoted/{name}")]
    assert [(ref.id, ref.path) for ref in done.here.records] == [(one, f"retired/{month}/{name}")]
    assert (done.name, done.here.op_id, done.there.op_id) == ("global", OP, OP)
    with home.open("global") as shared:
        record = shared.show(one).hits[0].record
        told = shared.vault.repo.read_blob(shared.vault.head(), record.path)
    assert told is not None
    today = (record.updated or "")[:10]
    assert told.decode() == (
        f"---\ngitmem_id: {one}\ntitle: Run tests with two workers\nkind: fact\nsummary: More starve the database.\n"
        "authority: workspace_evidence\ntags:\n  - tool/pytest\n"
        f"created: {record.created}\nupdated: {record.updated}\nsource: cli/s1\n"
        f"evidence:\n  - file:src/a.py#L3\n  - run:make test\nverified: {today}\npromoted_from: acme\n"
        "---\n\nMore starve the database.\n"
    )
    here = acme.show(one).hits[0].record
    assert here.properties["promoted_to"] == "global"
    assert (here.fingerprint != before.fingerprint, here.body) == (True, before.body)
    for desk, other in ((home.there, acme.vault.entry.vault_id), (home.here, shared.vault.entry.vault_id)):
        assert desk.git("log", "-1", "--format=%s") == "promote: Run tests with two workers\n"
        trailers = desk.git("log", "-1", "--format=%(trailers:unfold)")
        assert f"Gitmem-Op-Id: {OP}\nGitmem-Record: {one}\nGitmem-Surface: human\n" in trailers
        assert f"Gitmem-Rule: promote-global\nGitmem-Other-Vault: {other}\n" in trailers
    assert home.there.git("log", "-1", "--format=%b").startswith(
        "More starve the database.\nFrom the workspace acme.\n"
    )


def test_what_was_promoted_in_the_workspace_may_go_on_to_the_global_vault(home: Home, acme: Memory) -> None:
    one = observe(acme)
    acme.promote(one, PERSON)

    acme.promote_to_global([one], PERSON)

    home.judge()
    assert where(home, one) == ("retired", "promoted")


def test_it_is_found_once_from_the_workspace(home: Home, acme: Memory) -> None:
    one = observe(acme)
    acme.promote_to_global([one], PERSON)

    hits = acme.recall("How many workers for the tests?").hits

    assert [(hit.record.id, hit.vault.name if hit.vault else "") for hit in hits] == [(one, "global")]
    assert acme.list(Filters()).hits == ()


def test_a_model_is_told_that_it_needs_a_person_and_nothing_is_written(home: Home, acme: Memory) -> None:
    one = observe(acme)

    assert fails(acme, [one], AGENT)[0] == "needs-human"
    assert fails(acme, [one], replace(PERSON, proof=Proof.PROMPT)) == (
        "needs-human",
        "a prompt in a host changes nothing that is declared, and nothing in the global vault",
        "Run it at a terminal and type the code that it shows.",
    )

    assert where(home, one) == ("observation", "")
    home.judge()


def test_links_that_lead_nowhere_there_become_text(home: Home, acme: Memory) -> None:
    first = observe(acme, "The first of two", "See [[nowhere]].")
    name = acme.show(first).hits[0].record.stem
    body = f"As [[{name}|the first]] says, and [[gone]], [it](../x.md), ![[plan.png|300]], [web](https://x.example/).\n"
    second = observe(acme, "The second of them", body + "`[[code]]` and [[#Here]] stay.\n\n# Here")

    acme.promote_to_global([first], PERSON)
    done = acme.promote_to_global([second], PERSON)

    with home.open("global") as shared:
        assert shared.show(first).extra["body"].strip() == "See nowhere."
        assert shared.show(first).hits[0].record.summary == "See nowhere."
        assert shared.show(second).extra["body"].strip() == (
            f"As [[{name}|the first]] says, and gone, it, plan.png, [web](https://x.example/).\n"
            "`[[code]]` and [[#Here]] stay.\n\n# Here"
        )
        assert [row["code"] for row in shared.check().rows] == []
    assert done.there.notices == ("3 links to what only this workspace has became plain text there",)


def test_several_go_together_and_keep_their_links(home: Home, acme: Memory) -> None:
    first = observe(acme, "The cache lives in Redis", "Five minutes.")
    name = acme.show(first).hits[0].record.stem
    second = observe(acme, "Payments are tried again", f"Thrice; see [[{name}]].")

    done = acme.promote_to_global([first, second], PERSON)

    home.judge()
    assert [ref.id for ref in done.there.records] == [first, second]
    assert home.here.commits()[0] == home.there.commits()[0] == "promote: 2 records"
    with home.open("global") as shared:
        assert shared.show(second).extra["body"].strip() == f"Thrice; see [[{name}]]."


def test_asked_again_under_its_id_it_answers_the_same(home: Home, acme: Memory) -> None:
    one, other = observe(acme), observe(acme, "Another thing", "Of no importance.")
    done = acme.promote_to_global([one], PERSON, OP)

    again = acme.promote_to_global([one], PERSON, OP)

    assert (again.here.commit, again.there.commit) == (done.here.commit, done.there.commit)
    assert fails(acme, [other], op=OP)[0] == "op-id-reused"
    with pytest.raises(GitmemError, match="belongs to another, earlier promote"):
        acme.promote(other, PERSON, OP)
    assert where(home, other) == ("observation", "")


def test_what_cannot_go_is_told_and_nothing_is_written(home: Home, acme: Memory) -> None:
    goal = acme.declare(Draft("Release 2.0", kind=Kind.GOAL), PERSON).records[0].id
    retired, one = observe(acme, "An old thing", "Gone by now."), observe(acme)
    acme.retire(retired, "gone", PERSON)
    (home.here.repo / "observations" / "secret.md").write_text("---\ngitmem_id: pr1vate00001\nprivate: true\n---\n")
    acme.adopt([], PERSON)
    revisions = (home.here.git("rev-parse", "HEAD"), home.there.git("rev-parse", "HEAD"))

    assert fails(acme, [goal]) == (
        "baseline-kind",
        "'Release 2.0' is a goal: only a declaration makes one global",
        "Declare it there: `gitmem --vault global declare`. Then retire the one here.",
    )
    assert fails(acme, [retired]) == ("already-retired", "'An old thing' is retired", "Restore it first.")
    assert fails(acme, ["pr1vate00001"])[:2] == ("private-record", "the record pr1vate00001 is private")
    assert fails(acme, [one, goal])[0] == "bad-records"
    with home.open("global") as shared:
        assert fails(shared, [one])[:2] == ("already-global", "this is the global vault")
    assert (home.here.git("rev-parse", "HEAD"), home.there.git("rev-parse", "HEAD")) == revisions
    home.judge()


def test_what_the_global_vault_has_already_is_not_written_twice(home: Home, acme: Memory) -> None:
    with home.open("global") as shared:
        same = shared.observe(draft("Run tests with two workers", "More starve the database."), AGENT).records[0].id
        keyed = Draft("Some other thing", "Entirely.", evidence=("run:1",), key="cache-ttl")
        shared.observe(keyed, AGENT)
    one = observe(acme)
    two = acme.observe(replace(keyed, title="The lifetime of the cache", body="Five minutes."), AGENT).records[0].id

    assert fails(acme, [one]) == (
        "near-duplicate",
        f"the global vault has a record that says the same: 'Run tests with two workers' ({same})",
        "Edit that one, if this one says more, and retire the one here.",
    )
    assert fails(acme, [two])[0] == "key-taken"
    assert where(home, two) == ("observation", "")
    home.judge()


def test_a_record_that_came_back_here_is_not_sent_twice(home: Home, acme: Memory) -> None:
    one = observe(acme)
    acme.promote_to_global([one], PERSON, OP)
    undone = acme.undo(OP, PERSON)
    assert undone.notices == (
        f"the record stays promoted there; `gitmem undo {OP}` in the global vault takes that half back",
    )
    assert where(home, one) == ("observation", "promoted")

    assert fails(acme, [one])[0] == "id-taken"
    with home.open("global") as shared:
        shared.retire(one, "not for all", PERSON)
    assert fails(acme, [one])[2] == f"Restore it there: `gitmem --vault global restore {one}`."


def test_each_half_is_undone_in_its_own_vault(home: Home, acme: Memory) -> None:
    one = observe(acme)
    before = acme.show(one).hits[0].record
    acme.promote_to_global([one], PERSON, OP)

    with home.open("global") as shared:
        undone = shared.undo(OP, PERSON)
    assert undone.notices == (
        f"the record stays retired there; `gitmem undo {OP}` in the workspace's vault takes that half back",
    )
    assert where(home, one) == ("retired", "")
    acme.undo(OP, PERSON)

    assert acme.show(one).hits[0].record == before
    assert where(home, one) == ("observation", "")
    home.judge()


def test_a_missing_global_vault_is_told(tmp_path: Path, desk: Desk, memory: Memory) -> None:
    one = observe(memory)
    assert fails(memory, [one])[:2] == ("no-global-vault", "there is no global vault")

    make_vault(desk.home, NewVault(Scope.GLOBAL), PERSON)
    Path(desk.home, "global", "repo").rename(tmp_path / "elsewhere")
    assert fails(memory, [one])[0] == "vault-missing"
    assert not Path(desk.home, "global", "repo").exists()


def test_an_edit_that_waits_in_either_vault_stops_it_before_anything_is_written(home: Home, acme: Memory) -> None:
    one = observe(acme)
    file = home.here.repo / acme.show(one).hits[0].record.path
    whole = file.read_bytes()
    file.write_bytes(whole + b"More.\n")
    assert fails(acme, [one])[0] == "dirty-path"
    file.write_bytes(whole)
    taken = home.there.repo / "promoted" / file.name
    taken.parent.mkdir(exist_ok=True)
    taken.write_text("A note of mine.\n")

    assert fails(acme, [one])[0] == "path-taken"

    taken.unlink()
    home.judge()


@pytest.mark.parametrize("again", ["acme", "global", "same"])
@pytest.mark.parametrize("vault", [1, 2])
@pytest.mark.parametrize("step", STEPS)
def test_inv_old_or_new_killed_at_any_step_both_or_none(home: Home, step: str, vault: int, again: str) -> None:
    with home.open() as memory:
        one = observe(memory)
    nth = {"write-next": 4, "lock": 2}.get(step, vault) if vault == 2 else 1
    if not run_killed(home.open, step, lambda memory: memory.promote_to_global([one], PERSON, OP), nth):
        pytest.skip("not reached")

    settle_and_judge(home, one, again)


@pytest.mark.parametrize("again", ["acme", "global", "same"])
@pytest.mark.parametrize("step", HANDOVER_STEPS)
def test_inv_old_or_new_killed_between_the_vaults_both_or_none(home: Home, step: str, again: str) -> None:
    with home.open() as memory:
        one = observe(memory)
    assert run_killed(home.open, step, lambda memory: memory.promote_to_global([one], PERSON, OP))

    settle_and_judge(home, one, again)


def settle_and_judge(home: Home, one: str, again: str) -> None:
    if again == "same":
        with home.open() as memory:
            memory.promote_to_global([one], PERSON, OP)
    else:
        with home.open(again) as memory:
            memory.status()
    found = where(home, one)
    assert found in ([("retired", "promoted")] if again == "same" else [("observation", ""), ("retired", "promoted")])
    home.judge()
    commits = [desk.git("log", f"--grep=Gitmem-Op-Id: {OP}", "--format=%h").split() for desk in (home.here, home.there)]
    assert [len(one) for one in commits] == ([1, 1] if found[1] else [0, 0])
    with home.open() as memory:
        memory.promote_to_global([one], PERSON, OP)
    assert where(home, one) == ("retired", "promoted")
    home.judge()
    with home.open() as memory:
        receipt = memory.promote_to_global([one], PERSON, OP)
        row = memory.log().rows[0]
    assert (row["actor"], row["surface"], row["op_id"], receipt.here.commit) == (
        "Pat Person",
        "human",
        OP,
        home.here.git("rev-parse", "HEAD").strip(),
    )


def test_an_edit_in_the_last_moment_leaves_it_half_done_and_the_next_command_completes_it(home: Home) -> None:
    with home.open() as memory:
        one = observe(memory)
        file = home.here.repo / memory.show(one).hits[0].record.path
    whole = file.read_bytes()

    def edit(step: str) -> None:
        if step == "handover-second":
            file.write_bytes(whole + b"More.\n")

    with home.open(probe=edit) as memory:
        told = fails(memory, [one], op=OP)
    assert told[0] == "half-done"
    assert told[1].startswith("it is in the global vault, but still in use here: ")
    assert told[2] == ("Mend that; the next command on either vault completes it. `gitmem status` says what is left.")
    file.write_bytes(whole)

    with home.open() as memory:
        assert memory.promote_to_global([one], PERSON, OP).here.changed
    assert where(home, one) == ("retired", "promoted")
    home.judge()


def test_refused_in_the_last_moment_nothing_is_left(home: Home) -> None:
    with home.open() as memory:
        one = observe(memory)
        name = Path(memory.show(one).hits[0].record.path).name
    taken = home.there.repo / "promoted" / name

    def take(step: str) -> None:
        if step == "clean":
            taken.parent.mkdir(exist_ok=True)
            taken.write_text("A note of mine.\n")

    with home.open(probe=take) as memory:
        assert fails(memory, [one], op=OP)[0] == "path-taken"

    taken.unlink()
    assert where(home, one) == ("observation", "")
    home.judge()


_PROMOTE = """
import sys
from gitmem.errors import GitmemError
from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import parse_op_id
from gitmem.service.vault import Options
from gitmem.wiring import open_memory
home, where, op, *ids = sys.argv[1:]
person = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
with open_memory(home, home, where, Options(lock_wait_s=60)) as memory:
    for one in ids:
        try:
            memory.promote_to_global([one], person, parse_op_id(op) if op else None)
            print("done")
        except GitmemError as error:
            print(error.code)
"""


def start(home: Home, place: str, op: str, ids: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _PROMOTE, home.here.home, place, op, *ids]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_workspaces_at_once_never_wait_for_each_other(home: Home, tmp_path: Path) -> None:
    titles = ["apples", "bread", "cider", "dates", "eggs", "flour", "grapes", "honey"]
    make_vault(home.here.home, NewVault(Scope.WORKSPACE, path=str(tmp_path / "beta"), name="beta"), PERSON)
    ids: dict[str, list[str]] = {}
    for place in ("acme", "beta"):
        with home.open(place) as memory:
            ids[place] = [observe(memory, f"About {title} in {place}", f"{title} {place}") for title in titles]

    running = [start(home, place, "", ids[place][at::2]) for place in ids for at in (0, 1)]
    told = [one.communicate(timeout=120)[0].split() for one in running]

    assert told == [["done"] * 4] * 4
    home.judge()
    with home.open("global") as shared:
        assert sorted(hit.record.id for hit in shared.list(Filters()).hits) == sorted([*ids["acme"], *ids["beta"]])
    for place in ids:
        with home.open(place) as memory:
            assert memory.list(Filters()).hits == ()


@pytest.mark.parametrize("op", ["", "the-operation"])
def test_the_same_record_asked_for_at_once_goes_once(home: Home, acme: Memory, op: str) -> None:
    one = observe(acme)

    running = [start(home, "acme", op, [one]) for _ in range(4)]
    told = [process.communicate(timeout=120)[0].split() for process in running]

    done = told.count(["done"])
    assert done == (4 if op else 1), told
    assert where(home, one) == ("retired", "promoted")
    assert home.there.commits().count("promote: Run tests with two workers") == 1
    home.judge()


def break_between(home: Home) -> str:
    with home.open() as memory:
        one = observe(memory)
    assert run_killed(home.open, "handover-second", lambda memory: memory.promote_to_global([one], PERSON, OP))
    return one


def test_a_reader_finishes_it_and_says_so(home: Home) -> None:
    one = break_between(home)

    with home.open("global") as shared:
        told = shared.status().diagnostics

    assert [(problem.code, problem.message) for problem in told] == [
        (
            "recovered",
            f"finished the operation {OP}: Run tests with two workers went to the global vault and is retired here",
        )
    ]
    assert where(home, one) == ("retired", "promoted")


def test_what_was_changed_meanwhile_stays_and_is_told_until_a_person_decides(home: Home) -> None:
    one = break_between(home)
    file = next((home.here.repo / "observations").rglob("*.md"))
    file.write_bytes(file.read_bytes() + b"More.\n")
    path = file.relative_to(home.here.repo)
    half = (
        f"the operation {OP} of two vaults is half done: 'Run tests with two workers' ({path}) was changed since it "
        "went to the global vault: retire it here"
    )

    for name in ("acme", "global"):
        with home.open(name) as memory:
            assert [one.message for one in memory.status().diagnostics if one.code == "half-done"] == [half]
    with home.open() as memory:
        hits = memory.recall("How many workers for the tests?").hits
        assert [hit.record.id for hit in hits] == [one]
        assert fails(memory, [one], op=OP)[:2] == (
            "half-done",
            f"the operation {OP} was carried out in the global vault alone",
        )
        memory.adopt([], PERSON)
        memory.retire(one, "it is global now", PERSON)
        assert [one.code for one in memory.status().diagnostics] == []
    assert where(home, one) == ("retired", "promoted")
    home.judge()


def test_undone_in_the_global_vault_meanwhile_it_stays_in_the_workspace(home: Home) -> None:
    one = break_between(home)
    with open_memory(home.here.home, home.here.home, "global") as shared:
        shared.vault.options = Options(home=home.here.home)  # a gitmem that knows nothing of it
        shared.undo(OP, PERSON)

    with home.open() as memory:
        memory.status()

    assert where(home, one) == ("observation", "")
    home.judge()


@needs_openssh
def test_where_people_sign_both_halves_are_signed(home: Home, tmp_path: Path) -> None:
    key = make_key(tmp_path, "pat")
    for place in ("acme", "global"):
        with home.open(place) as memory:
            memory.add_key(key, None, PERSON)
    with home.open() as memory:
        one, two = observe(memory), observe(memory, "Another thing", "Of no importance.")
        memory.promote_to_global([one], PERSON)
    for desk in (home.here, home.there):
        assert "Gitmem-Signed-By: SHA256:" in desk.git("log", "-1", "--format=%(trailers)")

    work = run_killed(home.open, "handover-second", lambda memory: memory.promote_to_global([two], PERSON, OP))
    assert work
    Path(key).rename(tmp_path / "elsewhere")
    with home.open() as memory:  # nobody who can't sign finishes what a person began
        assert [problem.code for problem in memory.status().diagnostics if problem.code == "half-done"] == ["half-done"]
    assert where(home, two) == ("observation", "promoted")
    (tmp_path / "elsewhere").rename(key)
    with home.open() as memory:
        memory.status()
    assert where(home, two) == ("retired", "promoted")
    home.judge()
    for place in ("acme", "global"):
        with home.open(place) as memory:
            assert memory.verify().extra["verdict"] == "proven"


def test_a_forged_file_retires_nothing(home: Home, acme: Memory) -> None:
    one, other = observe(acme), observe(acme, "Another thing", "Of no importance.")
    acme.promote_to_global([one], PERSON, OP)
    found = acme.show(other).hits[0].record
    with home.open("global") as shared:
        target = shared.vault.entry.vault_id
        seen = shared.observe(draft("Seen by a model", "Only."), AGENT)
    forged = {
        "format": 1,
        "op_id": "forged",
        "source": acme.vault.entry.vault_id,
        "target": target,
        "actor": {name: str(value) for name, value in vars(PERSON).items() if name != "shown"},
        "request": "",
        "time": "2026-12-01T00:00:00Z",
        "records": [{"id": other, "path": found.path, "fingerprint": found.fingerprint}],
    }
    folder = Path(home.here.home, "pending")
    folder.mkdir(exist_ok=True)

    for op_id in ("forged", str(OP), str(seen.op_id)):
        (folder / f"{op_id}.json").write_text(json.dumps(forged | {"op_id": op_id}))
        acme.status()
        assert where(home, other)[0] == "observation", op_id
    (folder / "broken.json").write_text("{")
    assert [problem.code for problem in acme.status().diagnostics] == ["half-done", "half-done"]
    assert where(home, other)[0] == "observation"


def test_what_a_crash_left_of_writing_it_down_goes(home: Home, acme: Memory) -> None:
    folder = Path(home.here.home, "pending")
    folder.mkdir(mode=0o700)
    (folder / "op.json.4711.tmp").write_text('{"format": 1, "op_')

    with home.open("global") as shared, hold_vault(shared.vault.ground, shared.vault.tools(), "somebody's promotion"):
        acme.status()
        assert home.pending == ["op.json.4711.tmp"]  # it may be under way
    assert acme.status().diagnostics == ()

    assert home.pending == []


def test_what_is_written_down_holds_no_text_of_the_record_and_only_the_person_can_read_it(home: Home) -> None:
    break_between(home)
    (file,) = Path(home.here.home, "pending").iterdir()

    assert (oct(file.stat().st_mode & 0o777), oct(file.parent.stat().st_mode & 0o777)) == ("0o600", "0o700")
    assert "workers starve" not in file.read_text()
    assert sorted(json.loads(file.read_bytes())["records"][0]) == ["fingerprint", "id", "path"]


@pytest.mark.parametrize("has_receipt", [False, True], ids=["trailers", "a receipt"])
def test_inv_boundaries_a_forged_file_takes_no_boundary_along(home: Home, acme: Memory, *, has_receipt: bool) -> None:
    kept = acme.declare(Draft("Never push", kind=Kind.BOUNDARY), PERSON).records[0]
    found = acme.show(kept.id).hits[0].record
    seen = acme.show(observe(acme)).hits[0].record
    note = (home.here.repo / seen.path).read_text().replace(seen.id, kept.id)
    (home.there.repo / "promoted/it.md").write_text(note)
    home.there.git("add", "--all")
    trailers = {
        "Op": "promote",
        "Op-Id": OP,
        "Record": kept.id,
        "Surface": "human",
        "Actor": PERSON.name,
        "Format": "1",
    }
    message = "promote: it\n\n" + "\n".join(f"Gitmem-{name}: {value}" for name, value in trailers.items())
    home.there.git("commit", "-q", "-m", message)
    if has_receipt:
        with home.open("global") as shared:
            vault = shared.vault
            ref = RecordRef(kept.id, parse_vault_path("promoted/it.md"), State.PROMOTED)
            receipt = Receipt(Action.PROMOTE, OP, vault.head(), changed=True, records=(ref,), actor=PERSON.name)
            append_receipt(vault.layout, replace(receipt, surface="human"))
    forged = {
        "format": 1,
        "op_id": str(OP),
        "source": acme.vault.entry.vault_id,
        "target": home_id(home),
        "actor": {name: str(value) for name, value in vars(PERSON).items() if name != "shown"},
        "request": "",
        "time": "2026-12-01T00:00:00Z",
        "records": [{"id": kept.id, "path": found.path, "fingerprint": found.fingerprint}],
    }
    folder = Path(home.here.home, "pending")
    folder.mkdir(exist_ok=True)
    (folder / f"{OP}.json").write_text(json.dumps(forged))
    why = "is none that can go to the global vault" if has_receipt else "the global vault has no receipt of it"
    assert [problem.code for problem in acme.status().diagnostics if why in problem.message] == ["half-done"]
    assert where(home, kept.id)[0] == "baseline"


def home_id(home: Home) -> str:
    with home.open("global") as shared:
        return shared.vault.entry.vault_id
