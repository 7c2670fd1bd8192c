"""Which records may stand in a file of instructions: a person's, as they are committed, in force; nobody else's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitmem.errors import StateError
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.record import Draft, Kind
from gitmem.service.conventions import Conventions, find_conventions
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory

from conftest import Desk
from signing_ground import commit_all, make_key, needs_openssh


def titles(memory: Memory) -> list[str]:
    return [one.title for one in find_conventions(memory.vault).records]


def look(desk: Desk) -> Conventions:
    with desk.open() as memory:
        return find_conventions(memory.vault)


def observe(memory: Memory, agent: Actor, title: str, kind: Kind = Kind.CONVENTION, **more: object) -> str:
    return memory.observe(Draft(title, "Body.", kind, evidence=("run:1",), **more), agent).records[0].id  # type: ignore[arg-type]


def review(memory: Memory, agent: Actor, person: Actor, title: str, kind: Kind = Kind.CONVENTION) -> str:
    return memory.promote(observe(memory, agent, title, kind), person).records[0].path


def test_what_people_declared_and_reviewed_by_kind_and_title(memory: Memory, agent: Actor, person: Actor) -> None:
    for title, kind in (("b2", Kind.PREFERENCE), ("b1", Kind.PREFERENCE), ("never", Kind.BOUNDARY)):
        memory.declare(Draft(title, kind=kind), person)
    memory.declare(Draft("a goal", kind=Kind.GOAL), person)
    for title, kind in (("p", Kind.PROCEDURE), ("c", Kind.CONVENTION), ("f", Kind.FACT), ("d", Kind.DECISION)):
        review(memory, agent, person, title, kind)
    observe(memory, agent, "only observed")
    found = find_conventions(memory.vault)
    assert [one.title for one in found.records] == ["never", "b1", "b2", "c", "p"]
    assert (found.unconfirmed, found.held_back, found.problems) == (0, 0, ())
    assert found.revision == memory.vault.head()


def test_what_only_lies_there_is_counted_and_not_told(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    path = review(memory, agent, person, "reviewed")
    other = desk.repo / review(memory, agent, person, "other")
    note = (desk.repo / path).read_text()
    forged = desk.repo / "promoted" / "forged.md"
    forged.write_text(note.replace("gitmem_id: ", "gitmem_id: 0").replace("reviewed", "forged"))
    other.write_text(other.read_text().replace("Body.", "Other words."))
    commit_all(desk)
    assert titles(memory) == ["reviewed"]
    assert find_conventions(memory.vault).unconfirmed in (1, 2)  # an id of 13 characters may be none
    (desk.repo / path).write_text(note.replace("Body.", "Not committed."))
    assert [one.body.strip() for one in find_conventions(memory.vault).records] == ["Body."]


def test_what_a_rule_of_the_policy_promoted_is_no_persons(memory: Memory, agent: Actor, person: Actor) -> None:
    memory.set_policy(b"promote:\n  - id: runs\n    kinds: [convention]\n    evidence: [run]\n", person)
    memory.promote(observe(memory, agent, "by a rule"), agent)
    assert (titles(memory), find_conventions(memory.vault).unconfirmed) == ([], 1)


def test_what_is_out_of_date_replaced_or_private_is_left_out(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    old = review(memory, agent, person, "old")
    memory.edit(
        review(memory, agent, person, "new"), RecordEdit(properties={"supersedes": [f"[[{Path(old).stem}]]"]}), person
    )
    memory.edit(review(memory, agent, person, "past"), RecordEdit(properties={"valid_until": "2020-01-01"}), person)
    mine = desk.repo / review(memory, agent, person, "private now")
    assert titles(memory) == ["new", "private now"]
    mine.write_text(mine.read_text().replace("---\n", "---\nprivate: true\n", 1))
    assert titles(memory) == ["new"]
    assert find_conventions(memory.vault).held_back == 2
    commit_all(desk)
    assert titles(memory) == ["new"]


def test_a_baseline_that_cannot_be_read_is_an_error(memory: Memory, desk: Desk, person: Actor) -> None:
    path = memory.declare(Draft("never", kind=Kind.BOUNDARY), person).records[0].path
    note = desk.repo / path
    note.write_text(note.read_text().replace("title: ", "title: [", 1))
    commit_all(desk)
    with pytest.raises(StateError) as caught:
        find_conventions(memory.vault)
    assert caught.value.code == "baseline-unreadable"


def test_what_was_declared_and_went_by_no_operation_is_said(memory: Memory, desk: Desk, person: Actor) -> None:
    (desk.repo / memory.declare(Draft("never", kind=Kind.BOUNDARY), person).records[0].path).unlink()
    assert titles(memory) == ["never"]
    commit_all(desk)
    assert titles(memory) == []
    assert [one.code for one in find_conventions(memory.vault).problems] == ["declared-missing"]


def test_a_clone_proves_nothing_without_keys(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    review(memory, agent, person, "reviewed")
    memory.close()
    shutil.rmtree(desk.runtime / "receipts")
    assert [one.title for one in look(desk).records] == []
    assert look(desk).unconfirmed == 1


@needs_openssh
def test_in_a_vault_with_keys_signatures_tell_and_no_receipt(
    memory: Memory, desk: Desk, agent: Actor, person: Actor, tmp_path: Path
) -> None:
    review(memory, agent, person, "of before the key")
    memory.add_key(make_key(tmp_path, "pat"), None, person)
    first = desk.repo / review(memory, agent, person, "signed")
    review(memory, agent, person, "signed, too")
    for number in range(3):
        observe(memory, agent, f"in between {number}", Kind.FACT)
    memory.declare(Draft("never", kind=Kind.BOUNDARY), person)
    assert titles(memory) == ["never", "signed", "signed, too"]
    memory.close()
    shutil.rmtree(desk.runtime / "receipts")
    assert [one.title for one in look(desk).records] == ["never", "signed", "signed, too"]
    assert look(desk).unconfirmed == 1
    old = first.read_text()
    with desk.open() as opened:
        opened.edit(f"promoted/{first.name}", RecordEdit(body="Better words."), person)
        opened.maintain(agent)
    assert [one.title for one in look(desk).records] == ["never", "signed", "signed, too"]
    first.write_text(old)  # what was signed once, brought back by hand
    commit_all(desk)
    assert [one.title for one in look(desk).records] == ["never", "signed, too"]


def supersede(memory: Memory, agent: Actor, person: Actor, path: str) -> Receipt:
    """Retire an observation in favour of the record at ``path``, which gets a link by that and nobody's look."""
    return memory.retire(observe(memory, agent, "older"), "better", person, superseded_by=path)


def test_a_link_in_passing_leaves_a_record_a_persons_and_makes_none_so(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    paths = [review(memory, agent, person, title) for title in ("kept", "tampered")]
    note = desk.repo / paths[1]
    note.write_text(note.read_text().replace("Body.", "Other words."))
    commit_all(desk)
    done = [supersede(memory, agent, person, path) for path in (paths[0], *paths)]
    assert "supersedes" in note.read_text()
    assert titles(memory) == ["kept"]
    for receipt in reversed(done[1:]):
        memory.undo(receipt.op_id, person)
    memory.restore(done[0].records[0].id, person)
    assert titles(memory) == ["kept"]
    edited = memory.edit(paths[1], RecordEdit(summary="Looked at."), person)
    assert titles(memory) == ["kept", "tampered"]
    again = memory.edit(paths[0], RecordEdit(body="Better."), person)
    memory.undo(again.op_id, person)
    memory.undo(edited.op_id, person)
    assert titles(memory) == ["kept", "tampered"]


@needs_openssh
def test_a_link_in_passing_signs_for_nothing_but_itself(
    memory: Memory, desk: Desk, agent: Actor, person: Actor, tmp_path: Path
) -> None:
    before = review(memory, agent, person, "of before the key")
    memory.add_key(make_key(tmp_path, "pat"), None, person)
    paths = [review(memory, agent, person, title) for title in ("kept", "tampered")]
    note = desk.repo / paths[1]
    note.write_text(note.read_text().replace("Body.", "Other words."))
    commit_all(desk)
    done = [supersede(memory, agent, person, path) for path in (before, paths[0], *paths)]
    assert titles(memory) == ["kept"]
    for receipt in reversed(done[2:]):
        memory.undo(receipt.op_id, person)
    memory.restore(done[1].records[0].id, person)
    assert titles(memory) == ["kept"]
    edited = memory.edit(paths[0], RecordEdit(body="Better."), person)
    memory.undo(edited.op_id, person)
    assert titles(memory) == ["kept"]
    memory.edit(before, RecordEdit(summary="Looked at."), person)
    assert titles(memory) == ["kept", "of before the key"]
