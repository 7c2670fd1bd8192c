"""Decisions are carried out as they were made, of what they were made of, once, and by a person alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gitmem.errors import GitmemError, PolicyError, StateError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Wants
from gitmem.model.record import Draft, Kind
from gitmem.model.review import How
from gitmem.service.memory import Memory
from gitmem.service.review import Review, count_by_how, find_kept, hold_review
from gitmem.vault.inbox import load_inbox, save_candidate
from gitmem.vault.review_draft import load_review, save_review

from conftest import Desk


@pytest.fixture
def review(memory: Memory, person: Actor) -> Iterator[Review]:
    with hold_review(memory.vault, person) as found:
        yield found


def propose(memory: Memory, agent: Actor, title: str, **others: object) -> str:
    draft = Draft(title, f"{title} because of that.", **others)  # type: ignore[arg-type]
    return memory.propose(draft, agent).candidate.id


def test_all_that_was_decided_is_carried_out_in_one_commit(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, review: Review
) -> None:
    one, two, three, four = (propose(memory, agent, title) for title in ("Alpha", "Beta", "Gamma", "Delta"))
    before = len(desk.commits())
    review.stage([review.look(one)], How.ACCEPT)
    review.stage([review.look(two)], How.PROMOTE)
    review.stage([review.look(three)], How.REJECT, reason="no")
    review.stage([review.look(four)], How.DEFER)
    assert count_by_how(review.staged) == {How.ACCEPT: 1, How.PROMOTE: 1, How.REJECT: 1, How.DEFER: 1}
    receipt = review.carry_out(review.staged, person)
    assert receipt is not None
    assert [(ref.id, ref.state.value) for ref in receipt.records if ref.state] == [
        (one, "observation"),
        (two, "promoted"),
    ]
    assert len(desk.commits()) == before + 1
    assert (review.staged, find_kept(memory.vault), review.list_waiting()) == ((), (), ())
    desk.judge()


def test_a_model_carries_nothing_out(memory: Memory, agent: Actor, review: Review) -> None:
    review.stage([review.look(propose(memory, agent, "Alpha"))], How.REJECT, reason="no")
    with pytest.raises(PolicyError) as caught:
        review.carry_out(review.staged, agent)
    assert caught.value.code == "needs-human"
    assert len(review.staged) == 1
    assert len(load_inbox(memory.vault.layout).candidates) == 1


@pytest.mark.parametrize("change", ["title", "evidence", "wants"])
def test_what_changed_at_the_last_moment_is_not_accepted(
    change: str, desk: Desk, memory: Memory, agent: Actor, person: Actor, review: Review
) -> None:
    review.stage([review.look(propose(memory, agent, "Alpha"))], How.ACCEPT)
    staged, before = review.staged, desk.commits()
    [candidate] = load_inbox(memory.vault.layout).candidates
    other = {
        "title": replace(candidate, draft=replace(candidate.draft, title="Omega")),
        "evidence": replace(candidate, draft=replace(candidate.draft, evidence=("run:evil",))),
        "wants": replace(candidate, wants=Wants.RETIRE),
    }[change]
    save_candidate(memory.vault.layout, other)
    with pytest.raises(StateError) as caught:
        review.carry_out(staged, person)
    assert caught.value.code == "changed-meanwhile"
    assert desk.commits() == before
    [told] = review.settle()
    assert told.endswith("it has changed since you decided; look at it again")
    assert review.staged == ()


def test_the_same_proposed_again_changes_no_decision(
    memory: Memory, agent: Actor, person: Actor, review: Review
) -> None:
    one = propose(memory, agent, "Alpha")
    review.stage([review.look(one)], How.ACCEPT)
    assert propose(memory, replace(agent, session="s2"), "Alpha") == one
    assert review.settle() == ()
    assert review.carry_out(review.staged, person) is not None


def test_a_review_that_ended_behind_its_commit_says_so(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    review.stage([review.look(propose(memory, agent, "Alpha"))], How.ACCEPT)

    def stop(_self: Review, _done: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Review, "_forget", stop)
    with pytest.raises(KeyboardInterrupt):
        review.carry_out(review.staged, person)
    monkeypatch.undo()
    [told] = review.settle()
    assert told.endswith("your review carried it out")
    assert review.staged == ()
    desk.judge()


def test_what_can_t_be_carried_out_can_t_be_decided(memory: Memory, agent: Actor, review: Review) -> None:
    memory.observe(Draft("Taken", "x", key="cache-ttl", evidence=("run:1",)), agent)
    look = review.look(propose(memory, agent, "Alpha"))
    review.edit(look, replace(look.draft, key="cache-ttl"))
    look = review.look(look.candidate.id)
    assert look.problem is not None
    assert look.problem.code == "key-taken"
    with pytest.raises(GitmemError) as caught:
        review.stage([look], How.ACCEPT)
    assert caught.value.code == "key-taken"
    assert review.staged == ()


def test_an_edit_that_can_t_be_written_changes_nothing(memory: Memory, agent: Actor, review: Review) -> None:
    look = review.look(propose(memory, agent, "Alpha"))
    for wrong in (replace(look.draft, title=""), replace(look.draft, tags=("Not A Tag!",))):
        with pytest.raises(GitmemError):
            review.edit(look, wrong)
    assert review.look(look.candidate.id).draft == look.draft


def test_what_is_declared_takes_a_code_of_its_own(memory: Memory, agent: Actor, review: Review) -> None:
    one = propose(memory, agent, "Never push to main", kind=Kind.BOUNDARY)
    two = propose(memory, agent, "Alpha")
    review.stage([review.look(one)], How.ACCEPT)
    review.stage([review.look(two)], How.ACCEPT)
    assert [staged.alone for staged in review.staged] == [True, False]
    assert [found.id for found in review.take_back_step()] == [two]


def test_a_decision_is_told_by_what_it_is_of_whatever_the_draft_on_disk_says(
    memory: Memory, agent: Actor, review: Review
) -> None:
    review.stage([review.look(propose(memory, agent, "Alpha"))], How.REJECT, reason="no")
    save_review(memory.vault.layout, replace(review.kept, staged=(replace(review.staged[0], title="Beta"),)))
    again = Review(memory.vault, review.actor, load_review(memory.vault.layout))
    assert again.settle() == ()
    assert [one.title for one in again.staged] == ["Alpha"]
