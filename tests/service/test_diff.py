"""What became of records between two moments, told whole."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.diff import Bounds
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory

from conftest import Desk, draft

Rows = list[tuple[Any, ...]]


def told(memory: Memory, *ends: str, **options: Any) -> Rows:
    """Return change, title, properties but the date, and lines of each row."""
    return [
        (
            row["change"],
            row["title"],
            [(one["name"], one["old"], one["new"]) for one in row["properties"] if one["name"] != "updated"],
            row["lines"],
        )
        for row in memory.diff(*ends, **options).rows
    ]


@pytest.fixture
def ids(memory: Memory, agent: Actor, person: Actor) -> dict[str, str]:
    names = ("one", "two", "three", "four")
    return {
        name: memory.observe(draft(f"Record {name}", f"First.\nSecond of {name}.\nThird."), agent).records[0].id
        for name in names
    }


def test_each_record_is_told_by_what_became_of_it(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, ids: dict[str, str]
) -> None:
    start = desk.git("rev-parse", "HEAD").strip()
    today = memory.vault.clock.now().strftime("%Y-%m-%d")
    memory.edit(ids["one"], RecordEdit(body="First.\nChanged.\nThird.\n", add_tags=("tool/xdist",)), person)
    promoted = memory.promote(ids["one"], person).records[0].path
    memory.retire(ids["two"], "wrong", person)
    memory.edit(ids["three"], RecordEdit(summary="Three in short."), person)
    memory.declare(Draft("Never push", kind=Kind.BOUNDARY), person)
    four = memory.show(ids["four"]).hits[0].record.path
    desk.git("mv", four, "observations/moved.md")
    desk.git("commit", "-qm", "moved by hand")
    answer = memory.diff(start)
    assert told(memory, start) == [
        ("added", "Never push", [], []),
        (
            "promoted",
            "Record one",
            [("tags", ["tool/pytest"], ["tool/pytest", "tool/xdist"]), ("verified", None, today)],
            ["@@ -1,4 +1,4 @@", " ", " First.", "-Second of one.", "+Changed.", " Third."],
        ),
        ("retired", "Record two", [], []),
        ("moved", "Record four", [], []),
        ("edited", "Record three", [("summary", "First.", "Three in short.")], []),
    ]
    row = answer.rows[1]
    assert (row["id"], row["path"], row["old_path"] is not None, row["state"]) == (
        ids["one"],
        promoted,
        True,
        "promoted",
    )
    assert (row["lines_added"], row["lines_removed"], row["lines_omitted"]) == (1, 1, 0)
    assert answer.extra["counts"] == {"added": 1, "promoted": 1, "retired": 1, "moved": 1, "edited": 1}
    assert answer.extra["from"]["commit"] == start
    assert answer.extra["to"]["commit"] == answer.revision == desk.git("rev-parse", "HEAD").strip()
    back = memory.diff("HEAD", start)
    assert [row["change"] for row in back.rows] == ["restored", "moved", "moved", "edited", "removed"]


def test_without_ends_it_is_the_last_commit_and_with_one_all_until_now(
    desk: Desk, memory: Memory, person: Actor, ids: dict[str, str]
) -> None:
    assert [row[:2] for row in told(memory)] == [("added", "Record four")]
    assert [row[:2] for row in told(memory, "HEAD~2")] == [("added", "Record four"), ("added", "Record three")]
    assert [row[:2] for row in told(memory, "HEAD~2", "HEAD~1")] == [("added", "Record three")]
    done = memory.promote(ids["two"], person)
    assert [row[:2] for row in told(memory, f"{done.op_id}^", done.op_id)] == [("promoted", "Record two")]
    nothing = memory.diff("HEAD")
    assert (nothing.status, nothing.rows, nothing.extra["counts"]) == (Status.NO_MATCH, (), {})


def test_the_first_commit_differs_from_nothing(memory: Memory) -> None:
    answer = memory.diff()
    assert (answer.rows, answer.extra["from"], answer.status) == ((), None, Status.OK)
    assert answer.extra["other_files"] > 0


def test_what_is_not_committed_is_told_too(desk: Desk, memory: Memory, ids: dict[str, str]) -> None:
    one = desk.repo / memory.show(ids["one"]).hits[0].record.path
    one.write_text(one.read_text().replace("Third.", "Third and last."))
    two = desk.repo / memory.show(ids["two"]).hits[0].record.path
    two.unlink()
    three = desk.repo / memory.show(ids["three"]).hits[0].record.path
    three.rename(desk.repo / "observations" / "renamed.md")
    (desk.repo / "observations" / "plain.md").write_text("A plain note.\n")
    answer = memory.diff(to_worktree=True)
    assert told(memory, to_worktree=True) == [
        ("added", "plain", [], []),
        ("moved", "Record three", [], []),
        ("edited", "Record one", [], ["@@ -2,3 +2,3 @@", " First.", " Second of one.", "-Third.", "+Third and last."]),
        ("removed", "Record two", [], []),
    ]
    assert (answer.extra["to"], answer.revision) == (None, desk.git("rev-parse", "HEAD").strip())
    assert "id" not in answer.rows[0]
    assert len(memory.diff("HEAD~1", to_worktree=True).rows) == 5
    with pytest.raises(InputError, match="can't both"):
        memory.diff("HEAD", "HEAD", to_worktree=True)


def test_of_private_records_only_the_number_is_told(
    desk: Desk, memory: Memory, agent: Actor, person: Actor, ids: dict[str, str]
) -> None:
    start = desk.git("rev-parse", "HEAD").strip()
    for name in ("one", "two"):
        file = desk.repo / memory.show(ids[name]).hits[0].record.path
        file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))
    broken = desk.repo / memory.show(ids["three"]).hits[0].record.path
    broken.write_text(broken.read_text().replace("---\n", "---\nprivate: true\ntitle: [\n", 1))
    desk.git("commit", "-qam", "private")
    memory.edit(ids["four"], RecordEdit(summary="Four."), person)
    for answer, private in ((memory.diff(start), 3), (memory.diff(f"{start}~4", start), 3)):
        assert answer.extra["private"] == private
        assert all(
            word not in str(answer) for word in ("Record one", "Record two", ids["one"], ids["two"], "record-one")
        )
    assert [row["title"] for row in memory.diff(start).rows] == ["Record four"]


def test_secrets_are_masked_and_what_can_not_be_read_is_said(desk: Desk, memory: Memory, ids: dict[str, str]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    one = desk.repo / memory.show(ids["one"]).hits[0].record.path
    one.write_text(one.read_text() + f"The token is {secret}.\n")
    desk.git("commit", "-qam", "a token")
    one.write_text(one.read_text().replace(secret, secret[:-1] + "X"))
    two = desk.repo / memory.show(ids["two"]).hits[0].record.path
    two.write_text("---\ntitle: [\n---\n")
    desk.git("commit", "-qam", "another token")
    answer = memory.diff("HEAD~2")
    assert secret[:12] not in str(answer)
    edited, unreadable = answer.rows
    assert edited["lines"][-1] == "+The token is [secret]."
    assert unreadable["change"] == "unreadable"
    assert unreadable["message"]
    assert [(row["change"], row["unshown"]) for row in memory.diff().rows] == [("edited", True), ("unreadable", False)]


def test_what_is_too_much_is_counted(desk: Desk, memory: Memory, person: Actor, ids: dict[str, str]) -> None:
    memory.edit(ids["one"], RecordEdit(body="".join(f"Line {number}.\n" for number in range(100))), person)
    (row,) = memory.diff(bounds=Bounds(lines=5)).rows
    assert (len(row["lines"]), row["lines_omitted"], row["lines_added"], row["lines_removed"]) == (5, 100, 100, 3)
    memory.edit(ids["one"], RecordEdit(body="".join(f"Other {number}.\n" for number in range(5000))), person)
    (row,) = memory.diff().rows
    assert (row["lines"], row["lines_omitted"], row["lines_added"], row["lines_removed"]) == ([], 5100, 5000, 100)
    memory.edit(ids["one"], RecordEdit(properties={"owner": "x" * 5000}), person)
    (row,) = memory.diff().rows
    (owner,) = (one for one in row["properties"] if one["name"] == "owner")
    assert owner == {"name": "owner", "old": None, "new": "x" * 999 + "…"}
    answer = memory.diff("HEAD~5", bounds=Bounds(records=2))
    assert (len(answer.rows), answer.extra["omitted"]) == (2, 1)
    with pytest.raises(InputError):
        memory.diff(bounds=Bounds(records=0))


def test_another_repository_and_a_link_in_a_notes_place_are_no_notes(desk: Desk, memory: Memory) -> None:
    start = desk.git("rev-parse", "HEAD").strip()
    (desk.repo / "promoted" / "other.md").mkdir()
    desk.git("init", "-q", "promoted/other.md")
    desk.git("-C", "promoted/other.md", "commit", "-qm", "theirs", "--allow-empty")
    (desk.repo / "promoted" / "link.md").symlink_to("other.md")
    (desk.repo / "promoted" / "note.md").write_text("Theirs.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "by hand")
    assert told(memory, start) == [("added", "note", [], [])]
    assert memory.diff(start).extra["other_files"] == 2
    assert told(memory, to_worktree=True) == []
    desk.git("rm", "-rqf", "--cached", "promoted/other.md")
    desk.git("commit", "-qm", "gone again")
    assert told(memory) == []


def test_before_the_first_commit_there_was_nothing(memory: Memory, ids: dict[str, str]) -> None:
    answer = memory.diff("2001")
    assert [(row["change"], row["title"]) for row in answer.rows] == [
        ("added", f"Record {name}") for name in ("four", "one", "three", "two")
    ]
    assert answer.extra["from"] is None
    with pytest.raises(InputError, match="the vault had no commit"):
        memory.diff("2001", "2002")
