"""Undo: the exact inverse of one operation, or a refusal that names who built on it, with nothing written."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.plan import digest
from gitmem.service.retry import describe_request
from gitmem.wiring import make_vault

from conftest import Desk, draft
from random_history import PERSON, Historian

FOLDERS = ("baseline", "observations", "promoted", "retired")
OTHER_AGENT = Actor(Surface.MODEL, "another", "another@agents.gitmem.invalid")
OP = parse_op_id("the-undo")


def snapshot(desk: Desk, *, with_views: bool = True) -> dict[str, bytes]:
    """Return the bytes of every file, or of the lifecycle folders alone."""
    found = {}
    for path in desk.repo.rglob("*"):
        inside = path.relative_to(desk.repo)
        if path.is_file() and inside.parts[0] != ".git" and (with_views or inside.parts[0] in FOLDERS):
            found[str(inside)] = path.read_bytes()
    return found


def refuse(memory: Memory, ref: str, actor: Actor, desk: Desk) -> GitmemError:
    """Undo what must be refused; assert that nothing at all was written, and return the error."""
    before = snapshot(desk), desk.git("rev-parse", "HEAD"), desk.git("status", "--porcelain")
    with pytest.raises(GitmemError) as refused:
        memory.undo(ref, actor)
    assert (snapshot(desk), desk.git("rev-parse", "HEAD"), desk.git("status", "--porcelain")) == before
    assert desk.leftovers() == []
    return refused.value


@dataclass(frozen=True)
class Ground:
    """A vault with two observations, a promoted, a retired and a baseline record, and a folder of notes."""

    memory: Memory
    desk: Desk
    ids: dict[str, str]
    notes: Path

    def adopt(self, path: str, text: str | None) -> Receipt:
        place = self.desk.repo / path
        if text is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return self.memory.adopt([], PERSON)

    def path(self, name: str) -> str:
        return self.memory.show(self.ids[name], to_person=True).hits[0].record.path

    def text(self, name: str) -> str:
        return (self.desk.repo / self.path(name)).read_text()


@pytest.fixture
def ground(desk: Desk, memory: Memory, tmp_path: Path) -> Ground:
    ids = {name: memory.observe(draft(name.title()), PERSON).records[0].id for name in ("one", "two", "three", "four")}
    ids["goal"] = memory.declare(Draft("Ship weekly", kind=Kind.GOAL), PERSON).records[0].id
    memory.promote(ids["three"], PERSON)
    memory.retire(ids["four"], "outdated", PERSON, ids["two"])
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    for name in ("First", "sub/First"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nText.\n")
    return Ground(memory, desk, ids, notes)


CASES: dict[str, Callable[[Ground], Receipt]] = {
    "observe": lambda on: on.memory.observe(draft("New"), PERSON),
    "declare": lambda on: on.memory.declare(Draft("Never push", kind=Kind.BOUNDARY), PERSON),
    "edit": lambda on: on.memory.edit(on.ids["three"], RecordEdit(title="T", body="New text."), PERSON),
    "edit to private": lambda on: on.memory.edit(on.ids["three"], RecordEdit(properties={"private": True}), PERSON),
    "promote": lambda on: on.memory.promote(on.ids["one"], PERSON),
    "retire": lambda on: on.memory.retire(on.ids["three"], "old", PERSON),
    "retire for another": lambda on: on.memory.retire(on.ids["one"], "old", PERSON, on.ids["three"]),
    "restore": lambda on: on.memory.restore(on.ids["four"], PERSON),
    "import": lambda on: on.memory.import_notes(str(on.notes), PERSON, state=State.PROMOTED).receipt,  # type: ignore[dict-item, return-value]
    "adopt an edit": lambda on: on.adopt(on.path("one"), on.text("one") + "More.\n"),
    "adopt a new note": lambda on: on.adopt("promoted/mine.md", "Mine.\n"),
    "adopt a deletion": lambda on: on.adopt(on.path("one"), None),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_undo_brings_the_exact_bytes_back_and_undoing_that_redoes(
    ground: Ground, case: Callable[[Ground], Receipt]
) -> None:
    desk, memory = ground.desk, ground.memory
    before = snapshot(desk)
    done = case(ground)
    after = snapshot(desk)
    undone = memory.undo(done.op_id, PERSON)
    assert (undone.op, undone.changed) == (Action.UNDO, True)
    assert {ref.id for ref in undone.records} == {ref.id for ref in done.records}
    assert snapshot(desk) == before
    redone = memory.undo(undone.op_id, PERSON)
    assert snapshot(desk) == after
    memory.undo(redone.op_id, PERSON)
    assert snapshot(desk) == before
    assert [row for row in memory.check().rows if row["severity"] == "error"] == []
    desk.judge()


def test_the_commit_says_what_was_undone(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    record_id, path = done.records[0].id, done.records[0].path
    undone = memory.undo(done.op_id, replace(person, session="s9"))
    time = memory.log().rows[1]["time"]
    assert desk.git("log", "-1", "--format=%B") == (
        "undo: observe: Run tests with two workers\n"
        "\n"
        f"Takes back observe {done.op_id} of {time} by Pat\n"
        "Person (human).\n"
        "\n"
        "Gitmem-Op: undo\n"
        f"Gitmem-Op-Id: {undone.op_id}\n"
        f"Gitmem-Record: {record_id}\n"
        "Gitmem-Surface: human\n"
        "Gitmem-Actor: Pat Person\n"
        "Gitmem-Proof: code\n"
        "Gitmem-Authority: workspace_evidence\n"
        "Gitmem-Host: cli\n"
        "Gitmem-Session: s9\n"
        "Gitmem-Rule: undo-human\n"
        f"Gitmem-Undoes: {done.op_id}\n"
        f"Gitmem-Request: {digest(describe_request(ref=done.op_id))}\n"
        "Gitmem-Format: 1\n"
        "\n"
    )
    assert [(ref.id, ref.path, ref.state) for ref in undone.records] == [(record_id, path, None)]
    rows = memory.log().rows
    assert [(row["op"], row["undoes"], row["undone_by"]) for row in rows] == [
        ("undo", done.op_id, None),
        ("observe", None, undone.op_id),
        ("init", None, None),
    ]


def test_an_undone_undo_does_not_count_in_the_log(memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    undone = memory.undo(done.op_id, person)
    redone = memory.undo(undone.op_id, person)
    wanted = [(redone.op_id, None), (undone.op_id, redone.op_id), (done.op_id, None)]
    for rows in (memory.log(done.records[0].id).rows, memory.log().rows[:3]):
        assert [(row["op_id"], row["undone_by"]) for row in rows] == wanted


def test_an_operation_is_named_by_its_id_its_beginning_or_its_commit(memory: Memory, person: Actor) -> None:
    for name in (lambda one: one.op_id, lambda one: one.op_id[:4], lambda one: one.commit, lambda one: one.commit[:7]):
        done = memory.observe(draft(), person)
        assert memory.undo(name(done), person).records[0].id == done.records[0].id


def test_what_names_no_single_operation_is_refused(desk: Desk, memory: Memory, person: Actor) -> None:
    first = memory.observe(draft("One"), person, parse_op_id("retry-2026-1"))
    memory.observe(draft("Two"), person, parse_op_id("retry-2026-2"))
    memory.observe(draft("Three"), person, parse_op_id("ret"))
    assert refuse(memory, "retr-", person, desk).code == "no-such-operation"
    assert refuse(memory, "re", person, desk).code == "no-such-operation"
    assert refuse(memory, str(first.commit)[:6], person, desk).code == "no-such-operation"
    assert refuse(memory, "HEAD", person, desk).code == "no-such-operation"
    many = refuse(memory, "retry-2026", person, desk)
    assert (many.code, many.fields) == ("ambiguous-operation", {"operations": ["retry-2026-2", "retry-2026-1"]})
    assert many.message == (
        "2 operations begin with 'retry-2026': retry-2026-2 (observe: Two), retry-2026-1 (observe: One)"
    )
    assert memory.undo("ret", person).records[0].state is None  # a whole id is always meant, however short


def test_what_is_no_operation_of_gitmems_is_refused(desk: Desk, memory: Memory, person: Actor) -> None:
    path = memory.observe(draft(), person).records[0].path
    (desk.repo / path).write_text((desk.repo / path).read_text() + "By hand.\n")
    desk.git("commit", "--quiet", "--all", "--message", "By hand")
    commit = desk.git("rev-parse", "HEAD").strip()
    foreign = refuse(memory, commit[:9], person, desk)
    assert (foreign.code, foreign.message) == (
        "not-an-operation",
        f"the commit {commit[:12]} 'By hand' by Pat Person was made outside gitmem",
    )
    assert "git revert" in foreign.hint
    done = memory.observe(draft("Two"), person)
    (desk.repo / "notes.txt").write_text("swept in\n")
    desk.git("add", "notes.txt")
    desk.git("commit", "--quiet", "--amend", "--no-edit")
    amended = refuse(memory, done.op_id, person, desk)
    assert amended.code == "not-an-operation"
    assert "also changes notes.txt: it was made or amended outside gitmem" in amended.message


def test_a_merge_that_bears_the_name_of_an_operation_is_none(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    desk.git("switch", "--quiet", "--create", "side", "HEAD~1")
    desk.git("commit", "--quiet", "--allow-empty", "--message", "Aside")
    desk.git("switch", "--quiet", "main")
    desk.git("merge", "--quiet", "--no-ff", "side", "--message", desk.git("log", "-1", "--format=%B", str(done.commit)))
    assert "is a merge" in refuse(memory, done.op_id, person, desk).message


def test_operations_that_changed_no_record_have_nothing_to_undo(desk: Desk, memory: Memory, person: Actor) -> None:
    path = memory.declare(Draft("Ship weekly", kind=Kind.GOAL), person).records[0].path
    (desk.repo / path).write_text((desk.repo / path).read_text().replace("Ship weekly", "Ship daily"))
    desk.git("commit", "--quiet", "--all", "--message", "By hand")
    memory.observe(draft(), person)
    rows = memory.log().rows
    assert [row["op"] for row in rows] == ["observe", "repair", "commit", "declare", "init"]
    for row in (rows[1], rows[4]):
        refused = refuse(memory, row["op_id"], person, desk)
        assert (refused.code, refused.message) == (
            "nothing-to-undo",
            f"{row['op']} {row['op_id']} of {row['time']} by Pat Person (human) changed no record",
        )


def test_a_policy_is_not_undone_and_it_is_said_how_it_goes_back(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.set_policy(b"model_may: [propose]\n", person)
    refused = refuse(memory, done.op_id, person, desk)
    assert refused.code == "nothing-to-undo"
    assert "gitmem policy set FILE" in refused.hint


def test_undoing_twice_names_the_undo(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    undone = memory.undo(done.op_id, person)
    twice = refuse(memory, done.op_id, person, desk)
    assert (twice.code, twice.fields["op_id"]) == ("already-undone", undone.op_id)
    assert f"was undone already: undo {undone.op_id} " in twice.message
    assert undone.op_id in twice.hint
    redone = memory.undo(undone.op_id, person)
    assert refuse(memory, undone.op_id, person, desk).fields["op_id"] == redone.op_id
    again = memory.undo(done.op_id, person)
    assert refuse(memory, done.op_id, person, desk).fields["op_id"] == again.op_id


def test_a_later_operation_is_named(ground: Ground) -> None:
    memory, desk, one = ground.memory, ground.desk, ground.ids["one"]
    done = memory.edit(one, RecordEdit(title="First"), PERSON)
    memory.edit(one, RecordEdit(title="Second"), PERSON)
    later = memory.promote(one, replace(PERSON, name="Robin"))
    refused = refuse(memory, done.op_id, PERSON, desk)
    times = {row["op_id"]: row["time"] for row in memory.log().rows}
    path = memory.show(later.records[0].id).hits[0].record.path.replace("promoted/", "")
    month = times[done.op_id][:7]
    assert refused.code == "built-upon"
    assert refused.message == (
        f"edit {done.op_id} 'First' of {times[done.op_id]} by Pat Person (human) can't be undone: "
        f"observations/{month}/{path} was changed since by "
        f"promote {later.op_id} 'Second' of {times[later.op_id]} by Robin (human)"
    )
    assert refused.hint == f"Undo {later.op_id} first, or change the record as it is now."
    assert refused.fields == {
        "path": f"observations/{month}/{path}",
        "op": "promote",
        "op_id": later.op_id,
        "commit": later.commit,
        "title": "Second",
        "actor": "Robin",
        "time": times[later.op_id],
    }


def test_the_last_change_that_holds_is_the_one_that_is_named(ground: Ground) -> None:
    memory, one = ground.memory, ground.ids["one"]
    done, second, third = (memory.edit(one, RecordEdit(title=name), PERSON) for name in ("A", "B", "C"))
    before = ground.desk.git("rev-parse", "HEAD")
    back = memory.undo(third.op_id, PERSON)
    assert refuse(memory, done.op_id, PERSON, ground.desk).fields["op_id"] == second.op_id
    redone = memory.undo(back.op_id, PERSON)
    assert refuse(memory, done.op_id, PERSON, ground.desk).fields["op_id"] == third.op_id
    for op in (redone, second):
        memory.undo(op.op_id, PERSON)
    memory.undo(done.op_id, PERSON)  # what was changed since was changed back
    assert memory.show(one).hits[0].record.title == "One"
    assert ground.desk.git("rev-parse", "HEAD") != before


def test_a_persons_commit_is_named(ground: Ground) -> None:
    memory, desk = ground.memory, ground.desk
    done = memory.edit(ground.ids["one"], RecordEdit(title="First"), PERSON)
    path = ground.path("one")
    desk.git("mv", path, "promoted/moved.md")
    desk.git("commit", "--quiet", "--message", "Mine now")
    refused = refuse(memory, done.op_id, PERSON, desk)
    commit = desk.git("rev-parse", "HEAD").strip()
    assert refused.code == "built-upon"
    assert f"{path} was changed since by the commit {commit[:12]} 'Mine now' of " in refused.message
    assert refused.message.endswith(" by Pat Person")
    assert (refused.fields["commit"], refused.fields["op_id"]) == (commit, None)
    desk.git("mv", "promoted/moved.md", path)
    desk.git("commit", "--quiet", "--message", "Back again")
    assert memory.undo(done.op_id, PERSON).changed


def test_a_merge_that_kept_the_other_side_is_named(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    desk.git("switch", "--quiet", "--create", "side", "HEAD~1")
    desk.git("commit", "--quiet", "--allow-empty", "--message", "Aside")
    desk.git("switch", "--quiet", "main")
    desk.git("reset", "--hard", "--quiet", "side")
    desk.git("merge", "--quiet", "--strategy", "ours", str(done.commit), "--message", "Without it")
    refused = refuse(memory, done.op_id, person, desk)
    assert (refused.code, refused.fields["title"]) == ("built-upon", "Without it")


def test_one_record_of_several_is_enough_to_refuse(ground: Ground) -> None:
    memory = ground.memory
    done = memory.import_notes(str(ground.notes), PERSON).receipt
    assert done is not None
    later = memory.promote(done.records[1].id, PERSON)
    refused = refuse(memory, done.op_id, PERSON, ground.desk)
    assert (refused.code, refused.fields["op_id"]) == ("built-upon", later.op_id)


def test_another_spelling_of_the_name_that_comes_back_is_in_the_way(ground: Ground) -> None:
    memory, desk = ground.memory, ground.desk
    done = ground.adopt("promoted/Mine.md", "Mine.\n")
    undone = memory.undo(done.op_id, PERSON)
    (desk.repo / "promoted" / "mine.md").write_text("Somebody's own.\n")
    assert refuse(memory, undone.op_id, PERSON, desk).code == "path-clash"


@pytest.mark.parametrize("way", ["edited", "staged", "deleted"])
def test_a_persons_uncommitted_edit_is_never_swept_away(ground: Ground, way: str) -> None:
    memory, desk = ground.memory, ground.desk
    done = memory.edit(ground.ids["one"], RecordEdit(title="First"), PERSON)
    path = desk.repo / (name := ground.path("one"))
    if way == "deleted":
        path.unlink()
    else:
        path.write_text(path.read_text() + "Mine.\n")
    if way == "staged":
        desk.git("add", name)
        path.write_bytes(desk.git("show", f"HEAD:{name}").encode())
    refused = refuse(memory, done.op_id, PERSON, desk)
    assert (refused.code, refused.fields["path"]) == ("dirty-path", name)


def test_a_place_that_was_taken_stays_as_it_is(ground: Ground) -> None:
    memory, desk = ground.memory, ground.desk
    done = memory.promote(ground.ids["one"], PERSON)
    name = memory.log(ground.ids["one"]).rows and desk.git("show", "--name-status", "--format=", str(done.commit))
    old = next(word for word in name.split() if word.startswith("observations/"))
    (desk.repo / old).parent.mkdir(parents=True, exist_ok=True)
    (desk.repo / old).write_text("Somebody's own.\n")
    assert refuse(memory, done.op_id, PERSON, desk).code == "path-taken"
    desk.git("add", old)
    desk.git("commit", "--quiet", "--message", "Mine")
    refused = refuse(memory, done.op_id, PERSON, desk)
    assert (refused.code, refused.fields["title"]) == ("built-upon", "Mine")


def test_a_key_that_another_record_has_by_now_is_not_given_twice(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(replace(draft("One"), key="cache-ttl"), person).records[0].id
    done = memory.edit(one, RecordEdit(properties={"key": None}), person)
    memory.observe(replace(draft("Two"), key="Cache-TTL"), person)
    assert refuse(memory, done.op_id, person, desk).code == "key-taken"


def test_a_key_may_go_back_from_one_record_of_the_operation_to_another(ground: Ground) -> None:
    memory, desk = ground.memory, ground.desk
    memory.edit(ground.ids["one"], RecordEdit(properties={"key": "shared"}), PERSON)
    before = snapshot(desk)
    one, two = (desk.repo / ground.path(name) for name in ("one", "two"))
    one.write_text(one.read_text().replace("key: shared\n", ""))
    two.write_text(two.read_text().replace("kind: fact\n", "kind: fact\nkey: shared\n"))
    done = memory.adopt([], PERSON)
    memory.undo(done.op_id, PERSON)
    assert snapshot(desk) == before


def test_a_record_does_not_come_back_beside_its_copy(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft(), person)
    text = (desk.repo / done.records[0].path).read_text()
    undone = memory.undo(done.op_id, person)
    (desk.repo / "promoted" / "copy.md").write_text(text)
    refused = refuse(memory, undone.op_id, person, desk)
    assert (refused.code, refused.fields) == ("duplicate-id", {"path": "promoted/copy.md"})
    (desk.repo / "promoted" / "copy.md").write_text(text.replace("kind: fact\n", "kind: fact\nprivate: true\n"))
    assert refuse(memory, undone.op_id, person, desk).code == "duplicate-id"


def test_links_to_what_goes_are_told_and_not_in_the_way(desk: Desk, memory: Memory, person: Actor) -> None:
    done = memory.observe(draft("Old"), person)
    stem = Path(done.records[0].path).stem
    linking = memory.observe(draft("Links", f"See [[{stem}]]."), person).records[0].path
    hidden = memory.observe(draft("Hidden", f"See [[{stem}]]."), person).records[0].id
    memory.edit(hidden, RecordEdit(properties={"private": True}), person)
    memory.observe(draft("Elsewhere", "See [[something]]."), person)
    told = f"2 notes link to what is gone now: {linking}, a private note; `gitmem check` lists broken links"
    assert memory.find_undoing(done.op_id).notices == (told,)
    assert memory.undo(done.op_id, person, OP).notices == (told,)
    assert memory.undo(done.op_id, person, OP).notices == (told,)


def test_links_in_any_form_are_told(desk: Desk, memory: Memory, person: Actor, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Zeit plan é.md").write_text("One.\n")
    done = memory.import_notes(str(notes), person).receipt
    assert done is not None
    link = memory.observe(draft("Link", "See [it](Zeit%20plan%20%C3%A9.md)."), person).records[0].path
    wiki = memory.observe(draft("Wiki", "See [[zeit PLAN É]]."), person).records[0].path
    (told,) = memory.find_undoing(done.op_id).notices
    assert told.startswith(f"2 notes link to what is gone now: {link}, {wiki};")


def test_links_that_go_with_it_are_not_told(ground: Ground) -> None:
    memory = ground.memory
    (ground.notes / "First.md").write_text("See [[Second]].\n")
    (ground.notes / "Second.md").write_text("See [[First]].\n")
    done = memory.import_notes(str(ground.notes), PERSON).receipt
    assert done is not None
    assert memory.undo(done.op_id, PERSON).notices == ()


def test_a_private_record_is_not_named(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("Secret plan", "Hush."), person).records[0].id
    done = memory.edit(one, RecordEdit(properties={"private": True}), person)
    memory.undo(done.op_id, person)
    message = desk.git("log", "-1", "--format=%B")
    assert message.startswith("undo: edit: a private record\n")
    assert "Secret" not in message


def test_a_plain_note_comes_back_too_but_no_secret_with_it(desk: Desk, memory: Memory, person: Actor) -> None:
    for name, text in (("plain", "Nothing special.\n"), ("token", "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123\n")):
        place = desk.repo / "promoted" / f"{name}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
        desk.git("add", "promoted")
        desk.git("commit", "--quiet", "--message", name)
        memory.observe(draft(), person)
        place.unlink()
        done = memory.adopt([], person)
        if name == "plain":
            undone = memory.undo(done.op_id, person)
            assert (undone.records, place.read_text()) == ((), text)
        else:
            assert refuse(memory, done.op_id, person, desk).code == "secret-found"


def test_the_same_id_undoes_once(desk: Desk, memory: Memory, person: Actor) -> None:
    done, other = memory.observe(draft(), person), memory.observe(draft("Other"), person)
    first = memory.undo(done.op_id, person, OP)
    commits = desk.commits()
    assert memory.undo(done.op_id, person, OP) == first
    with pytest.raises(InputError) as refused:
        memory.undo(other.op_id, person, OP)
    assert refused.value.code == "op-id-reused"
    assert desk.commits() == commits


def test_inv_human_only_a_model_undoes_its_own_unreviewed_observations(
    desk: Desk, memory: Memory, agent: Actor, tmp_path: Path
) -> None:
    done = memory.observe(draft(), agent)
    one = done.records[0].id
    edited = memory.edit(one, RecordEdit(title="Two"), agent)
    retired = memory.retire(one, "old", agent)
    for op in (retired, edited, done):
        undone = memory.undo(op.op_id, agent)
    rows = memory.log().rows
    assert [row["rule"] for row in rows[:3]] == ["undo-own"] * 3
    memory.undo(undone.op_id, agent)
    assert memory.show(one).hits[0].record.title == "Run tests with two workers"
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(60):  # more than a commit names
        (notes / f"note {number}.md").write_text("Text.\n")
    imported = memory.import_notes(str(notes), agent).receipt
    assert imported is not None
    redone = memory.undo(memory.undo(imported.op_id, agent).op_id, agent)
    promoted = memory.promote(imported.records[3].id, PERSON)
    memory.undo(promoted.op_id, PERSON)  # every byte is as the agent left it, but a person has looked
    assert needs_human(memory, redone.op_id, agent, desk) == "undo-other"
    desk.judge()


def needs_human(memory: Memory, ref: str, actor: Actor, desk: Desk) -> str:
    refused = refuse(memory, ref, actor, desk)
    assert isinstance(refused, PolicyError)
    assert refused.code == "needs-human"
    return str(refused.fields["rule"])


def test_inv_human_only_a_model_takes_back_nothing_of_others(desk: Desk, memory: Memory, agent: Actor) -> None:
    mine, theirs = memory.observe(draft("Mine"), agent), memory.observe(draft("Theirs"), PERSON)
    another = memory.observe(draft("Another"), OTHER_AGENT)
    goal = memory.declare(Draft("Ship weekly", kind=Kind.GOAL), PERSON)
    assert needs_human(memory, theirs.op_id, agent, desk) == "undo-other"
    assert needs_human(memory, another.op_id, agent, desk) == "undo-other"
    assert needs_human(memory, goal.op_id, agent, desk) == "undo-declared"
    retired = memory.retire(goal.records[0].id, "done", PERSON)
    assert needs_human(memory, retired.op_id, agent, desk) == "undo-declared"
    promoted = memory.promote(mine.records[0].id, PERSON)
    assert needs_human(memory, promoted.op_id, agent, desk) == "undo-other"
    back = memory.undo(promoted.op_id, PERSON)
    assert needs_human(memory, back.op_id, agent, desk) == "undo-other"
    assert needs_human(memory, mine.op_id, agent, desk) == "undo-other"  # a person looked at it


def test_inv_human_only_a_model_does_not_bring_back_what_a_person_took_away(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    done = memory.observe(draft(), agent)
    undone = memory.undo(done.op_id, agent)
    redone = memory.undo(undone.op_id, PERSON)
    assert needs_human(memory, done.op_id, agent, desk) == "undo-other"
    memory.undo(redone.op_id, PERSON)
    assert needs_human(memory, undone.op_id, agent, desk) == "undo-other"  # its bytes are as the agent left them
    text = memory.undo(undone.op_id, PERSON)
    assert text.records[0].state is State.OBSERVATION


def test_inv_human_only_amended_commits_and_lost_receipts_make_nothing_a_models_own(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    done = memory.observe(draft(), agent)
    desk.git("commit", "--quiet", "--amend", "--no-edit", "--reset-author")
    assert needs_human(memory, done.op_id, agent, desk) == "undo-other"
    other = memory.observe(draft("Other"), agent)
    shutil.rmtree(desk.runtime / "receipts")
    assert needs_human(memory, other.op_id, agent, desk) == "undo-other"


def test_inv_human_only_a_merged_branch_counts_however_old_its_commits_are(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    one = memory.observe(draft(), agent).records[0]
    desk.git("switch", "--quiet", "--create", "side")
    place = desk.repo / one.path
    place.write_text(place.read_text() + "A person's words.\n")
    desk.git("commit", "--quiet", "--all", "--message", "Mine")
    old = desk.git("cat-file", "commit", "HEAD").replace(desk.git("log", "-1", "--format=%ct").strip(), "1000000000")
    (desk.repo / ".git" / "old").write_text(old)
    desk.git("reset", "--quiet", "--hard", desk.git("hash-object", "-t", "commit", "-w", ".git/old").strip())
    desk.git("switch", "--quiet", "main")
    done = memory.edit(one.id, RecordEdit(title="Two"), agent)
    desk.git("merge", "--quiet", "--strategy", "ours", "side", "--message", "Ours")
    assert memory.find_undoing(done.op_id).files[0].change == "as it was before"
    assert needs_human(memory, done.op_id, agent, desk) == "undo-other"


def test_inv_human_only_what_a_person_puts_into_a_models_commit_makes_the_record_theirs(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    one, two = memory.observe(draft("One"), agent), memory.observe(draft("Two"), agent)
    place = desk.repo / one.records[0].path
    place.write_text(place.read_text() + "A person's words.\n")
    desk.git("commit", "--quiet", "--all", "--amend", "--no-edit")  # into the commit that names only the other record
    memory.observe(draft("Three"), agent)
    refused = refuse(memory, one.op_id, agent, desk)
    assert (refused.code, refused.fields["op_id"]) == ("built-upon", two.op_id)
    with pytest.raises(PolicyError) as forbidden:
        memory.edit(one.records[0].id, RecordEdit(body="Mine again."), agent)
    assert forbidden.value.fields["rule"] == "edit-other"


def test_what_would_be_done_is_shown_whole(ground: Ground) -> None:
    memory = ground.memory
    done = memory.retire(ground.ids["one"], "old", PERSON, ground.ids["three"])
    shown = memory.find_undoing(done.op_id)
    old, new = ground.path("one"), ground.path("three")
    month = done.time[:7]
    back = f"observations/{month}/{Path(old).name}"
    assert [(one.path, one.change) for one in shown.files] == [(old, f"goes back to {back}"), (new, "as it was before")]
    stem = Path(old).stem
    assert f'-supersedes:\n-  - "[[{stem}]]"' in shown.files[1].shown
    fresh = memory.observe(draft("Fresh", "All of it."), PERSON)
    (gone,) = memory.find_undoing(fresh.op_id).files
    assert (gone.change, gone.shown) == ("goes", (ground.desk.repo / gone.path).read_text())
    undone = memory.undo(fresh.op_id, PERSON)
    (comes,) = memory.find_undoing(undone.op_id).files
    assert (comes.path, comes.change, comes.shown) == (gone.path, "comes back", gone.shown)


@settings(derandomize=True, max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=st.randoms(use_true_random=False))
def test_inv_views_every_operation_of_a_random_history_is_undone_exactly_or_refused(source: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        entry, _receipt = make_vault(str(home), NewVault(Scope.WORKSPACE, path=str(Path(folder, "vault"))), PERSON)
        desk = Desk(str(home), Path(entry.path), Path(entry.runtime))
        with desk.open() as memory:
            historian = Historian(memory, 0, Path(folder, "notes"))
            historian.random = source
            with patch("gitmem.model.ids.new_token", historian.new_token):
                done = historian.run(10)
                for receipt in done:
                    undo_or_refuse(desk, memory, receipt)
                assert [row for row in memory.check().rows if row["severity"] == "error"] == []
        desk.judge()


def try_undo(memory: Memory, receipt: Receipt) -> Receipt | None:
    try:
        return memory.undo(receipt.op_id, PERSON)
    except StateError as error:
        if error.code not in ("built-upon", "already-undone"):
            raise
        return None


def undo_or_refuse(desk: Desk, memory: Memory, receipt: Receipt) -> None:
    """Undo one operation and redo it; all that it touched has its old bytes in between, all else its own."""
    before = snapshot(desk)
    touched = desk.git(
        "diff-tree", "-r", "--no-renames", "--name-only", "--format=", f"{receipt.commit}^!"
    ).splitlines()
    touched = [path for path in touched if path.split("/")[0] in FOLDERS]
    undone = try_undo(memory, receipt)
    if undone is None:
        assert snapshot(desk) == before
        return
    now = snapshot(desk, with_views=False)
    older = {path: desk.git("show", f"{receipt.commit}^:{path}", check=False).encode() for path in touched}
    assert {path: now.get(path, b"") for path in touched} == older
    assert {path: data for path, data in now.items() if path not in touched} == {
        path: data for path, data in before.items() if path not in touched and path.split("/")[0] in FOLDERS
    }
    assert [row for row in memory.check().rows if row["code"] == "view-differs"] == []
    memory.undo(undone.op_id, PERSON)
    assert snapshot(desk) == before


def test_what_was_shown_is_what_is_undone(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        record_id = memory.declare(Draft("Never push", "Not even once.", Kind.BOUNDARY), person).records[0].id
        edited = memory.edit(record_id, RecordEdit(summary="No pushing"), person)
        shown = memory.find_undoing(edited.op_id)
        assert [("Not even once." in one.shown, one.change) for one in shown.files] == [(True, "as it was before")]
        with pytest.raises(StateError) as caught:
            memory.undo(edited.op_id, person, shown=replace(shown, edits=()))
        assert caught.value.code == "changed-meanwhile"
        assert memory.undo(edited.op_id, person, shown=shown).changed
