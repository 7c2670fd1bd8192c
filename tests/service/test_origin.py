"""Whose an uncommitted change is likely to be: each trace that is looked for, and nothing claimed without one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitmem.model.authority import Actor
from gitmem.service.memory import Memory
from gitmem.service.origin import MAX_COMMITS, is_sync_copy

from conftest import Desk, draft


def whose(memory: Memory) -> dict[str, str]:
    return {row["path"]: row["whose"] for row in memory.status().rows}


def test_an_edit_without_a_trace_is_an_editors_or_another_programs(
    desk: Desk, memory: Memory, agent: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = memory.observe(draft("One"), agent).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text() + "By hand.\n")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    (desk.repo / "promoted" / "New.md").write_text("New.\n")
    desk.git("add", "promoted/New.md")
    os.utime(desk.repo / "promoted" / "New.md", (1_000_000_001, 1_000_000_001))
    row: dict[str, Any] = {
        "path": one.path,
        "change": "edited",
        "whose": "editor",
        "staged": False,
        "staged_apart": False,
        "left_alone": "",
        "modified": "2001-09-09T01:46:40Z",
        "owner": None,
    }
    new = row | {"path": "promoted/New.md", "change": "new", "staged": True, "modified": "2001-09-09T01:46:41Z"}
    assert memory.status().rows == (row, new)
    owner = Path(file).owner()
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    assert [row["owner"] for row in memory.status().rows] == [owner, owner]
    monkeypatch.undo()
    file.unlink()
    gone = memory.status().rows[0]
    assert (gone["change"], gone["whose"], gone["modified"], gone["owner"]) == ("deleted", "editor", None, None)


def test_bytes_of_an_earlier_commit_or_another_branch_are_gits(desk: Desk, memory: Memory, person: Actor) -> None:
    one, two, three = (memory.observe(draft(title), person).records[0] for title in ("One", "Two", "Three"))
    old = (desk.repo / one.path).read_bytes()
    memory.edit(one.id, _body("Newer."), person)
    (desk.repo / one.path).write_bytes(old)
    (desk.repo / two.path).write_bytes(old)  # committed once, but at another path
    file = desk.repo / three.path
    file.write_text(file.read_text() + "Put away.\n")
    desk.git("stash", "push", "-q", "--", three.path)
    desk.git("restore", "--source=stash@{0}", "--", three.path)
    assert whose(memory) == {one.path: "git", two.path: "editor", three.path: "git"}


def test_how_far_back_is_looked_is_bounded(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    old = (desk.repo / one.path).read_bytes()
    memory.edit(one.id, _body("Newer."), person)
    for number in range(MAX_COMMITS - 1):
        desk.git("commit", "-q", "--allow-empty", "-m", str(number))
    (desk.repo / one.path).write_bytes(old)
    assert whose(memory) == {one.path: "git"}
    desk.git("commit", "-q", "--allow-empty", "-m", "one more")
    assert whose(memory) == {one.path: "editor"}


def test_what_an_operation_left_is_gitmems(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    file = desk.repo / one.path
    text = file.read_text()
    file.write_text(text + "In the wrong moment.\n")
    kept = desk.runtime / "displaced" / "op1"
    kept.mkdir(parents=True)
    (kept / one.path.replace("/", "%2F")).write_bytes(file.read_bytes())
    assert whose(memory) == {one.path: "gitmem"}
    shutil.rmtree(kept)
    assert whose(memory) == {one.path: "editor"}
    (file.parent / ".gitmem-op1-0.tmp").write_bytes(file.read_bytes())
    assert whose(memory)[one.path] == "gitmem"


def test_what_an_operation_under_way_writes_is_gitmems(desk: Desk, person: Actor) -> None:
    seen: list[dict[str, str]] = []

    def look(step: str) -> None:
        if step == "stage":
            with desk.open(lock_wait_s=0.0) as other:
                seen.append(whose(other))

    with desk.open(probe=look) as memory:
        one = memory.observe(draft("One"), person).records[0]
    assert seen == [{one.path: "gitmem"}]


@pytest.mark.parametrize(
    ("name", "beside", "is_copy"),
    [
        ("Note.sync-conflict-20261130-120000-ABCDEFG.md", (), True),
        ("Note (Pat's conflicted copy 2026-11-30).md", (), True),
        ("Note (Conflicted copy phone 202611301200).md", (), True),
        ("Note (SFConflict pat@example.com 2026-11-30-12-00-00).md", (), True),
        ("Note (conflict 2026-11-30-12-00-00).md", (), True),
        ("conflict-files-obsidian-git.md", (), True),
        ("Note 2.md", ("Note.md",), True),
        ("Note 2.md", ("Note.md", "Note 1.md"), False),
        ("Note 2.md", (), False),
        ("Note 1.md", ("Note.md",), False),
        ("Note-DESKTOP-A1B2C3.md", ("Note.md",), True),
        ("Note-DESKTOP-A1B2C3.md", (), False),
        ("Note-2026.md", ("Note.md",), False),
        ("Note-draft.md", ("Note.md",), False),
        ("On conflict.md", (), False),
    ],
)
def test_names_that_sync_programs_give(tmp_path: Path, name: str, beside: tuple[str, ...], *, is_copy: bool) -> None:
    (tmp_path / "promoted").mkdir()
    for one in (name, *beside):
        (tmp_path / "promoted" / one).touch()
    assert is_sync_copy(str(tmp_path), f"promoted/{name}") is is_copy


def test_other_files_and_views_that_wait_are_counted(desk: Desk, memory: Memory) -> None:
    (desk.repo / "promoted" / "picture.png").write_bytes(b"\x89PNG")
    (desk.repo / "promoted" / ".hidden.md").write_text("not a note\n")
    (desk.repo / "Read me.md").write_text("Outside the folders of records.\n")
    (desk.repo / "promoted" / "Note.md").write_text("A note.\n")
    index = desk.repo / "INDEX.md"
    index.write_text(index.read_text() + "mine\n")
    answer = memory.status()
    assert answer.extra["waiting"] == {"notes": 1, "private": 0, "views": 1, "other_files": 3}
    assert [row["path"] for row in answer.rows] == ["promoted/Note.md"]


def _body(text: str) -> Any:
    from gitmem.service.edit import RecordEdit

    return RecordEdit(body=text)
