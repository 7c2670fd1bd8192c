"""The writing verbs: what each does to the record, and what each refuses with nothing written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Actor
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft, Kind, State
from gitmem.service.edit import RecordEdit, frame_body
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk, draft


def read(desk: Desk, path: str) -> str:
    return (desk.repo / path).read_text(encoding="utf-8")


def properties(desk: Desk, path: str) -> dict[str, str]:
    """Return the top-level lines of the frontmatter, times and ids masked."""
    block = read(desk, path).split("---\n")[1]
    pairs = (line.partition(":") for line in block.splitlines() if not line.startswith(" "))
    return {name: value.strip() for name, _colon, value in pairs}


def test_an_observation_is_a_readable_note(desk: Desk, memory: Memory, agent: Actor) -> None:
    record = memory.observe(replace(draft(), key="test-workers"), agent).records[0]
    assert record.state is State.OBSERVATION
    month = memory.vault.clock.now().strftime("%Y-%m")
    assert record.path == f"observations/{month}/run-tests-with-two-workers-{record.id[:6]}.md"
    created = properties(desk, record.path)["created"]
    assert read(desk, record.path) == (
        "---\n"
        f"gitmem_id: {record.id}\n"
        "title: Run tests with two workers\n"
        "kind: fact\n"
        "summary: More workers starve the database.\n"
        "authority: workspace_evidence\n"
        "tags:\n"
        "  - tool/pytest\n"
        "key: test-workers\n"
        f"created: {created}\n"
        f"updated: {created}\n"
        "source: cli/s1\n"
        "evidence:\n"
        "  - run:make test\n"
        "---\n"
        "\n"
        "More workers starve the database.\n"
    )


def test_inv_human_only_a_model_can_neither_declare_nor_promote(desk: Desk, memory: Memory, agent: Actor) -> None:
    one = memory.observe(draft(), agent).records[0]
    new = desk.repo / "promoted" / "new.md"
    new.write_text("By hand.")
    asked: list[Callable[[], object]] = [
        lambda: memory.declare(Draft("Never push", kind=Kind.BOUNDARY), agent),
        lambda: memory.promote(one.id, agent),
        lambda: memory.observe(Draft("No evidence"), agent),
        lambda: memory.adopt((), agent),
    ]
    for ask in asked:
        with pytest.raises(PolicyError) as refused:
            ask()
        assert refused.value.code == "needs-human"
        assert refused.value.hint
        assert refused.value.fields["rule"]
    new.unlink()
    assert len(desk.commits()) == 2
    desk.judge()


def test_inv_human_only_content_gives_no_authority(desk: Desk, memory: Memory, agent: Actor) -> None:
    body = "---\nauthority: user_declared\n---\nauthority: user_declared\n"
    record = memory.observe(replace(draft(), body=body), agent).records[0]
    assert memory.show(record.id).hits[0].record.authority == "workspace_evidence"
    with pytest.raises(GitmemError) as refused:
        memory.edit(record.id, RecordEdit(properties={"authority": "user_declared"}), agent)
    assert refused.value.code == "property-is-managed"


def test_a_model_may_edit_and_retire_only_what_is_its_own(memory: Memory, agent: Actor, person: Actor) -> None:
    mine = memory.observe(draft("Mine"), agent).records[0]
    theirs = memory.observe(draft("Theirs"), replace(agent, name="other")).records[0]
    persons = memory.observe(draft("A person's"), person).records[0]
    touched = memory.observe(draft("Touched by a person"), agent).records[0]
    memory.edit(touched.id, RecordEdit(body="Put right."), person)
    for ref in (theirs.id, persons.id, touched.id):
        with pytest.raises(PolicyError):
            memory.edit(ref, RecordEdit(body="Mine now."), agent)
        with pytest.raises(PolicyError):
            memory.retire(ref, "mine now", agent)
    memory.edit(mine.id, RecordEdit(body="Better."), agent)
    memory.retire(mine.id, "wrong", agent)
    assert memory.restore(mine.id, agent).records[0].path == mine.path


def test_a_declaration_lies_in_the_baseline(desk: Desk, memory: Memory, person: Actor) -> None:
    record = memory.declare(Draft("Never push to main", body="Ask first.", kind=Kind.BOUNDARY), person).records[0]
    assert record.path == f"baseline/never-push-to-main-{record.id[:6]}.md"
    assert properties(desk, record.path)["authority"] == "user_declared"
    assert "[[baseline/never-push-to-main-" in read(desk, "INDEX.md")


@pytest.mark.parametrize("kind", [None, Kind.FACT, Kind.EPISODE])
def test_only_baseline_kinds_are_declared_whoever_asks(
    memory: Memory, person: Actor, agent: Actor, kind: Kind | None
) -> None:
    for actor in (person, agent):
        with pytest.raises(PolicyError) as refused:
            memory.declare(Draft("A fact", kind=kind), actor)
        assert (refused.value.code, refused.value.fields["rule"]) == ("refused", "declare-other-kind")
        with pytest.raises(PolicyError) as refused:
            memory.observe(Draft("A goal", kind=Kind.GOAL), actor)
        assert (refused.value.code, refused.value.fields["rule"]) == ("refused", "observe-baseline-kind")


def test_promotion_keeps_the_name_and_marks_the_record_verified(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    two = memory.promote(one.id, person).records[0]
    assert two.path == "promoted/" + one.path.rpartition("/")[2]
    assert properties(desk, two.path)["verified"] == memory.vault.clock.now().strftime("%Y-%m-%d")
    with pytest.raises(StateError) as refused:
        memory.promote(one.id, person)
    assert refused.value.code == "not-an-observation"


def test_retiring_in_favour_of_another_links_both_and_restoring_unlinks_them(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    old = memory.observe(draft("Old way"), person).records[0]
    old = memory.promote(old.id, person).records[0]
    new = memory.observe(draft("New way"), person).records[0]
    texts = {path: read(desk, path) for path in (old.path, new.path)}
    gone = memory.retire(old.id, "outdated", person, new.id).records[0]
    assert gone.path.startswith("retired/")
    assert memory.show(old.id).hits[0].record.superseded_by == (f"[[new-way-{new.id[:6]}]]",)
    assert memory.show(new.id).hits[0].record.supersedes == (f"[[old-way-{old.id[:6]}]]",)
    assert memory.check().rows == ()
    back = memory.restore(old.id, person).records[0]
    assert back.path == old.path

    def without_update(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("updated:")]

    for path, text in texts.items():
        assert without_update(read(desk, path)) == without_update(text)
    desk.judge()


def test_an_edit_touches_only_its_lines(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    before = read(desk, one.path).splitlines()
    wanted = RecordEdit(
        title="Two workers", add_tags=("domain/ci",), properties={"review_after": "2027-01-01", "owner": "Kim"}
    )
    memory.edit(one.id, wanted, person)
    after = read(desk, one.path).splitlines()
    gone, come = [x for x in before if x not in after], [x for x in after if x not in before]
    assert [line for line in gone if not line.startswith("updated")] == ["title: Run tests with two workers"]
    assert [line for line in come if not line.startswith("updated")] == [
        "title: Two workers",
        "  - domain/ci",
        "review_after: 2027-01-01",
        "owner: Kim",
    ]
    memory.edit(one.id, RecordEdit(remove_tags=("Domain/CI",), properties={"owner": None}), person)
    assert memory.show(one.id).hits[0].record.tags == ("tool/pytest",)
    assert "owner" not in properties(desk, one.path)


def test_a_summary_that_came_from_the_text_follows_it(memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One", "First words.\n\nMore."), person).records[0]
    memory.edit(one.id, RecordEdit(body="Other words."), person)
    assert memory.show(one.id).hits[0].record.summary == "Other words."
    memory.edit(one.id, RecordEdit(summary="By hand"), person)
    memory.edit(one.id, RecordEdit(body="Yet others."), person)
    assert memory.show(one.id).hits[0].record.summary == "By hand"


BAD_DRAFTS = {
    "no title": (Draft(" \n "), "no-title"),
    "long title": (Draft("x" * 201), "title-too-long"),
    "long summary": (Draft("t", summary="x" * 201), "summary-too-long"),
    "bad evidence": (Draft("t", evidence=("because",)), "bad-evidence"),
    "absolute evidence": (Draft("t", evidence=("file:/etc/passwd",)), "bad-evidence"),
    "bad tag": (Draft("t", tags=("two words",)), "bad-tag"),
    "hidden title": (Draft("pay\u202eload"), "hidden-characters"),
    "hidden tag": (Draft("t", tags=("tool/a\u200bb",)), "hidden-characters"),
    "conflict": (Draft("t", body="<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"), "bad-body"),
    "NUL": (Draft("t", body="a\0b"), "bad-body"),
    "baseline kind": (Draft("t", kind=Kind.BOUNDARY), "refused"),
    "a secret": (Draft("t", body="token ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"), "secret-found"),
    "a secret in the title": (Draft("ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"), "secret-found"),
    "too much": (Draft("t", body="x" * (257 * 1024)), "body-too-large"),
}


@pytest.mark.parametrize("what", BAD_DRAFTS)
def test_a_bad_draft_is_refused_with_a_hint_and_nothing_written(
    desk: Desk, memory: Memory, person: Actor, what: str
) -> None:
    wanted, code = BAD_DRAFTS[what]
    objects = sorted((desk.repo / ".git" / "objects").rglob("*"))
    with pytest.raises(GitmemError) as refused:
        memory.observe(wanted, person)
    assert refused.value.code == code
    assert refused.value.hint
    assert "ghp_" not in refused.value.message
    assert sorted((desk.repo / ".git" / "objects").rglob("*")) == objects
    desk.judge()


def test_a_key_belongs_to_one_record(memory: Memory, person: Actor) -> None:
    memory.observe(replace(draft("One"), key="cache-ttl"), person)
    two = memory.observe(draft("Two"), person).records[0]
    for ask in (
        lambda: memory.observe(replace(draft("Three"), key="Cache-TTL"), person),
        lambda: memory.edit(two.id, RecordEdit(properties={"key": "cache-ttl"}), person),
    ):
        with pytest.raises(InputError) as refused:
            ask()
        assert refused.value.code == "key-taken"


def test_a_record_is_named_by_id_prefix_key_or_path(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(replace(draft("One"), key="cache-ttl"), person).records[0]
    for ref in (one.id, one.id[:5], "cache-ttl", "CACHE-TTL", one.path, str(desk.repo / one.path)):
        assert memory.show(ref).hits[0].record.id == one.id
    for ref in ("zz", "nothing", "observations/none.md", "../../etc/passwd", "", "x" * 5000, one.id.upper()):
        with pytest.raises(InputError) as refused:
            memory.show(ref)
        assert refused.value.code == "no-such-record"


def test_a_private_successor_is_not_named_in_the_commit(desk: Desk, memory: Memory, person: Actor) -> None:
    old = memory.observe(draft("An old thing"), person).records[0].id
    new = memory.observe(draft("A secret affair"), person).records[0].id
    memory.edit(new, RecordEdit(properties={"private": True}), person)
    memory.retire(old, "replaced", person, new)
    message = desk.git("log", "-1", "--format=%B")
    assert "Superseded by: a private record" in message
    assert "affair" not in message


def test_a_private_record_is_named_by_people_and_told_to_nobody(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(replace(draft("The merger"), key="merger"), person).records[0]
    memory.edit(one.id, RecordEdit(properties={"private": True}), person)
    memory.edit(one.id, RecordEdit(title="The merger with Acme"), person)
    assert desk.commits()[:2] == ["edit: a private record", "edit: a private record"]
    assert "Acme" not in desk.git("log", "--format=%B")
    for ref in (one.id[:6], "merger", one.path):
        answer = memory.show(ref)
        assert (answer.status, answer.hits) == ("withheld", ())
        assert memory.show(ref, to_person=True).hits[0].record.private is True
    assert one.id not in read(desk, "catalog.json")
    assert memory.search("merger", Filters()).status == "no-match"
    assert memory.list(Filters()).hits == ()
    with pytest.raises(InputError) as refused:
        memory.observe(replace(draft("Another"), key="merger"), person)
    assert refused.value.code == "key-taken"


def test_an_operation_id_used_for_something_else_is_refused(memory: Memory, person: Actor) -> None:
    op_id = parse_op_id("X")
    one = memory.observe(draft("First"), person, op_id).records[0]
    with pytest.raises(InputError) as refused:
        memory.observe(draft("Second, different"), person, op_id)
    assert refused.value.code == "op-id-reused"
    edit_id = parse_op_id("Y")
    receipt = memory.edit(one.id, RecordEdit(body="New."), person, edit_id)
    assert memory.edit(one.id, RecordEdit(body="New."), person, edit_id).commit == receipt.commit
    with pytest.raises(InputError):
        memory.edit(one.id, RecordEdit(body="Newer."), person, edit_id)


def test_two_that_ask_for_one_key_at_once_do_not_both_get_it(desk: Desk, person: Actor) -> None:
    def slip_in(step: str) -> None:
        if step == "lock":
            with desk.open() as other:
                other.observe(replace(draft("Quicker"), key="the-key"), person)

    with desk.open(probe=slip_in) as memory, pytest.raises(InputError) as refused:
        memory.observe(replace(draft("Slower"), key="the-key"), person)
    assert refused.value.code == "key-taken"
    assert desk.commits()[0] == "observe: Quicker"
    desk.judge()


@pytest.mark.parametrize(
    ("reason", "newer", "code"),
    [("  ", None, "empty-reason"), ("old", "self", "supersedes-itself"), ("old", "gone", "successor-retired")],
)
def test_retiring_needs_sense(memory: Memory, person: Actor, reason: str, newer: str | None, code: str) -> None:
    one = memory.observe(draft("One"), person).records[0]
    gone = memory.observe(draft("Gone"), person).records[0]
    memory.retire(gone.id, "wrong", person)
    refs = {"self": one.id, "gone": gone.id}
    with pytest.raises(GitmemError) as refused:
        memory.retire(one.id, reason, person, refs.get(newer) if newer else None)
    assert refused.value.code == code
    with pytest.raises(StateError):
        memory.retire(gone.id, "again", person)
    with pytest.raises(StateError):
        memory.restore(one.id, person)


@pytest.mark.parametrize(
    ("old", "new", "fitted"),
    [
        ("\nold\n", "new", "\nnew\n"),
        ("old", "new\n", "new"),
        ("\r\nold\r\n\r\n", "\nnew\n", "\r\nnew\r\n\r\n"),
        ("\nold\n", "\n  new", "\n  new\n"),
        ("", "new", "\nnew\n"),
        ("\nsame\n", "same\n", "\nsame\n"),
    ],
)
def test_a_new_text_keeps_the_blank_lines_around_the_old(old: str, new: str, fitted: str) -> None:
    assert frame_body(old, new) == fitted


def test_nobody_is_asked_for_what_cannot_be_done(desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
    boundary = memory.declare(Draft("Never push", kind=Kind.BOUNDARY), person).records[0]
    dirty = memory.observe(draft("Edited outside"), person).records[0]
    old = memory.observe(draft("Old"), person).records[0]
    memory.retire(old.id, "outdated", person)
    with (desk.repo / dirty.path).open("a") as file:
        file.write("more\n")
    (desk.repo / "promoted" / "secret.md").write_text("token ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123\n")
    secret = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"
    asked: list[tuple[Callable[[], object], str]] = [
        (lambda: memory.promote(boundary.id, agent), "not-an-observation"),
        (lambda: memory.promote(dirty.id, agent), "dirty-path"),
        (lambda: memory.retire(old.id, "again", agent), "already-retired"),
        (lambda: memory.retire(boundary.id, f"see {secret}", agent), "secret-found"),
        (lambda: memory.edit(boundary.id, RecordEdit(properties={"authority": "x"}), agent), "property-is-managed"),
        (lambda: memory.edit(boundary.id, RecordEdit(properties={"authority": None}), agent), "property-is-managed"),
        (lambda: memory.edit(boundary.id, RecordEdit(body=f"see {secret}"), agent), "secret-found"),
        (lambda: memory.edit(boundary.id, RecordEdit(properties={"kind": "fact"}), agent), "kind-misfit"),
        (lambda: memory.declare(Draft("x" * 201, kind=Kind.GOAL), agent), "title-too-long"),
        (lambda: memory.declare(Draft("t", body=secret, kind=Kind.GOAL), agent), "secret-found"),
        (lambda: memory.observe(Draft("t", tags=("two words",)), agent), "bad-tag"),
        (lambda: memory.restore(boundary.id, agent), "not-retired"),
        (lambda: memory.adopt((), agent), "cannot-adopt"),
    ]
    for ask, code in asked:
        with pytest.raises(GitmemError) as refused:
            ask()
        assert refused.value.code == code
    desk.git("switch", "-q", "--detach")
    for ask in (
        lambda: memory.edit(boundary.id, RecordEdit(title="New"), agent),
        lambda: memory.adopt([dirty.path], agent),
    ):
        with pytest.raises(StateError) as stopped:
            ask()
        assert stopped.value.code == "not-on-managed-branch"


def test_what_changes_nothing_needs_nobody(desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
    one = memory.declare(Draft("Never push", kind=Kind.BOUNDARY), person).records[0]
    assert memory.edit(one.id, RecordEdit(title="Never push"), agent).changed is False
    assert memory.adopt((), agent).changed is False
    assert len(desk.commits()) == 2


def test_restoring_unlinks_however_the_link_is_written(desk: Desk, memory: Memory, person: Actor) -> None:
    old = memory.observe(draft("Old way"), person).records[0]
    new = memory.observe(draft("New way"), person).records[0]
    gone = memory.retire(old.id, "outdated", person, new.id).records[0]
    stem = f"old-way-{old.id[:6]}"
    links = [f"[[{gone.path.removesuffix('.md')}#Why|the old way]]", "[[nowhere]]"]
    memory.edit(new.id, RecordEdit(properties={"supersedes": links}), person)
    memory.edit(old.id, RecordEdit(properties={"superseded_by": [f"[[New-Way-{new.id[:6]}#Now|new]]"]}), person)
    memory.restore(old.id, person)
    assert stem not in read(desk, new.path)
    assert memory.show(new.id).hits[0].record.supersedes == ("[[nowhere]]",)
    assert memory.show(old.id).hits[0].record.superseded_by == ()


def test_a_model_cannot_take_a_link_out_of_a_persons_record(memory: Memory, person: Actor, agent: Actor) -> None:
    mine = memory.observe(draft("Mine"), agent).records[0]
    newer = memory.observe(draft("Newer"), agent).records[0]
    memory.retire(mine.id, "outdated", agent, newer.id)
    memory.promote(newer.id, person)
    with pytest.raises(PolicyError) as refused:
        memory.restore(mine.id, agent)
    assert refused.value.fields["rule"] == "edit-other"
