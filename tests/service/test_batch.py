"""Many drafts in one operation: one commit and one receipt for all of them, or nothing and every reason at once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Actor
from gitmem.model.record import MAX_DRAFT_FILE_BYTES, MAX_DRAFT_LINE_BYTES, MAX_DRAFTS, Draft, Kind
from gitmem.service.draft_lines import parse_drafts
from gitmem.service.memory import Memory
from gitmem.vault.schema import validate

from conftest import Desk, draft

SECRET = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"


def lines_of(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def drafts(number: int) -> list[Draft]:
    return [draft(f"Finding {i}", f"Text {i}.") for i in range(1, number + 1)]


def refused(write: Callable[[], object]) -> list[tuple[int | None, str]]:
    with pytest.raises(GitmemError) as error:
        write()
    return [(one.get("line"), one["code"]) for one in error.value.fields.get("problems", [])] or [
        (None, error.value.code)
    ]


def test_lines_become_drafts_by_the_names_of_the_options() -> None:
    whole = {
        "title": "Two workers",
        "body": "Text.\n",
        "kind": "finding",
        "summary": "Short",
        "tags": ["#tool/pytest", "scope/api"],
        "evidence": ["run:1"],
        "key": "workers",
    }
    data = b"\xef\xbb\xbf" + lines_of(whole) + b"\r\n  \t\n" + b'{"title": "Bare", "kind": null, "tags": null}\r\n'
    assert parse_drafts(data) == (
        [1, 4],
        [
            Draft("Two workers", "Text.\n", Kind.FINDING, "Short", ("tool/pytest", "scope/api"), ("run:1",), "workers"),
            Draft("Bare"),
        ],
    )
    validate("draft", whole)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b"{title: 1}", "bad-json", "Expecting property name enclosed in double quotes at column 2"),
        (b'{"title": "a"} {"title": "b"}', "bad-json", "Extra data at column 16"),
        (b'["a"]', "bad-json", "write one object a line, without a list around"),
        (b'"a"', "bad-json", "holds no JSON object"),
        (b'{"title": "caf\xe9"}', "not-utf8", "not valid UTF-8"),
        (b'{"title": "a\0"}', "bad-json", "a NUL byte"),
        (b'{"title": "\\ud800"}', "bad-json", "half of a character"),
        (b'{"title": "a", "title": "b"}', "duplicate-name", "the name 'title' stands there twice"),
        (b'{"title": "a", "tilte": "b"}', "unknown-name", "'tilte' is not known; did you mean title?"),
        (b'{"title": "a", "authority": "user_declared"}', "unknown-name", "the names are title, body, kind"),
        (b'{"title": "a", "kind": NaN}', "bad-json", "NaN is no JSON"),
        (b'{"title": "a", "key": ' + b"[" * 100_000, "bad-json", "very deep nesting"),
        (b'{"title": ' + b"1" * 5000 + b"}", "bad-json", "a huge number"),
        (b"{}", "schema", "must contain ['title'] properties"),
        (b'{"title": ""}', "schema", "title must be longer than or equal to 1 characters"),
        (b'{"title": 7}', "schema", "title must be string"),
        (b'{"title": "a", "tags": "tool"}', "schema", "tags must be array or null"),
        (b'{"title": "a", "kind": "recipe"}', "schema", "kind must be one of"),
        (b'{"title": "a", "evidence": ["hearsay"]}', "schema", "evidence[0] must match pattern"),
        (b'{"title": "' + b"a" * MAX_DRAFT_LINE_BYTES + b'"}', "line-too-long", "longer than 1 MiB"),
    ],
)
def test_a_bad_line_is_told_by_its_number(line: bytes, code: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_drafts(b'{"title": "Good"}\n\n' + line + b"\n")
    assert (error.value.code, error.value.fields["count"]) == ("bad-lines", 1)
    (problem,) = error.value.fields["problems"]
    assert (problem["line"], problem["code"]) == (3, code)
    assert message in problem["message"]
    assert len(problem["message"]) < 500
    assert error.value.message.startswith("1 of 2 lines can't be read: line 3: ")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no-drafts"),
        (b"\n \r\n", "no-drafts"),
        ('{"title": "a"}\n'.encode("utf-16"), "not-utf8"),
        ('{"title": "a"}\n'.encode("utf-16-le"), "not-utf8"),
        ('{"title": "a"}\n'.encode("utf-16-be"), "not-utf8"),
        (b'{"title": "a"}\n' * (MAX_DRAFTS + 1), "too-many-drafts"),
        (b" " * (MAX_DRAFT_FILE_BYTES + 1), "file-too-large"),
    ],
)
def test_a_file_that_is_none_is_refused_whole(data: bytes, code: str) -> None:
    assert refused(lambda: parse_drafts(data)) == [(None, code)]


def test_all_bad_lines_are_told_at_once_and_their_number_is_bounded() -> None:
    with pytest.raises(InputError) as error:
        parse_drafts(b"{\n" * 500)
    problems = error.value.fields["problems"]
    assert (error.value.fields["count"], len(problems), problems[-1]["line"]) == (500, 100, 100)
    assert error.value.message.startswith("500 of 500 lines can't be read: line 1: the line is no JSON")


def test_many_drafts_are_one_commit_and_one_receipt(desk: Desk, memory: Memory, agent: Actor) -> None:
    receipt = memory.observe_all(drafts(3), agent)
    assert [memory.show(ref.id).hits[0].record.title for ref in receipt.records] == [
        "Finding 1",
        "Finding 2",
        "Finding 3",
    ]
    assert desk.commits() == ["observe: 3 records", "init: workspace vault vault"]
    body = desk.git("log", "-1", "--format=%b")
    assert body.startswith("Finding 1\nFinding 2\nFinding 3\n\nGitmem-Op: observe\n")
    assert [line for line in body.splitlines() if line.startswith("Gitmem-Record")] == [
        f"Gitmem-Record: {ref.id}" for ref in receipt.records
    ]
    assert memory.check().rows == ()
    assert [row["op"] for row in memory.log(receipt.records[1].id).rows] == ["observe"]
    desk.judge()


def test_a_commit_of_more_than_fifty_says_how_many(desk: Desk, memory: Memory, agent: Actor) -> None:
    receipt = memory.observe_all(drafts(51), agent)
    body = desk.git("log", "-1", "--format=%b")
    assert "Gitmem-Records: 51\n" in body
    assert "Gitmem-Record:" not in body
    assert "Finding 20\n…\n" in body
    assert "Finding 21" not in body
    assert len(receipt.records) == 51
    desk.judge()


def test_one_draft_is_called_by_its_title(desk: Desk, memory: Memory, agent: Actor) -> None:
    memory.observe_all([draft("Only one")], agent)
    assert desk.commits()[0] == "observe: Only one"


def test_everything_that_is_wrong_is_told_and_nothing_is_written(desk: Desk, memory: Memory, agent: Actor) -> None:
    memory.observe(replace(draft("Taken"), key="taken"), agent)
    before = (desk.commits(), desk.git("status", "--porcelain"))
    wrong = [
        draft("Good"),
        replace(draft("First"), key="Twice"),
        draft("  good "),
        replace(draft("Second"), key="twice"),
        replace(draft("Third"), key="TAKEN"),
        draft("Fourth", f"the token is {SECRET}"),
        replace(draft("Fifth"), kind=Kind.GOAL),
        replace(draft("Sixth"), tags=("Not A Tag",)),
        replace(draft("Seventh"), evidence=("file:/etc/passwd",)),
        draft("Eighth", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"),
        draft("Ninth\u202e"),
        draft("Tenth", "x" * (257 << 10)),
    ]
    with pytest.raises(InputError) as error:
        memory.observe_all(wrong, agent, lines=range(11, 23))
    assert error.value.code == "bad-lines"
    assert [(one["line"], one["code"]) for one in error.value.fields["problems"]] == [
        (13, "duplicate-title"),
        (14, "duplicate-key"),
        (15, "key-taken"),
        (16, "secret-found"),
        (17, "refused"),
        (18, "bad-tag"),
        (19, "bad-evidence"),
        (20, "bad-body"),
        (21, "hidden-characters"),
        (22, "body-too-large"),
    ]
    assert error.value.message == "10 of 12 records can't be written: line 13: it has the title of line 11"
    assert SECRET not in repr(error.value.fields)
    assert (desk.commits(), desk.git("status", "--porcelain")) == before
    desk.judge()


def test_policy_looks_at_each_draft(desk: Desk, memory: Memory, agent: Actor, person: Actor) -> None:
    some = [*drafts(2), Draft("No evidence")]
    with pytest.raises(PolicyError) as error:
        memory.observe_all(some, agent)
    assert (error.value.code, error.value.message) == (
        "needs-human",
        "line 3: an observation of a model needs evidence or a person",
    )
    rules = [Draft("Never on Fridays", kind=Kind.BOUNDARY), Draft("Ship weekly", kind=Kind.GOAL)]
    with pytest.raises(PolicyError) as error:
        memory.declare_all(rules, agent)
    assert error.value.code == "needs-human"
    assert refused(lambda: memory.declare_all([*rules, Draft("A fact", kind=Kind.FACT)], agent)) == [(3, "refused")]
    assert len(desk.commits()) == 1
    assert len(memory.observe_all(some, person).records) == 3
    declared = memory.declare_all(rules, person)
    assert [memory.show(ref.id).hits[0].record.authority for ref in declared.records] == ["user_declared"] * 2
    desk.judge()


@pytest.mark.parametrize(("number", "code"), [(0, "no-drafts"), (MAX_DRAFTS + 1, "too-many-drafts")])
def test_the_number_of_drafts_is_bounded(memory: Memory, agent: Actor, number: int, code: str) -> None:
    assert refused(lambda: memory.observe_all(drafts(number), agent)) == [(None, code)]


def test_a_retry_gets_the_same_answer_and_other_drafts_do_not(desk: Desk, memory: Memory, agent: Actor) -> None:
    keyed = [replace(one, key=f"key-{number}") for number, one in enumerate(drafts(2))]
    first = memory.observe_all(keyed, agent, "batch-1")
    assert memory.observe_all(keyed, agent, "batch-1") == first
    assert refused(lambda: memory.observe_all(drafts(3), agent, "batch-1")) == [(None, "op-id-reused")]
    assert refused(lambda: memory.observe(keyed[0], agent, "batch-1")) == [(None, "op-id-reused")]
    assert len(desk.commits()) == 2


def test_several_records_are_promoted_retired_and_restored_at_once(
    desk: Desk, memory: Memory, agent: Actor, person: Actor
) -> None:
    ids = [ref.id for ref in memory.observe_all(drafts(3), agent).records]
    paths = [memory.show(one).hits[0].record.path for one in ids]
    for write in (
        lambda: memory.promote_all(ids, agent),
        lambda: memory.retire_all([*ids], "old", replace(agent, name="another")),
    ):
        with pytest.raises(PolicyError):
            write()
    promoted = memory.promote_all([ids[0], ids[1], ids[0], paths[1]], person, "p1")
    assert [(ref.id, ref.state) for ref in promoted.records] == [(ids[0], "promoted"), (ids[1], "promoted")]
    assert memory.promote_all([ids[0], ids[1], ids[0], paths[1]], person, "p1") == promoted
    assert refused(lambda: memory.promote_all([ids[2]], person, "p1")) == [(None, "op-id-reused")]
    retired = memory.retire_all(ids, "Out of date", person)
    assert {ref.state for ref in retired.records} == {"retired"}
    assert desk.git("log", "-1", "--format=%b").startswith("Finding 1\nFinding 2\nFinding 3\nReason: Out of date\n\n")
    restored = memory.restore_all(ids, person)
    assert [ref.state for ref in restored.records] == ["promoted", "promoted", "observation"]
    assert desk.commits()[:3] == ["restore: 3 records", "retire: 3 records", "promote: 2 records"]
    assert memory.check().rows == ()
    desk.judge()


def test_an_agent_may_retire_several_of_its_own(memory: Memory, agent: Actor) -> None:
    ids = [ref.id for ref in memory.observe_all(drafts(2), agent).records]
    assert len(memory.retire_all(ids, "wrong", agent).records) == 2
    assert len(memory.restore_all(ids, agent).records) == 2


def test_one_record_in_the_way_stops_all_and_each_is_told(desk: Desk, memory: Memory, person: Actor) -> None:
    ids = [ref.id for ref in memory.observe_all(drafts(3), person).records]
    memory.promote(ids[0], person)
    with pytest.raises(InputError) as error:
        memory.promote_all([ids[0], ids[1], "nothing-like-it"], person)
    assert error.value.code == "bad-records"
    assert error.value.fields["problems"] == [
        {"code": "not-an-observation", "message": f"{ids[0]}: 'Finding 1' is promoted, not an observation"},
        {"code": "no-such-record", "message": "nothing-like-it: no record has the id, key or path 'nothing-like-it'"},
    ]
    with pytest.raises(StateError) as one:
        memory.promote_all([ids[0]], person)
    assert one.value.code == "not-an-observation"
    assert refused(lambda: memory.promote_all([], person)) == [(None, "no-records")]
    assert desk.commits()[0] == "promote: Finding 1"
    desk.judge()


def test_several_records_give_way_to_one_and_come_back(desk: Desk, memory: Memory, person: Actor) -> None:
    ids = [ref.id for ref in memory.observe_all(drafts(4), person).records]
    memory.retire(ids[0], "older still", person, ids[1])
    memory.retire_all(ids[1:3], "newer", person, ids[3])
    newest = memory.show(ids[3]).hits[0].record
    assert [link[2:12] for link in newest.supersedes] == ["finding-2-", "finding-3-"]
    assert refused(lambda: memory.retire_all([ids[3]], "x", person, ids[3])) == [(None, "supersedes-itself")]
    restored = memory.restore_all(ids[:3], person)
    assert [ref.id for ref in restored.records] == ids
    for one in ids:
        record = memory.show(one).hits[0].record
        assert (record.state, record.supersedes, record.superseded_by) == ("observation", (), ())
    assert memory.check().rows == ()
    desk.judge()


@pytest.mark.parametrize("step", ["journal", "write-next", "inspect", "commit", "prove", "receipt", "finish"])
def test_a_batch_that_is_killed_is_there_whole_or_not_at_all(desk: Desk, agent: Actor, step: str) -> None:
    def stop(at: str) -> None:
        if at == step:
            os._exit(9)

    child = os.fork()
    if not child:
        try:
            with desk.open(probe=stop) as memory:
                memory.observe_all(drafts(3), agent, "batch-1")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with desk.open() as memory:
        found = memory.status().extra["counts"]
        is_committed = step in ("prove", "receipt", "finish")
        assert found == ({"observation": 3} if is_committed else {})
        assert len(memory.observe_all(drafts(3), agent, "batch-1").records) == 3
        assert memory.check().rows == ()
    assert desk.commits() == ["observe: 3 records", "init: workspace vault vault"]
    desk.judge()
