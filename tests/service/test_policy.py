"""Which policy holds, and that it bounds a model surface: by real commits, a person's and an agent's."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from gitmem.clock import SystemClock
from gitmem.errors import InputError, PolicyError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.policy import Bounds, EvidenceRule, Origin, Policy
from gitmem.model.record import Draft, Kind, State
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.policy import count_sessions, find_accept_rule, find_policy
from gitmem.vault.policy_file import default_policy
from gitmem.wiring import run_doctor

from conftest import Desk, draft

RULES = b"promote:\n  - {id: shown-by-a-run, kinds: [fact], evidence: [run]}\n"


def commit_with_git(desk: Desk, text: str | None) -> None:
    """Change the policy as an agent with a shell does."""
    file = desk.repo / "policy.yaml"
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    desk.git("add", "--all", "policy.yaml")
    desk.git("commit", "-q", "-m", "policy: Set policy.yaml\n\nGitmem-Op: policy\nGitmem-Surface: human")


def problems(memory: Memory) -> list[tuple[str, str]]:
    return [(one.code, one.path) for one in memory.status().diagnostics]


def refusal(ask: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(PolicyError) as caught:
        ask()
    return caught.value.code, caught.value.fields["rule"]


class TestHolding:
    """What holds is what a person set."""

    def test_without_a_file_the_defaults_hold(self, memory: Memory) -> None:
        assert find_policy(memory.vault) == Policy()
        assert problems(memory) == []

    def test_what_a_person_sets_holds_as_one_operation(self, desk: Desk, memory: Memory, person: Actor) -> None:
        receipt = memory.set_policy(b"kinds: [fact]\n", person)

        assert find_policy(memory.vault) == Policy(kinds=frozenset({Kind.FACT}), origin=Origin.FILE)
        assert (receipt.op, receipt.changed, receipt.records) == (Action.POLICY, True, ())
        assert desk.git("show", "--format=%s%n%an", "--name-status", "HEAD") == (
            "policy: Set policy.yaml\nPat Person\n\nA\tpolicy.yaml\n"
        )
        assert "Gitmem-Rule: policy-human" in desk.git("log", "-1", "--format=%B")
        assert problems(memory) == []
        desk.judge()

    def test_the_default_file_is_made_once(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.init_policy(person)

        assert (desk.repo / "policy.yaml").read_bytes() == default_policy()
        assert find_policy(memory.vault) == Policy(origin=Origin.FILE)
        with pytest.raises(StateError, match=r"has a policy\.yaml already"):
            memory.init_policy(person)
        desk.judge()

    def test_an_edit_in_the_work_tree_holds_once_it_is_applied(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(b"kinds: [fact]\n", person)
        (desk.repo / "policy.yaml").write_bytes(b"# mine\nkinds: [task]\n")

        assert find_policy(memory.vault).kinds == {Kind.FACT}
        assert problems(memory) == [("policy-uncommitted", "policy.yaml")]
        with pytest.raises(StateError) as caught:
            memory.set_policy(b"kinds: [finding]\n", person)
        assert (caught.value.code, "policy apply" in caught.value.hint) == ("dirty-path", True)

        memory.set_policy(None, person)
        assert find_policy(memory.vault).kinds == {Kind.TASK}
        assert desk.git("show", "HEAD:policy.yaml") == "# mine\nkinds: [task]\n"
        desk.judge()

    def test_what_was_staged_of_it_is_kept_aside(self, desk: Desk, memory: Memory, person: Actor) -> None:
        (desk.repo / "policy.yaml").write_bytes(b"kinds: [task]\n")
        desk.git("add", "policy.yaml")
        (desk.repo / "policy.yaml").write_bytes(b"kinds: [fact]\n")

        receipt = memory.set_policy(None, person)

        assert "what was staged of policy.yaml differed" in receipt.notices[0]
        assert [path.read_text() for path in desk.runtime.glob("displaced/*/*")] == ["kinds: [task]\n"]
        assert find_policy(memory.vault).kinds == {Kind.FACT}
        desk.judge()

    def test_taking_the_file_away_brings_the_defaults_back(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(b"model_may: []\n", person)
        (desk.repo / "policy.yaml").unlink()
        assert problems(memory) == [("policy-uncommitted", "policy.yaml")]

        memory.set_policy(None, person)

        assert (find_policy(memory.vault), desk.commits()[0]) == (Policy(), "policy: Take away policy.yaml")
        desk.judge()

    def test_what_holds_already_makes_no_commit_and_what_can_not_hold_none_either(
        self, desk: Desk, memory: Memory, person: Actor
    ) -> None:
        memory.set_policy(b"kinds: [fact]\n", person)
        head = memory.vault.head()

        assert not memory.set_policy(b"kinds: [fact]\n", person).changed
        assert not memory.set_policy(None, person).changed
        with pytest.raises(InputError, match="line 1: 'declare' can't stand in model_may"):
            memory.set_policy(b"model_may: [declare]\n", person)
        assert memory.vault.head() == head

    def test_a_retry_gives_the_same_receipt_and_another_request_none(self, memory: Memory, person: Actor) -> None:
        from gitmem.model.ids import OpId

        one = memory.set_policy(b"kinds: [fact]\n", person, OpId("op1"))

        assert memory.set_policy(b"kinds: [fact]\n", person, OpId("op1")) == one
        with pytest.raises(InputError) as caught:
            memory.set_policy(b"kinds: [task]\n", person, OpId("op1"))
        assert caught.value.code == "op-id-reused"

    def test_without_a_file_there_is_nothing_to_apply(self, memory: Memory, person: Actor) -> None:
        with pytest.raises(InputError) as caught:
            memory.set_policy(None, person)

        assert (caught.value.code, caught.value.hint) == (
            "no-policy-file",
            "`gitmem policy init` makes one to edit.",
        )

    def test_a_model_sets_nothing(self, desk: Desk, memory: Memory, agent: Actor) -> None:
        (desk.repo / "policy.yaml").write_bytes(RULES)
        head = memory.vault.head()

        assert refusal(lambda: memory.set_policy(None, agent)) == ("needs-human", "policy-model")
        os.unlink(desk.repo / "policy.yaml")
        assert refusal(lambda: memory.set_policy(RULES, agent)) == ("needs-human", "policy-model")
        assert refusal(lambda: memory.init_policy(agent)) == ("needs-human", "policy-model")
        assert memory.vault.head() == head

    def test_a_secret_is_never_committed_in_it(self, desk: Desk, memory: Memory, person: Actor) -> None:
        head = memory.vault.head()
        secret = "ghp_" + "Zq3V8kT1mN5xR7bW2yL9cD4fG6hJ0sPaQeUi"

        with pytest.raises(PolicyError) as caught:
            memory.set_policy(f"# token {secret}\n".encode(), person)

        assert (caught.value.code, secret in str(caught.value)) == ("secret-found", False)
        assert memory.vault.head() == head

    def test_it_is_no_note(self, desk: Desk, memory: Memory, person: Actor) -> None:
        (desk.repo / "policy.yaml").write_bytes(RULES)

        assert memory.find_edited() == []
        with pytest.raises(InputError, match="lies outside the folders of records"):
            memory.adopt(["policy.yaml"], person)
        answer = memory.status()
        assert (answer.rows, answer.extra["waiting"]["other_files"]) == ((), 0)

    def test_what_only_gitmem_commits_is_not_left_to_git(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(b"kinds: [fact]\n", person)
        (desk.repo / "policy.yaml").write_bytes(b"kinds: [task]\n")
        (desk.repo / "list.csv").write_text("a,b\n")
        assert problems(memory) == [("policy-uncommitted", "policy.yaml")]
        assert memory.status().extra["waiting"]["other_files"] == 1

        desk.git("add", "policy.yaml")
        (desk.repo / "policy.yaml").write_bytes(b"kinds: [fact]\n")
        assert problems(memory) == []
        assert memory.status().extra["waiting"]["other_files"] == 2


class TestForged:
    """An agent commits a policy with plain Git: nothing gets laxer, and it is said."""

    def test_a_policy_that_nobody_set_opens_nothing_and_widens_nothing(
        self, desk: Desk, memory: Memory, agent: Actor
    ) -> None:
        one = memory.observe(draft(), agent).records[0].id
        accept = "accept:\n  - {id: any-run, evidence: [run]}\n"
        commit_with_git(desk, "bounds:\n  observations_per_session: 9000\n" + RULES.decode() + accept)

        policy = find_policy(memory.vault)

        assert (policy.origin, policy.bounds, policy.accept, policy.promote) == (Origin.UNCONFIRMED, Bounds(), (), ())
        assert refusal(lambda: memory.promote(one, agent)) == ("needs-human", "promote-model")
        assert find_accept_rule(memory.vault, draft(), 9) is None
        assert problems(memory) == [("policy-unconfirmed", "policy.yaml")]

    def test_it_may_tighten(self, desk: Desk, memory: Memory, agent: Actor) -> None:
        commit_with_git(desk, "kinds: [finding]\n")

        assert refusal(lambda: memory.observe(draft(), agent)) == ("needs-human", "policy:kinds")

    @pytest.mark.parametrize("text", ["kinds: [fact, task]\nbounds:\n  observations_per_day: 9000\n", None])
    def test_what_a_person_set_is_not_undone_by_a_commit(
        self, desk: Desk, memory: Memory, person: Actor, agent: Actor, text: str | None
    ) -> None:
        memory.set_policy(b"kinds: [finding]\nmodel_may: [propose, observe]\n", person)
        commit_with_git(desk, text)

        assert find_policy(memory.vault).kinds == (set() if text else {Kind.FINDING})
        assert refusal(lambda: memory.observe(draft(), agent)) == ("needs-human", "policy:kinds")
        assert problems(memory) == [("policy-unconfirmed", "policy.yaml")]

    def test_an_earlier_policy_that_is_brought_back_does_not_hold(
        self, desk: Desk, memory: Memory, person: Actor, agent: Actor
    ) -> None:
        one = memory.observe(draft(), agent).records[0].id
        memory.set_policy(RULES, person)
        memory.set_policy(b"promote: []\n", person)
        commit_with_git(desk, RULES.decode())

        assert refusal(lambda: memory.promote(one, agent)) == ("needs-human", "promote-model")

    def test_a_person_confirms_what_lies_there(self, desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
        one = memory.observe(draft(), agent).records[0].id
        commit_with_git(desk, RULES.decode())

        memory.set_policy(None, person)

        assert desk.commits()[0] == "policy: Confirm policy.yaml"
        assert desk.git("show", "--format=", "HEAD") == ""
        assert problems(memory) == []
        memory.promote(one, agent)
        desk.judge()

    def test_a_person_confirms_that_it_is_gone(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(RULES, person)
        commit_with_git(desk, None)

        memory.set_policy(None, person)

        assert (find_policy(memory.vault), problems(memory)) == (Policy(), [])
        desk.judge()

    def test_what_a_person_set_holds_whoever_commits_it_again(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(RULES, person)
        desk.git("commit", "-q", "--amend", "-m", "amended")

        assert find_policy(memory.vault).origin is Origin.FILE

    def test_in_a_clone_or_without_receipts_it_opens_nothing(self, desk: Desk, memory: Memory, person: Actor) -> None:
        memory.set_policy(RULES + b"kinds: [fact]\n", person)
        for file in desk.runtime.glob("receipts/*.jsonl"):
            file.unlink()

        policy = find_policy(memory.vault)

        assert (policy.origin, policy.promote, policy.kinds) == (Origin.UNCONFIRMED, (), {Kind.FACT})


BROKEN = {
    "no YAML": "kinds: [\n",
    "an unknown member": "kind: [fact]\n",
    "a wrong value": "bounds:\n  observations_per_day: plenty\n",
    "an alias": "kinds: &k [fact]\nevidence: *k\n",
    "what may never be": "model_may: [declare]\n",
    "a tag": "kinds: !!python/object:os.system [fact]\n",
}


class TestBroken:
    """A policy that can't be read stops models, not people, and is told."""

    @pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
    def test_a_model_writes_nothing_and_people_go_on(
        self, desk: Desk, memory: Memory, person: Actor, agent: Actor, text: str
    ) -> None:
        own = memory.observe(draft("Own"), agent).records[0].id
        memory.set_policy(b"kinds: [fact]\n", person)
        commit_with_git(desk, text)

        for write in (
            lambda: memory.observe(draft(), agent),
            lambda: memory.observe_all([draft("A"), draft("B")], agent),
            lambda: memory.edit(own, RecordEdit(body="Other."), agent),
            lambda: memory.retire(own, "outdated", agent),
        ):
            assert refusal(write) == ("policy-broken", "policy-broken")
        assert memory.observe(draft(), person).changed
        assert memory.show(own).hits
        assert problems(memory) == [("policy-broken", "policy.yaml")]
        assert [(row["code"], row["severity"]) for row in memory.check().rows] == [("policy-broken", "error")]
        told = run_doctor(desk.home, desk.home, str(desk.repo)).rows
        assert [row["severity"] for row in told if row["code"] == "policy-broken"] == ["error"]

    def test_a_folder_or_a_link_in_its_place_is_broken(self, desk: Desk, memory: Memory, agent: Actor) -> None:
        os.symlink("manifest.json", desk.repo / "policy.yaml")
        desk.git("add", "policy.yaml")
        desk.git("commit", "-q", "-m", "link")

        assert refusal(lambda: memory.observe(draft(), agent)) == ("policy-broken", "policy-broken")
        assert [code for code, _path in problems(memory)] == ["policy-broken", "policy-uncommitted"]

    def test_a_person_mends_it(self, desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
        commit_with_git(desk, "kinds: [\n")

        memory.set_policy(b"kinds: [fact]\n", person)

        assert memory.observe(draft(), agent).changed
        assert problems(memory) == []


@pytest.fixture
def strict(memory: Memory, person: Actor) -> Memory:
    text = b"bounds: {observations_per_session: 3, observations_per_day: 5, body_chars: 100}\n"
    memory.set_policy(text, person)
    return memory


class TestBounds:
    """How much a model surface hands in, by session and day."""

    def test_a_session_has_its_bound_and_a_person_none(self, strict: Memory, person: Actor, agent: Actor) -> None:
        for number in range(3):
            strict.observe(draft(f"Number {number}"), agent)

        assert refusal(lambda: strict.observe(draft("One more"), agent)) == (
            *("needs-human", "policy:bounds.observations_per_session"),
        )
        assert strict.observe(draft("Mine"), person).changed
        assert strict.observe(draft("Another session"), replace(agent, session="s2")).changed

    def test_all_sessions_share_the_day(self, strict: Memory, agent: Actor) -> None:
        for number in range(5):
            strict.observe(draft(f"Number {number}"), replace(agent, session=f"s{number}", name=f"agent {number}"))

        assert refusal(lambda: strict.observe(draft("One more"), agent)) == (
            *("needs-human", "policy:bounds.observations_per_day"),
        )

    def test_who_names_no_session_has_the_bound_of_the_day(self, strict: Memory, agent: Actor) -> None:
        nameless = replace(agent, session="")
        for number in range(5):
            strict.observe(draft(f"Number {number}"), nameless)

        assert refusal(lambda: strict.observe(draft("One more"), nameless)) == (
            *("needs-human", "policy:bounds.observations_per_day"),
        )

    def test_a_day_begins_at_midnight_utc_and_a_session_goes_on(self, desk: Desk, strict: Memory, agent: Actor) -> None:
        clock = Later()
        strict.vault.clock = clock
        clock.moment = datetime.datetime(2030, 12, 31, 23, 59, 58, tzinfo=datetime.UTC)
        strict.observe(draft("Before"), agent)
        for number in range(4):
            strict.observe(draft(f"Other {number}"), replace(agent, session="s2" if number < 3 else ""))
        assert refusal(lambda: strict.observe(draft("Late"), replace(agent, session="s3")))[1] == (
            "policy:bounds.observations_per_day"
        )

        clock.moment += datetime.timedelta(seconds=2)
        for number in range(2):
            strict.observe(draft(f"After {number}"), agent)
        assert refusal(lambda: strict.observe(draft("Too many"), agent))[1] == "policy:bounds.observations_per_session"

    def test_a_batch_and_an_import_count_each_record(self, tmp_path: Path, strict: Memory, agent: Actor) -> None:
        many = [draft(f"Number {number}") for number in range(4)]
        notes = tmp_path / "notes"
        notes.mkdir()
        for number in range(4):
            (notes / f"{number}.md").write_text(f"Note {number}.\n")

        rule = "policy:bounds.observations_per_session"
        assert refusal(lambda: strict.observe_all(many, agent)) == ("needs-human", rule)
        assert refusal(lambda: strict.import_notes(str(notes), agent)) == ("needs-human", rule)
        assert strict.observe_all(many[:3], agent).changed
        assert refusal(lambda: strict.observe(draft(), agent)) == ("needs-human", rule)

    def test_what_is_no_observation_of_a_model_does_not_count(
        self, strict: Memory, person: Actor, agent: Actor
    ) -> None:
        own = strict.observe(draft("Own"), agent)
        strict.edit(own.records[0].id, RecordEdit(body="Other."), agent)
        strict.retire(own.records[0].id, "outdated", agent)
        strict.restore(own.records[0].id, agent)
        for number in range(4):
            strict.observe(draft(f"Mine {number}"), replace(person, session="s1"))

        assert strict.observe_all([draft("Two"), draft("Three")], agent).changed

    def test_a_text_has_its_bound_in_whatever_way_it_comes(self, strict: Memory, agent: Actor) -> None:
        own = strict.observe(draft(), agent).records[0].id
        rule = "policy:bounds.body_chars"

        assert refusal(lambda: strict.observe(draft("Long", "x" * 101), agent)) == ("needs-human", rule)
        assert refusal(lambda: strict.edit(own, RecordEdit(body="x" * 101), agent)) == ("needs-human", rule)

    def test_a_refusal_of_several_names_the_one(self, strict: Memory, agent: Actor) -> None:
        with pytest.raises(PolicyError) as caught:
            strict.observe_all([draft("Short"), draft("Long", "x" * 200)], agent)

        assert caught.value.message.startswith("'Long': the vault's policy: a model's record has at most 100 char")

    def test_of_many_who_ask_at_once_none_gets_past_it(self, desk: Desk, strict: Memory) -> None:
        strict.close()
        context = get_context("fork")
        with context.Pool(4) as pool:
            done = pool.starmap(_observe_some, [(desk, writer) for writer in range(4)])

        assert sum(done) == 5
        with desk.open() as memory:
            assert memory.check().rows == ()
            assert sum(subject.startswith("observe") for subject in desk.commits()) == 5


class Later(SystemClock):
    """A clock that stands where it is put."""

    moment = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)

    def now(self) -> datetime.datetime:
        return self.moment


def _observe_some(desk: Desk, writer: int) -> int:
    from gitmem.model.authority import Surface

    actor = Actor(Surface.MODEL, f"agent {writer}", "agent@agents.gitmem.invalid", session=f"w{writer}")
    done = 0
    with desk.open() as memory:
        for number in range(3):
            try:
                memory.observe(draft(f"{writer} {number}"), actor)
                done += 1
            except PolicyError as error:
                if error.fields["rule"] != "policy:bounds.observations_per_day":
                    raise
    return done


class TestNarrowed:
    """What a policy leaves to people."""

    @pytest.fixture
    def narrowed(self, memory: Memory, person: Actor, agent: Actor) -> Memory:
        memory.own = memory.observe(draft("Own"), agent)  # type: ignore[attr-defined]
        memory.set_policy(b"model_may: [observe]\nkinds: [fact]\nnamespaces: [tool]\nevidence: [commit]\n", person)
        return memory

    def test_each_action_that_is_left_out_needs_a_person(self, narrowed: Memory, agent: Actor, tmp_path: Path) -> None:
        own = narrowed.own  # type: ignore[attr-defined]
        (tmp_path / "n").mkdir()
        (tmp_path / "n" / "a.md").write_text("Note.\n")
        writes: dict[str, Callable[[], object]] = {
            "edit": lambda: narrowed.edit(own.records[0].id, RecordEdit(body="Other."), agent),
            "retire": lambda: narrowed.retire(own.records[0].id, "outdated", agent),
            "undo": lambda: narrowed.undo(own.op_id, agent),
            "import": lambda: narrowed.import_notes(str(tmp_path / "n"), agent),
        }
        for write in writes.values():
            assert refusal(write) == ("needs-human", "policy:model_may")

    @pytest.mark.parametrize(
        ("changes", "rule"),
        [
            ({}, ""),
            ({"kind": Kind.FINDING}, "policy:kinds"),
            ({"tags": ("client/acme",)}, "policy:namespaces"),
            ({"evidence": ("run:make",)}, "policy:evidence"),
        ],
    )
    def test_each_form_is_asked_for(
        self, narrowed: Memory, agent: Actor, changes: dict[str, object], rule: str
    ) -> None:
        wanted = replace(draft(), **{"evidence": ("commit:abcdef0",), **changes})  # type: ignore[arg-type]

        if rule:
            assert refusal(lambda: narrowed.observe(wanted, agent)) == ("needs-human", rule)
        else:
            assert narrowed.observe(wanted, agent).changed


class TestOpened:
    """What a rule of the policy lets a model do: promote in a workspace, and no more."""

    def test_a_rule_promotes_and_the_commit_names_it(
        self, desk: Desk, memory: Memory, person: Actor, agent: Actor
    ) -> None:
        memory.set_policy(RULES, person)
        one = memory.observe(draft(), agent).records[0].id

        receipt = memory.promote(one, agent)

        assert receipt.records[0].state is State.PROMOTED
        assert "Gitmem-Rule: policy:shown-by-a-run\n" in desk.git("log", "-1", "--format=%B")
        assert memory.show(one).hits[0].record.verified is None
        desk.judge()

    def test_all_of_several_have_to_fit_one_rule(self, memory: Memory, person: Actor, agent: Actor) -> None:
        memory.set_policy(RULES, person)
        one, two = (memory.observe(draft(title), agent).records[0].id for title in ("One", "Two"))
        other = memory.observe(Draft("Three", kind=Kind.FINDING, evidence=("run:x",)), agent).records[0].id

        assert refusal(lambda: memory.promote_all([one, other], agent)) == ("needs-human", "promote-model")
        assert len(memory.promote_all([one, two], agent).records) == 2

    def test_a_person_promotes_as_ever(self, memory: Memory, person: Actor, agent: Actor, desk: Desk) -> None:
        memory.set_policy(RULES, person)
        one = memory.observe(draft(), agent).records[0].id

        memory.promote(one, person)

        assert "Gitmem-Rule: promote-human" in desk.git("log", "-1", "--format=%B")
        assert memory.show(one).hits[0].record.verified is not None

    def test_sessions_are_counted_by_receipts_not_by_what_a_record_says(
        self, memory: Memory, person: Actor, agent: Actor
    ) -> None:
        memory.set_policy(b"promote:\n  - {id: twice, evidence: [run], sessions: 2}\n", person)
        one = memory.observe(draft(), agent).records[0].id
        assert count_sessions(memory.vault, memory.show(one).hits[0].record) == 1
        assert refusal(lambda: memory.promote(one, agent)) == ("needs-human", "promote-model")

        memory.edit(one, RecordEdit(body="Seen again."), replace(agent, session="s2"))

        assert count_sessions(memory.vault, memory.show(one).hits[0].record) == 2
        assert memory.promote(one, agent).changed

    def test_never_in_the_global_vault(self, shared: Memory, person: Actor, agent: Actor) -> None:
        shared.set_policy(RULES, person)
        one = shared.observe(draft(), agent).records[0].id

        assert refusal(lambda: shared.promote(one, agent))[0] == "needs-human"
        shared.set_policy(b"accept:\n  - {id: twice, kinds: [fact], evidence: [run]}\n", person)
        assert find_accept_rule(shared.vault, draft(), 9) is None

    def test_never_what_claims_to_be_declared(self, desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
        memory.set_policy(RULES, person)
        receipt = memory.observe(draft(), agent)
        file = desk.repo / receipt.records[0].path
        file.write_text(file.read_text().replace("workspace_evidence", "user_declared"))
        desk.git("commit", "-qam", "forged")

        assert refusal(lambda: memory.promote(receipt.records[0].id, agent)) == ("needs-human", "promote-model")

    def test_an_accept_rule_is_found_by_what_a_draft_has(self, memory: Memory, person: Actor) -> None:
        memory.set_policy(b"accept:\n  - {id: twice, kinds: [fact], evidence: [run], sessions: 2}\n", person)

        found = find_accept_rule(memory.vault, draft(), 2)

        assert found is not None
        assert (found.rule, found.allowed) == ("policy:twice", True)
        assert find_accept_rule(memory.vault, draft(), 1) is None
        assert find_accept_rule(memory.vault, replace(draft(), kind=Kind.BOUNDARY), 9) is None
        assert find_policy(memory.vault).accept == (EvidenceRule("twice", (Kind.FACT,), (), ("run",), 2),)
