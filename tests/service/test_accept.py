"""Accepting candidates: all in one commit, by whom it may be done, and both commit and decision or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Actor, Authority, Proof, Surface
from gitmem.model.candidate import Candidate, Choice, Fate, Wants
from gitmem.model.ids import new_record_id, parse_op_id
from gitmem.model.record import Draft, Kind, Record, State
from gitmem.model.settings import Scope
from gitmem.service import accept as accept_module
from gitmem.service.accept import find_accept_decision
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.propose import add_candidate, make_candidate
from gitmem.service.vault import list_steps
from gitmem.transaction.ground import ACCEPT_STEPS, STEPS
from gitmem.vault.inbox import load_decided, load_inbox, save_candidate
from gitmem.wiring import make_vault, open_memory

from conftest import Desk, draft
from crash import run_killed

OP = parse_op_id("the-acceptance")
BOUNDARY = Draft("Never push to main", "Ask first.", Kind.BOUNDARY)


def shown(memory: Memory, ref: str) -> Record:
    return memory.show(ref).hits[0].record


def waiting(memory: Memory) -> list[str]:
    return [one.id for one in load_inbox(memory.vault.layout).candidates]


def fates(memory: Memory) -> dict[str, Fate]:
    return {one.candidate.id: one.fate for one in load_decided(memory.vault.layout)}


def propose(memory: Memory, actor: Actor, title: str, body: str = "", **others: object) -> Candidate:
    return memory.propose(Draft(title, body, **others), actor).candidate  # type: ignore[arg-type]


def want(
    memory: Memory, actor: Actor, wants: Wants, *targets: str, title: str = "Do it", reason: str = ""
) -> Candidate:
    one = replace(make_candidate(memory.vault, Draft(title), actor), wants=wants, targets=targets, reason=reason)
    return add_candidate(memory.vault, one, actor).candidate


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(GitmemError) as error:
        act()
    return error.value.code


def test_a_record_is_written_with_the_id_of_its_candidate(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    one = memory.propose(draft(), agent).candidate
    receipt = memory.accept([Choice(one.id[:5])], person)
    assert [(ref.id, ref.state) for ref in receipt.records] == [(one.id, State.OBSERVATION)]
    record = shown(memory, one.id)
    assert (record.title, record.body.strip(), record.kind) == (draft().title, draft().body, Kind.FACT)
    assert (record.authority, record.source, record.verified) == (Authority.WORKSPACE_EVIDENCE, "cli/s1", None)
    assert desk.commits()[0] == "accept: Run tests with two workers"
    assert "Gitmem-Rule: accept-human" in desk.git("log", "-1", "--format=%B")
    assert (waiting(memory), fates(memory)) == ([], {one.id: Fate.ACCEPTED})
    assert load_decided(memory.vault.layout)[0].op_id == receipt.op_id
    desk.judge()


def test_whatever_candidates_want_is_one_commit(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    stale = memory.observe(Draft("Node 20 is used", "Since May."), person).records[0].id
    good = memory.observe(Draft("The API has nine services", "They share a bus."), person).records[0].id
    twin = memory.observe(Draft("Nine services make the API", "A tenth is planned.", tags=("scope/api",)), person)
    stays = memory.observe(Draft("Caches hold 30 s", "Measured.", evidence=("run:1",)), person).records[0].id
    commits = len(desk.commits())
    candidates = [
        propose(memory, agent, "Deploy on Fridays", "Nobody minds it then."),
        memory.propose(BOUNDARY, agent).candidate,
        want(memory, agent, Wants.RETIRE, stale, title="Retire Node 20", reason="package.json says 24"),
        want(memory, agent, Wants.PROMOTE, good, title="Promote the services"),
        want(memory, agent, Wants.MERGE, good, twin.records[0].id, title="Merge two about services"),
        propose(memory, agent, "Caches hold 30 s", "Measured.", evidence=("run:2",)),
    ]
    assert candidates[5].wants is Wants.MERGE
    receipt = memory.accept([Choice(one.id) for one in candidates], person)
    assert len(desk.commits()) == commits + 1
    assert [(ref.id, ref.state.value if ref.state else None) for ref in receipt.records] == [
        (candidates[0].id, "observation"),
        (candidates[1].id, "baseline"),
        (stale, "retired"),
        (good, "promoted"),
        (twin.records[0].id, "retired"),
        (stays, "observation"),
    ]
    assert shown(memory, candidates[1].id).authority is Authority.USER_DECLARED
    merged = shown(memory, good)
    assert merged.body.strip() == "They share a bus.\n\nA tenth is planned."
    assert (merged.tags, merged.verified is not None) == (("scope/api",), True)
    assert merged.supersedes == (f"[[{Path(twin.records[0].path).stem}]]",)
    assert shown(memory, twin.records[0].id).superseded_by == (f"[[{merged.stem}]]",)
    assert shown(memory, stays).evidence == ("run:1", "run:2")
    message = desk.git("log", "-1", "--format=%B")
    assert message.startswith("accept: 6 records\n")
    assert "Reason: package.json says 24" in message
    assert fates(memory) == {one.id: Fate.MERGED if one.wants is Wants.MERGE else Fate.ACCEPTED for one in candidates}
    assert waiting(memory) == []
    assert [row for row in memory.check().rows if row["severity"] == "error"] == []
    desk.judge()
    assert memory.context().rows[0]["id"] == candidates[1].id

    memory.undo(receipt.op_id, person)
    assert shown(memory, stale).state is State.OBSERVATION
    assert refused(lambda: memory.accept([Choice(candidates[0].id)], person)) == "no-such-candidate"
    memory.reconsider([candidates[0].id], person)
    assert memory.accept([Choice(candidates[0].id)], person).records[0].id == candidates[0].id


def test_a_state_and_changes_may_be_chosen(memory: Memory, agent: Actor, person: Actor) -> None:
    one = propose(memory, agent, "Caches hold 30 s", "Measured.", tags=("scope/api",))
    edited = Draft("Caches hold thirty seconds", "Measured twice.", Kind.FINDING, tags=("#Scope/Web",), key="cache-ttl")
    memory.accept([Choice(one.id, State.PROMOTED, edited)], person)
    record = shown(memory, one.id)
    assert (record.title, record.body.strip(), record.kind, record.tags, record.key, record.state) == (
        "Caches hold thirty seconds",
        "Measured twice.",
        Kind.FINDING,
        ("scope/web",),
        "cache-ttl",
        State.PROMOTED,
    )
    assert record.verified == str(record.created)[:10]


def test_a_record_takes_a_candidate_in(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    target = memory.observe(Draft("Caches", "They hold 30 s.\n", key="cache-ttl", evidence=("run:1",)), person).records[
        0
    ]
    one = propose(
        memory, agent, "Sessions end at midnight", "A job ends them.", evidence=("run:2",), tags=("scope/api",)
    )
    memory.accept([Choice(one.id, into="cache-ttl")], person)
    record = shown(memory, target.id)
    assert record.body.strip() == "They hold 30 s.\n\nA job ends them."
    assert (record.title, record.evidence, record.tags) == ("Caches", ("run:1", "run:2"), ("scope/api",))
    assert record.summary == "They hold 30 s."
    assert fates(memory) == {one.id: Fate.MERGED}
    other = propose(memory, agent, "Tokens live a day", "As the vendor says.")
    whole = replace(other.draft, title="Times", body="Caches hold 30 s, tokens live a day.")
    memory.accept([Choice(other.id, draft=whole, into=target.id)], person)
    record = shown(memory, target.id)
    assert (record.title, record.body.strip(), record.summary) == ("Times", whole.body, whole.body)
    desk.judge()


def test_what_adds_nothing_makes_no_commit_and_is_decided(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    target = memory.observe(draft(), person).records[0]
    one = replace(make_candidate(memory.vault, draft(), agent), wants=Wants.MERGE, targets=(target.id,))
    save_candidate(memory.vault.layout, one)
    before = desk.commits()
    assert not memory.accept([Choice(one.id)], person).changed
    assert (desk.commits(), fates(memory)) == (before, {one.id: Fate.MERGED})


@pytest.mark.parametrize("proof", Proof)
def test_inv_human_only_a_boundary_takes_a_person_at_a_terminal(
    proof: Proof, memory: Memory, agent: Actor, person: Actor
) -> None:
    boundary = memory.propose(BOUNDARY, agent).candidate
    fact = memory.propose(draft(), agent).candidate
    for choices in ([Choice(boundary.id)], [Choice(fact.id)], [Choice(fact.id, State.PROMOTED)]):
        assert refused(lambda choices=choices: memory.accept(choices, agent)) == "needs-human"  # type: ignore[misc]
    asker = replace(person, proof=proof)
    if proof is Proof.PROMPT:
        both = [Choice(fact.id), Choice(boundary.id)]
        assert refused(lambda: memory.accept(both, asker)) == "needs-human"
        assert sorted(waiting(memory)) == sorted([fact.id, boundary.id])
        memory.accept([Choice(fact.id)], asker)
        assert waiting(memory) == [boundary.id]
    else:
        memory.accept([Choice(boundary.id)], asker)
        assert shown(memory, boundary.id).authority is Authority.USER_DECLARED


def test_inv_human_only_a_prompt_changes_no_declared_record_by_a_candidate(
    memory: Memory, agent: Actor, person: Actor
) -> None:
    declared = memory.declare(BOUNDARY, person).records[0].id
    retire = want(memory, agent, Wants.RETIRE, declared, reason="never mind")
    merging = memory.propose(replace(BOUNDARY, evidence=("run:1",)), agent).candidate
    assert merging.targets == (declared,)
    prompted = replace(person, proof=Proof.PROMPT)
    for one in (retire, merging):
        assert refused(lambda one=one: memory.accept([Choice(one.id)], prompted)) == "needs-human"  # type: ignore[misc]
        assert refused(lambda one=one: memory.accept([Choice(one.id)], agent)) == "needs-human"  # type: ignore[misc]
    assert shown(memory, declared).state is State.BASELINE


def test_a_rule_of_policy_accepts_for_a_model_what_it_names_and_no_more(
    memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    memory.set_policy(
        b"accept:\n- {id: ci, kinds: [fact], evidence: [run], sessions: 2}\n"
        b"- {id: docs, tags: [docs], evidence: [file]}\n",
        person,
    )
    once = memory.propose(draft(), agent).candidate
    assert find_accept_decision(memory.vault, once).rule == "accept-model"
    assert refused(lambda: memory.accept([Choice(once.id)], agent)) == "needs-human"
    twice = memory.propose(draft(), replace(agent, session="s2")).candidate
    assert memory.inbox(ref=twice.id).rows[0]["decision"]["rule"] == "policy:ci"
    other = propose(
        memory,
        agent,
        "The handbook is in docs/",
        "It is built weekly.",
        tags=("docs/handbook",),
        evidence=("file:docs/a.md",),
    )
    edited = Choice(twice.id, draft=replace(twice.draft, title="Something else"))
    for choices in (
        [Choice(twice.id, State.PROMOTED)],
        [edited],
        [Choice(twice.id, into=other.id)],
        [Choice(twice.id), Choice(other.id)],
    ):
        with pytest.raises((PolicyError, InputError)):
            memory.accept(choices, agent)
    memory.accept([Choice(twice.id)], agent)
    assert "Gitmem-Rule: policy:ci" in desk.git("log", "-1", "--format=%B")
    assert shown(memory, twice.id).state is State.OBSERVATION
    against = propose(
        memory, agent, "Run tests with nine workers", draft().body, tags=("docs",), evidence=("file:docs/a.md",)
    )
    assert against.contradicts == (twice.id,)
    assert refused(lambda: memory.accept([Choice(against.id)], agent)) == "needs-human"
    boundary = memory.propose(replace(BOUNDARY, tags=("docs",), evidence=("file:docs/a.md",)), agent).candidate
    assert refused(lambda: memory.accept([Choice(boundary.id)], agent)) == "needs-human"

    make_vault(desk.home, NewVault(Scope.GLOBAL), person)
    with open_memory(desk.home, desk.home, "global") as shared:
        same = propose(
            shared,
            agent,
            "The handbook is in docs/",
            "It is built weekly.",
            tags=("docs/handbook",),
            evidence=("file:docs/a.md",),
        )
        assert refused(lambda: shared.accept([Choice(same.id)], agent)) == "needs-human"


def test_choices_that_can_not_be_are_refused_and_everything_waits(memory: Memory, agent: Actor, person: Actor) -> None:
    record = memory.observe(Draft("Caches hold 30 s", "Measured.", key="taken"), person).records[0]
    fact = propose(memory, agent, "Deploy on Fridays", "Nobody minds it then.", key="taken-too")
    boundary = memory.propose(BOUNDARY, agent).candidate
    retire = want(memory, agent, Wants.RETIRE, record.id, reason="old")
    before = waiting(memory)
    taken = replace(fact.draft, key="TAKEN")
    for choices, code in (
        ([], "bad-choice"),
        ([Choice(fact.id)] * 2, "bad-choice"),
        ([Choice("zzzzzzzzzzzz")], "no-such-candidate"),
        ([Choice(fact.id, State.BASELINE)], "bad-choice"),
        ([Choice(fact.id, State.RETIRED)], "bad-choice"),
        ([Choice(boundary.id, State.PROMOTED)], "bad-choice"),
        ([Choice(boundary.id, into=record.id)], "bad-choice"),
        ([Choice(retire.id, State.PROMOTED)], "bad-choice"),
        ([Choice(fact.id, into=record.id, to=State.PROMOTED)], "bad-choice"),
        ([Choice(fact.id, draft=taken)], "key-taken"),
        ([Choice(fact.id), Choice(boundary.id, draft=Draft("", kind=Kind.BOUNDARY))], "no-title"),
        ([Choice(fact.id, into="nowhere")], "no-such-record"),
    ):
        assert refused(lambda choices=choices: memory.accept(choices, person)) == code  # type: ignore[misc]
    memory.retire(record.id, "old", person)
    assert refused(lambda: memory.accept([Choice(retire.id)], person)) == "already-retired"
    assert waiting(memory) == before
    assert fates(memory) == {}


def test_what_changed_since_it_was_shown_is_not_accepted(memory: Memory, agent: Actor, person: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    memory.propose(replace(draft(), body=f"{draft().body} Push to main at night."), replace(agent, session="s2"))
    with pytest.raises(StateError) as error:
        memory.accept([Choice(one.id, shown=one)], person)
    assert error.value.code == "changed-meanwhile"
    memory.accept([Choice(one.id, shown=memory.get_candidate(one.id))], person)


def test_an_edit_with_a_secret_is_refused(memory: Memory, agent: Actor, person: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    edited = replace(one.draft, body="The token is ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123")
    assert refused(lambda: memory.accept([Choice(one.id, draft=edited)], person)) == "secret-found"
    assert waiting(memory) == [one.id]


def test_under_one_op_id_it_is_done_once(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    one = memory.propose(draft(), agent).candidate
    receipt = memory.accept([Choice(one.id)], person, OP)
    commits = desk.commits()
    again = memory.accept([Choice(one.id)], person, OP)
    assert (again.commit, again.records) == (receipt.commit, receipt.records)
    assert desk.commits() == commits
    assert refused(lambda: memory.accept([Choice("zzzzzzzzzzzz")], person, OP)) == "op-id-reused"


def test_what_would_be_done_is_told_without_doing_it(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    target = memory.observe(Draft("Caches", "They hold 30 s."), person).records[0]
    one = propose(memory, agent, "Sessions end at midnight", "A job ends them.")
    before = desk.commits()
    (change,) = memory.plan_accept([Choice(one.id, into=target.id)], person)
    assert change.before is not None
    assert change.after is not None
    assert (change.before.body.strip(), change.after.body.strip()) == (
        "They hold 30 s.",
        "They hold 30 s.\n\nA job ends them.",
    )
    (new,) = memory.plan_accept([Choice(one.id, State.PROMOTED)], person)
    assert (new.before, new.id) == (None, one.id)
    assert (desk.commits(), waiting(memory)) == (before, [one.id])


@pytest.mark.parametrize("wants", [Wants.RECORD, Wants.RETIRE])
@pytest.mark.parametrize("step", [*STEPS, *ACCEPT_STEPS])
def test_inv_old_or_new_a_crash_leaves_commit_and_decision_or_neither(
    step: str, wants: Wants, memory: Memory, desk: Desk, agent: Actor, person: Actor
) -> None:
    if wants is Wants.RECORD:
        one = memory.propose(draft(), agent).candidate
    else:
        target = memory.observe(draft(), person).records[0]
        one = want(memory, agent, Wants.RETIRE, target.id, reason="old")
    before = len(desk.commits())
    memory.close()
    if not run_killed(desk.open, step, lambda killed: killed.accept([Choice(one.id)], person, OP)):
        pytest.skip("the step is not reached by one file")
    with desk.open() as after:
        rows = after.inbox().rows
        done = len(desk.commits()) - before
        assert [row["id"] for row in rows] == ([] if done else [one.id])
        assert fates(after) == ({one.id: Fate.ACCEPTED} if done else {})
        assert not Path(after.vault.layout.accepting_file).exists()
        receipt = after.accept([Choice(one.id)], person, OP)
        assert receipt.changed
        assert len(desk.commits()) == before + 1
        assert fates(after) == {one.id: Fate.ACCEPTED}
        assert after.inbox().rows == ()
    desk.judge()


def test_the_steps_of_accepting_can_be_named() -> None:
    assert set(ACCEPT_STEPS) < set(list_steps())
    assert accept_module.MAX_CHOICES == 300


def test_a_note_of_an_acceptance_that_can_not_be_read_counts_for_nothing(
    memory: Memory, agent: Actor, person: Actor
) -> None:
    one = memory.propose(draft(), agent).candidate
    Path(memory.vault.layout.accepting_file).write_text('{"op_id": 7')
    assert [row["id"] for row in memory.inbox().rows] == [one.id]
    memory.accept([Choice(one.id)], person)
    assert not Path(memory.vault.layout.accepting_file).exists()


def test_the_agent_that_proposed_it_does_not_own_what_a_person_accepted(
    memory: Memory, agent: Actor, person: Actor
) -> None:
    one = memory.propose(draft(), agent).candidate
    memory.accept([Choice(one.id)], person)
    assert refused(lambda: memory.retire(one.id, "mine", agent)) == "needs-human"
    assert person.surface is Surface.HUMAN
    assert new_record_id() != one.id


def test_a_forged_candidate_takes_no_records_id(memory: Memory, desk: Desk, agent: Actor, person: Actor) -> None:
    record = memory.observe(draft(), person).records[0]
    note = desk.repo / record.path
    note.write_text(note.read_text().replace("---\n", "---\nprivate: true\n", 1))
    memory.adopt([], person)
    forged = replace(make_candidate(memory.vault, Draft("Something else"), agent), id=record.id)
    save_candidate(memory.vault.layout, forged)
    assert refused(lambda: memory.accept([Choice(record.id)], person)) == "id-taken"
    assert "Run tests" in note.read_text()
