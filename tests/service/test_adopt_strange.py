"""Adopting in the vaults of real people: moves, copies, staging areas, sync programs and odd files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory

from conftest import SHARED, Desk, draft


def ids_by_path(desk: Desk) -> dict[str, str]:
    """Return the gitmem_id of each record that is committed, by path."""
    found = desk.git("grep", "-h", "--name-only", "--cached", "-l", "gitmem_id", check=False).splitlines()
    lines = {path: desk.git("show", f"HEAD:{path}") for path in found if path.endswith(".md") and "/" in path}
    return {
        path: next(line.split(": ")[1] for line in text.splitlines() if line.startswith("gitmem_id"))
        for path, text in lines.items()
    }


def problems_of(adopt: Callable[[], object]) -> dict[str, str]:
    with pytest.raises(StateError) as error:
        adopt()
    assert error.value.code == "cannot-adopt"
    return {one["path"]: one["code"] for one in error.value.fields["problems"]}


def list_bad(adopt: Callable[[], object]) -> set[str]:
    """Return the paths that were in the way of ``adopt``, none when it went through."""
    try:
        adopt()
    except StateError as error:
        return {one["path"] for one in error.fields["problems"]} if error.code == "cannot-adopt" else {error.message}
    return set()


def displaced(desk: Desk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in desk.runtime.glob("displaced/*/*")}


@pytest.mark.parametrize("named", ["old", "new", "both", "folder", "none"])
def test_a_renamed_note_is_one_record_whichever_name_is_given(
    desk: Desk, memory: Memory, person: Actor, named: str
) -> None:
    one = memory.observe(draft("One"), person).records[0]
    old, new = one.path, "promoted/Renamed by hand.md"
    (desk.repo / old).rename(desk.repo / new)
    paths = {"old": [old], "new": [new], "both": [old, new], "folder": ["promoted"], "none": []}[named]
    receipt = memory.adopt(paths, person)
    assert [(ref.id, ref.path) for ref in receipt.records] == [(one.id, new)]
    assert ids_by_path(desk) == {new: one.id}
    assert desk.commits()[0] == "adopt: One (observation to promoted)"
    assert memory.check().rows == ()
    desk.judge()


def test_a_name_that_changes_only_in_case_is_a_move(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "promoted" / "Note.md").write_text("A note.\n")
    one = memory.adopt((), person).records[0]
    (desk.repo / "promoted" / "Note.md").rename(desk.repo / "promoted" / "note.md")
    receipt = memory.adopt(["promoted/note.md"], person)
    assert [(ref.id, ref.path) for ref in receipt.records] == [(one.id, "promoted/note.md")]
    assert ids_by_path(desk) == {"promoted/note.md": one.id}
    desk.judge()


def test_a_renamed_folder_moves_its_records_and_a_deleted_one_retires_them(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    folder = desk.repo / "promoted" / "Cards" / "Deep"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"Card {name}.\n")
    ids = {ref.path.rpartition("/")[2]: ref.id for ref in memory.adopt((), person).records}
    (desk.repo / "promoted" / "Cards").rename(desk.repo / "promoted" / "My cards")
    memory.adopt(["promoted/My cards"], person)
    assert ids_by_path(desk) == {f"promoted/My cards/Deep/{name}": one for name, one in ids.items()}
    shutil.rmtree(desk.repo / "promoted" / "My cards")
    receipt = memory.adopt((), person)
    assert [ref.state for ref in receipt.records] == ["retired", "retired"]
    assert set(ids_by_path(desk).values()) == set(ids.values())
    assert memory.check().rows == ()
    desk.judge()


def test_copies_are_records_of_their_own_also_of_a_private_one(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "promoted" / "Secret plan.md").write_text("---\nprivate: true\nkey: plan\n---\nThe plan.\n")
    one = memory.adopt((), person).records[0]
    for name in ("Secret plan 1.md", "Secret plan 2.md"):
        shutil.copy(desk.repo / one.path, desk.repo / "promoted" / name)
    receipt = memory.adopt((), person)
    assert len({ref.id for ref in receipt.records} | {one.id}) == 3
    assert len(set(ids_by_path(desk).values())) == 3
    assert "plan" not in desk.git("log", "-1", "--format=%B").lower()
    assert memory.check().rows == ()


def test_a_record_that_was_moved_and_copied_keeps_its_id_once(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    for name in ("a.md", "b.md"):
        shutil.copy(desk.repo / one.path, desk.repo / "promoted" / name)
    (desk.repo / one.path).unlink()
    memory.adopt(["promoted/b.md"], person)
    assert ids_by_path(desk) == {"promoted/b.md": one.id}
    assert desk.git("status", "--porcelain") == "?? promoted/a.md\n"
    (second,) = memory.adopt((), person).records
    assert ids_by_path(desk) == {"promoted/a.md": second.id, "promoted/b.md": one.id}
    assert second.id != one.id
    assert memory.check().rows == ()


def test_what_is_on_disk_is_committed_and_what_was_staged_apart_is_kept(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    one = memory.observe(draft("One"), person).records[0]
    file = desk.repo / one.path
    committed = file.read_bytes()
    file.write_bytes(committed + b"Staged.\n")
    desk.git("add", one.path)
    file.write_bytes(committed + b"On disk.\n")
    (note,) = memory.find_edited()
    assert (note.change, note.is_staged, note.staged_apart) == ("edited", True, True)
    receipt = memory.adopt((), person)
    assert receipt.notices == (
        f"what was staged of {one.path} differed from the file; it is kept in runtime/displaced/{receipt.op_id}",
    )
    assert displaced(desk) == {"staged-" + one.path.replace("/", "%2F"): committed + b"Staged.\n"}
    assert desk.git("show", f"HEAD:{one.path}").endswith("On disk.\n")
    desk.judge()


def test_what_was_staged_of_a_note_that_was_then_deleted_is_kept(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    file = desk.repo / one.path
    staged = file.read_bytes() + b"Staged.\n"
    file.write_bytes(staged)
    desk.git("add", one.path)
    file.unlink()
    memory.adopt((), person)
    assert list(displaced(desk).values()) == [staged]
    desk.judge()


def test_what_is_only_staged_is_left_alone_and_told(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    file = desk.repo / one.path
    committed = file.read_bytes()
    file.write_bytes(committed + b"Staged.\n")
    (desk.repo / "promoted" / "Only staged.md").write_text("Nowhere else.\n")
    desk.git("add", "-A")
    file.write_bytes(committed)
    (desk.repo / "promoted" / "Only staged.md").unlink()
    (desk.repo / "promoted" / "New.md").write_text("New.\n")
    before = desk.git("diff", "--cached")
    receipt = memory.adopt((), person)
    assert [ref.path for ref in receipt.records] == ["promoted/New.md"]
    reason = "only the staging area differs, the file does not; commit or unstage it with Git"
    assert receipt.notices == (
        f"{one.path} was left alone: {reason}",
        f"promoted/Only staged.md was left alone: {reason}",
    )
    assert desk.git("diff", "--cached") == before
    assert displaced(desk) == {}
    for path in ("promoted/Only staged.md", one.path):
        with pytest.raises(InputError) as refused:
            memory.adopt([path], person)
        assert (refused.value.code, refused.value.message) == ("nothing-to-adopt", f"{path}: {reason}")


def test_a_note_that_is_meant_to_be_added_comes_in(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "promoted" / "New.md").write_text("New.\n")
    desk.git("add", "--intent-to-add", "promoted/New.md")
    assert [ref.path for ref in memory.adopt((), person).records] == ["promoted/New.md"]
    assert displaced(desk) == {}
    desk.judge()


def test_a_staged_rename_and_a_staged_deletion_are_followed(desk: Desk, memory: Memory, person: Actor) -> None:
    one, two = (memory.observe(draft(title), person).records[0] for title in ("One", "Two"))
    desk.git("mv", one.path, "promoted/moved.md")
    desk.git("rm", "-q", two.path)
    receipt = memory.adopt((), person)
    assert {(ref.id, ref.state) for ref in receipt.records} == {(one.id, "promoted"), (two.id, "retired")}
    desk.judge()


def test_conflict_copies_of_sync_programs_are_left_alone(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    names = [
        "One (Pat's conflicted copy 2026-11-30).md",
        "One (Conflicted copy phone 202611301200).md",
    ]
    for name in names:
        shutil.copy(desk.repo / one.path, desk.repo / "observations" / name)
    receipt = memory.adopt((), person)
    assert receipt.changed is False
    assert len(receipt.notices) == 2
    with pytest.raises(InputError) as refused:
        memory.adopt([f"observations/{names[0]}"], person)
    assert "a sync program's conflict copy" in refused.value.message
    assert len(desk.commits()) == 2


def test_notes_with_odd_bytes_come_in_as_they_are_or_are_listed(desk: Desk, memory: Memory, person: Actor) -> None:
    folder = desk.repo / "promoted"
    odd = {
        "crlf.md": b"---\r\nextra: 'x' # why\r\n---\r\nbody\r\n",
        "bom.md": b"\xef\xbb\xbf---\ntags: [x]\n---\nbody\n",
        "empty.md": b"",
        "with blanks.md": b"a\n",
        "dash- (1).md": b"b\n",
        "emptied.md": b"---\nauthority:\nkind:\n---\n",
    }
    bad = {
        "latin.md": (b"caf\xe9\n", "not-utf8"),
        "utf16.md": ("text\n".encode("utf-16"), "not-text"),
        "huge.md": (b"x" * (2 << 20), "unreadable"),
        "large.md": (b"x" * (400 << 10), "file-too-large"),
        "template.md": (b"---\ntitle: {{title}}\n---\n", "yaml-syntax"),
        "-dash.md": (b"a\n", "bad-path"),
        "line\nbreak.md": (b"a\n", "bad-path"),
        "what?.md": (b"a\n", "bad-path"),
    }
    for name, data in odd.items():
        (folder / name).write_bytes(data)
    for name, (data, _code) in bad.items():
        (folder / name).write_bytes(data)
    (folder / "link.md").symlink_to("crlf.md")
    found = problems_of(lambda: memory.adopt((), person))
    wanted = {f"promoted/{name}": code for name, (_data, code) in bad.items()} | {"promoted/link.md": "unreadable"}
    assert found == wanted
    assert len(desk.commits()) == 1
    assert len(memory.adopt([f"promoted/{name}" for name in odd], person).records) == len(odd)
    for name, data in odd.items():
        record = memory.show(f"promoted/{name}").hits[0].record
        assert record.authority == "workspace_evidence", name
        assert (folder / name).read_bytes().endswith(data.rpartition(b"---")[2]), name
    assert (folder / "crlf.md").read_bytes().startswith(b"---\r\nextra: 'x' # why\r\ngitmem_id: ")
    problems = problems_of(lambda: memory.adopt((), person))
    assert problems == wanted
    (folder / "link.md").unlink()


def test_records_behind_a_linked_folder_are_not_taken_for_deleted(
    desk: Desk, memory: Memory, person: Actor, tmp_path: Path
) -> None:
    (desk.repo / "promoted" / "sub").mkdir()
    (desk.repo / "promoted" / "sub" / "a.md").write_text("A.\n")
    memory.adopt((), person)
    (desk.repo / "promoted" / "sub").rename(tmp_path / "elsewhere")
    (desk.repo / "promoted" / "sub").symlink_to(tmp_path / "elsewhere")
    assert problems_of(lambda: memory.adopt((), person)) == {"promoted/sub/a.md": "unreadable"}
    assert len(desk.commits()) == 2


def test_paths_are_taken_as_a_shell_gives_them(desk: Desk, memory: Memory) -> None:
    (desk.repo / "promoted" / "a b.md").write_text("A.\n")
    for path in (
        ".",
        "./promoted",
        "promoted/",
        "promoted/../promoted/a b.md",
        str(desk.repo),
        f"{desk.repo}/promoted/",
    ):
        assert [note.path for note in memory.find_edited([path])] == ["promoted/a b.md"], path
    for path in ("..", "../x.md", "/etc/hostname", f"{desk.repo}x/promoted/a b.md"):
        with pytest.raises(InputError) as refused:
            memory.find_edited([path])
        assert refused.value.code == "outside-vault", path
    for path, said in (("INDEX.md", "outside the folders of records"), ("promoted/none.md", "no uncommitted notes")):
        with pytest.raises(InputError) as refused:
            memory.find_edited([path])
        assert said in refused.value.message


def test_an_open_commit_editor_makes_adopt_wait_and_say_so(desk: Desk, person: Actor) -> None:
    with desk.open(index_wait_s=0.05) as memory:
        (desk.repo / "promoted" / "a.md").write_text("A.\n")
        lock = desk.repo / ".git" / "index.lock"
        lock.touch()
        with pytest.raises(UnavailableError) as busy:
            memory.adopt((), person)
        assert busy.value.code == "index-locked"
        lock.unlink()
        assert len(memory.adopt((), person).records) == 1
    desk.judge()


@pytest.mark.parametrize("step", ["write", "commit", "prove", "index"])
def test_adopt_right_after_a_crash_finds_what_the_person_left(desk: Desk, person: Actor, step: str) -> None:
    def stop(at: str) -> None:
        if at == step:
            os._exit(9)

    (desk.repo / "promoted" / "a.md").write_text("A.\n")
    (desk.repo / "promoted" / "b.md").write_text("B, staged.\n")
    desk.git("add", "promoted/b.md")
    (desk.repo / "promoted" / "b.md").write_text("B.\n")
    child = os.fork()
    if not child:
        try:
            with desk.open(probe=stop) as memory:
                memory.adopt((), person)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with desk.open() as memory:
        memory.adopt((), person)
        assert memory.check().rows == ()
    assert desk.commits() == ["adopt: 2 edited notes", "init: workspace vault vault"]
    assert b"B, staged.\n" in displaced(desk).values()
    # Recovery never touches what was staged of a note; it is left alone then, and the person sees it in both places.
    is_past_commit = step in ("prove", "index")
    assert desk.git("status", "--porcelain") == ("MM promoted/b.md\n" if is_past_commit else "")
    assert desk.leftovers() == []


def test_a_staged_view_is_told_without_adopt(desk: Desk, memory: Memory, person: Actor) -> None:
    index = desk.repo / "INDEX.md"
    index.write_text(index.read_text() + "mine\n")
    desk.git("add", "INDEX.md")
    with pytest.raises(StateError) as refused:
        memory.declare(Draft("Ship weekly", kind=Kind.GOAL), person)
    assert (refused.value.code, refused.value.hint) == (
        "dirty-path",
        "gitmem makes this file itself. Take it out of the staging area with Git, and try again.",
    )


def test_declared_records_moved_by_hand_are_listed_when_they_do_not_fit(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    one = memory.declare(Draft("Never on Fridays", kind=Kind.BOUNDARY), person).records[0]
    (desk.repo / one.path).rename(desk.repo / "promoted" / "x.md")
    assert problems_of(lambda: memory.adopt((), person)) == {"promoted/x.md": "kind-misfit"}


@pytest.mark.parametrize("name", ["kepano-obsidian", "obsidian-tasks-samples", "knowledge-garden"])
def test_a_real_vault_that_was_copied_in_is_adopted_but_for_what_is_listed(
    desk: Desk, memory: Memory, person: Actor, name: str
) -> None:
    source = SHARED / "vaults" / name
    if not source.is_dir():
        pytest.skip("the real vaults are not here")
    folder = desk.repo / "promoted" / name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".*"), symlinks=True)
    notes = {path.relative_to(desk.repo).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}
    bad = list_bad(lambda: memory.adopt((), person))
    if bad:
        assert len(desk.commits()) == 1
        for path in bad:
            (desk.repo / path).unlink()
        assert len(memory.adopt((), person).records) == len(notes) - len(bad)
    assert set(ids_by_path(desk)) == notes.keys() - bad
    for path in notes.keys() - bad:
        body = notes[path].rpartition(b"---")[2]
        assert (desk.repo / path).read_bytes().endswith(body), path
    assert [row for row in memory.check().rows if row["severity"] == "error"] == []
