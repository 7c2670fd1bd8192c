"""Records as files, several records edited at once, and keys that are given free."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.errors import InputError, PolicyError, StateError
from gitmem.model.authority import Actor, model_actor
from gitmem.model.ids import new_op_id
from gitmem.model.record import Draft, State
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory

from conftest import Desk, draft


def keyed(key: str, title: str = "Kept") -> Draft:
    return Draft(title, f"{title}.", evidence=("run:1",), key=key)


def test_a_record_lies_where_its_key_says_that_a_model_chose(memory: Memory, agent: Actor, person: Actor) -> None:
    plain = memory.observe(draft(), agent).records[0]
    keys = ("memories/../x", "memories/baseline/x", "Memories/x")
    odd = [memory.observe(keyed(key), agent).records[0] for key in keys]
    chosen = memory.observe(keyed("memories/a/b.md"), agent).records[0]
    memory.retire(memory.observe(keyed("memories/gone"), agent).records[0].id, "over", agent)
    rows = memory.files().rows
    assert {row["path"]: (row["id"], row["is_chosen"]) for row in rows} == {
        **{one.path: (one.id, False) for one in (plain, *odd)},
        "a/b.md": (chosen.id, True),
    }
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    assert memory.files(chosen_only=True).rows == tuple(row for row in rows if row["is_chosen"])
    assert all(row["bytes"] > 100 for row in rows)


def test_what_the_actor_wrote_is_told_as_it_is_and_all_else_escaped(memory: Memory, agent: Actor, desk: Desk) -> None:
    ref = memory.observe(Draft("T", "<b>\u202e", evidence=("run:1",)), agent).records[0]
    mine, theirs = memory.show_file(ref.id, agent), memory.show_file(ref.id, model_actor("other"))
    assert (mine.extra["is_own"], mine.extra["body"].strip()) == (True, "<b>\u202e")
    assert (theirs.extra["is_own"], theirs.extra["body"].strip()) == (False, "&lt;b>\\u{202e}")
    file = desk.repo / ref.path
    file.write_text(file.read_text() + "<i>\n")
    edited = memory.show_file(ref.id, agent)
    assert (edited.extra["is_own"], edited.extra["body"].strip()) == (False, "&lt;b>\\u{202e}\n&lt;i>")


def test_several_records_are_edited_in_one_commit_or_none(memory: Memory, agent: Actor, desk: Desk) -> None:
    refs = [memory.observe(draft(f"R {number}"), agent).records[0].id for number in range(3)]
    before = len(desk.commits())
    edits = [(ref, RecordEdit(body=f"New {ref}")) for ref in refs[:2]] + [(refs[2], RecordEdit(title="R 2"))]
    op_id = new_op_id()
    done = memory.edit_all(edits, agent, op_id)
    assert ([one.id for one in done.records], len(desk.commits())) == (refs[:2], before + 1)
    assert desk.git("log", "-1", "--format=%s%n%b").startswith("edit: 2 records\nR 0\nR 1\n")
    assert memory.edit_all(edits, agent, op_id) == done
    assert memory.edit_all(edits[2:], agent).changed is False
    assert [memory.show(ref).extra["body"].strip() for ref in refs[:2]] == [f"New {ref}" for ref in refs[:2]]
    with pytest.raises(InputError) as twice:
        memory.edit_all([edits[0], edits[0]], agent)
    with pytest.raises(InputError) as empty:
        memory.edit_all([(refs[0], RecordEdit())], agent)
    with pytest.raises(InputError) as reused:
        memory.edit_all(edits[:1], agent, op_id)
    assert [one.value.code for one in (twice, empty, reused)] == ["named-twice", "nothing-to-edit", "op-id-reused"]
    with pytest.raises(PolicyError):
        memory.edit_all([(ref, RecordEdit(body="x")) for ref in refs], model_actor("other"))
    assert len(desk.commits()) == before + 1
    desk.judge()


def test_records_may_exchange_their_keys_in_one_edit(memory: Memory, agent: Actor) -> None:
    a, b = (memory.observe(keyed(key), agent).records[0].id for key in ("k-a", "k-b"))
    memory.edit_all([(a, RecordEdit(properties={"key": "k-b"})), (b, RecordEdit(properties={"key": "k-a"}))], agent)
    assert [memory.show(key).hits[0].record.id for key in ("k-a", "k-b")] == [b, a]


def test_an_edit_of_what_changed_since_it_was_shown_is_refused(memory: Memory, agent: Actor) -> None:
    ref = memory.observe(draft(), agent).records[0].id
    seen = memory.show(ref).hits[0].record.fingerprint
    memory.edit(ref, RecordEdit(body="Newer."), agent)
    with pytest.raises(StateError) as refused:
        memory.edit(ref, RecordEdit(body="From what was."), replace(agent, shown=((ref, seen),)))
    assert refused.value.code == "changed-meanwhile"
    assert memory.show(ref).extra["body"].strip() == "Newer."


def test_a_key_is_given_free_only_when_asked(memory: Memory, agent: Actor) -> None:
    for frees_key, code in ((False, "key-taken"), (True, None)):
        ref = memory.observe(keyed(f"k-{frees_key}"), agent).records[0].id
        memory.retire_all([ref], "over", agent, frees_key=frees_key)
        record = memory.show(ref).hits[0].record
        assert (record.state, record.key) == (State.RETIRED, None if frees_key else f"k-{frees_key}")
        if code is None:
            memory.observe(keyed(f"k-{frees_key}"), agent)
        else:
            with pytest.raises(InputError) as refused:
                memory.observe(keyed(f"k-{frees_key}"), agent)
            assert refused.value.code == code


def test_whoever_waits_for_writers_finds_the_vault_at_rest(memory: Memory, agent: Actor, desk: Desk) -> None:
    memory.observe(draft(), agent)
    memory.wait_for_writers()
    desk.judge()
    with desk.open(lock_wait_s=0) as other:
        other.wait_for_writers()
