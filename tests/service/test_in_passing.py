"""A person's operation takes nothing along that they did not look at: not what was altered, nor what was swapped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import StateError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Choice
from gitmem.model.ids import Fingerprint
from gitmem.model.record import Draft, Kind
from gitmem.service.edit import RecordEdit

from conftest import Desk, draft
from signing_ground import boundaries, commit_all, declare, make_key, needs_openssh


@pytest.fixture(params=["receipts", pytest.param("keys", marks=needs_openssh)])
def ground(request: pytest.FixtureRequest, desk: Desk, person: Actor, tmp_path: Path) -> Desk:
    """A vault in which a person's word rests on receipts, and one in which it is signed."""
    if request.param == "keys":
        with desk.open() as memory:
            memory.add_key(make_key(tmp_path, "pat"), None, person)
    return desk


def alter(desk: Desk, record_id: str) -> None:
    """Put other words into a record's text, past gitmem."""
    (path,) = (one for one in desk.repo.glob("baseline/*.md") if f"gitmem_id: {record_id}" in one.read_text())
    path.write_text(path.read_text().replace("whatever happens", "but for mallory"))
    commit_all(desk)


def test_inv_boundaries_no_operation_on_another_record_makes_an_altered_one_declared(
    ground: Desk, person: Actor, agent: Actor
) -> None:
    with ground.open() as memory:
        kept, other, over = (declare(memory, title, person) for title in ("Never push", "Never force", "Never squash"))
        memory.retire(over, "It is in the other one.", person, superseded_by=kept)
        one = memory.propose(Draft("Never push on Fridays", "Nobody is here.", Kind.BOUNDARY), agent).candidate
    alter(ground, kept)
    before = ground.commits()
    with ground.open() as memory:
        for ask in (
            lambda: memory.retire(other, "It is in the other one.", person, superseded_by=kept),
            lambda: memory.restore(over, person),
            lambda: memory.accept([Choice(one.id, into=kept)], person),
        ):
            with pytest.raises(StateError) as caught:
                ask()
            assert caught.value.code == "not-as-declared"
        assert [one for one in ground.commits() if not one.startswith("repair: ")] == before
        # The person looks at it, and makes it theirs; then it may be taken along.
        memory.edit(kept, RecordEdit(body="Never, whatever happens."), person)
        memory.retire(other, "It is in the other one.", person, superseded_by=kept)
    assert boundaries(ground) == ["Never push"]


def test_nor_one_that_was_planted(ground: Desk, person: Actor) -> None:
    with ground.open() as memory:
        other = declare(memory, "Never force", person)
    (path,) = ground.repo.glob("baseline/*.md")
    planted = path.read_text().replace(other, "aaaabbbbcccc").replace("Never force", "Always force")
    (ground.repo / "baseline/planted.md").write_text(planted)
    commit_all(ground)
    with ground.open() as memory, pytest.raises(StateError, match="in passing"):
        memory.retire(other, "It is in the other one.", person, superseded_by="aaaabbbbcccc")
    assert boundaries(ground) == ["Never force"]


def test_what_was_shown_is_what_is_changed(desk: Desk, person: Actor, agent: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(replace(draft(), evidence=("run:make",)), agent).records[0].id
        other = memory.observe(replace(draft("Another thing", "Else."), evidence=("run:make",)), agent).records[0].id
        record = memory.show(one).hits[0].record
        for shown in (((record.id, Fingerprint("0" * 40)),), ((other, record.fingerprint),)):
            with pytest.raises(StateError) as caught:
                memory.promote(one, replace(person, shown=shown))
            assert caught.value.code == "changed-meanwhile"
        assert memory.promote(one, replace(person, shown=((record.id, record.fingerprint),))).changed


def test_views_that_fell_behind_are_repaired_before_what_was_shown_is_changed(
    desk: Desk, person: Actor, agent: Actor
) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), agent).records[0].id
        other = memory.observe(draft("Another thing", "Else."), agent).records[0]
        record = memory.show(one).hits[0].record
    (desk.repo / other.path).unlink()
    commit_all(desk)
    with desk.open() as memory:
        done = memory.promote(one, replace(person, shown=((record.id, record.fingerprint),)))
    assert done.notices == ("the views did not match the records (an edit was committed outside gitmem); repaired",)
    assert [subject.split(":")[0] for subject in desk.commits()[:2]] == ["promote", "repair"]
