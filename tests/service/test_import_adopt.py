"""Bringing notes in, and committing what a person edited outside gitmem: nothing else in a note is disturbed."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Actor
from gitmem.model.record import Kind, State
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.vault.frontmatter import parse_note

from conftest import SHARED, Desk, draft

ADDED = ("gitmem_id", "kind", "authority")


def without_added(data: bytes, source: bytes) -> bytes:
    """Return ``data`` without the lines of the properties that an import adds and ``source`` did not have."""
    note = parse_note(source)
    names = tuple(name for name in ADDED if name not in note.properties)
    lines = data.splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() == b"---")
    kept = [line for line in lines[:end] if not line.startswith(tuple(f"{name}:".encode() for name in names))]
    if not note.has_block:
        bom = b"\xef\xbb\xbf" if source.startswith(b"\xef\xbb\xbf") else b""
        rest = b"".join(lines[end + 1 :])
        return bom + (rest if bom + rest == source else rest.removeprefix(note.eol.encode()))
    return b"".join(kept + lines[end:])


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / "Plain.md").write_bytes(b"Just text, no newline at the end")
    (folder / "sub" / "Plain.md").write_bytes(b"---\ntitle: 'quoted'   # why\nextra: {a: 1}\n---\r\nbody\r\n")
    (folder / "Bom.md").write_bytes(b"\xef\xbb\xbf---\r\ntags: [x]\r\n---\r\nbody\r\n")
    (folder / "Broken.md").write_bytes(b"---\na: [\n---\nbody\n")
    (folder / "Claims.md").write_bytes(b"---\nauthority: user_declared\n---\n")
    (folder / "Secret.md").write_bytes(b"token ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123\n")
    (folder / "aux.md").write_bytes(b"a device\n")
    (folder / "Latin.md").write_bytes(b"caf\xe9\n")
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".obsidian" / "hidden.md").write_bytes(b"not a note\n")
    return folder


def test_notes_come_in_untouched_or_are_listed(desk: Desk, memory: Memory, person: Actor, notes: Path) -> None:
    before = {path: path.read_bytes() for path in notes.rglob("*") if path.is_file()}
    report = memory.import_notes(str(notes), person, kind=Kind.FACT)
    assert sorted(record.path for record in report.imported) == [
        "observations/Bom.md",
        "observations/Plain.md",
        "observations/sub/Plain.md",
    ]
    assert {problem.path: problem.code for problem in report.left_out} == {
        "Broken.md": "yaml-syntax",
        "Claims.md": "claims-authority",
        "Secret.md": "secret-found",
        "aux.md": "bad-path",
        "Latin.md": "not-utf8",
        "link.md": "symlink",
    }
    assert {path: path.read_bytes() for path in notes.rglob("*") if path.is_file()} == before
    for record in report.imported:
        source = (notes / record.path.partition("/")[2]).read_bytes()
        assert without_added((desk.repo / record.path).read_bytes(), source) == source
        assert (record.kind, record.authority) == ("fact", "workspace_evidence")
    assert desk.commits()[0] == "import: 3 notes from notes"
    assert memory.check().rows == ()
    desk.judge()


def test_a_very_deep_folder_is_listed(
    memory: Memory, person: Actor, notes: Path, request: pytest.FixtureRequest
) -> None:
    # deeper than what removes the temporary folders goes
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", notes / "d"], check=True))
    place = os.open(notes, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=place)
        below = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)
    report = memory.import_notes(str(notes), person)
    assert len(report.imported) == 3
    (deep,) = [problem for problem in report.left_out if problem.path.startswith("d/d/")]
    assert (deep.code, len(deep.path)) == ("bad-path", 200)
    assert memory.check().rows == ()


def test_a_private_note_does_not_hide_the_others(desk: Desk, memory: Memory, person: Actor, notes: Path) -> None:
    (notes / "Private.md").write_text("---\nprivate: true\n---\n")
    memory.import_notes(str(notes), person)
    assert desk.commits()[0] == "import: 4 notes from notes"


def test_a_dry_run_writes_nothing_and_says_the_same(desk: Desk, memory: Memory, person: Actor, notes: Path) -> None:
    dry = memory.import_notes(str(notes), person, dry_run=True)
    assert desk.commits() == ["init: workspace vault vault"]
    assert dry.receipt is None
    real = memory.import_notes(str(notes), person)
    assert [record.path for record in dry.imported] == [record.path for record in real.imported]
    assert dry.left_out == real.left_out
    again = memory.import_notes(str(notes), person)
    assert again.receipt is not None
    assert (again.receipt.changed, again.imported) == (False, ())
    assert Counter(problem.code for problem in again.left_out)["path-taken"] == 3


def test_a_model_may_bring_in_observations_only(memory: Memory, agent: Actor, person: Actor, notes: Path) -> None:
    for state in (State.PROMOTED, State.BASELINE):
        with pytest.raises(PolicyError) as refused:
            memory.import_notes(str(notes), agent, state=state)
        assert refused.value.code == "needs-human"
    assert len(memory.import_notes(str(notes), agent).imported) == 3
    (notes / "More.md").write_text("more")
    record = memory.import_notes(str(notes), person, state=State.BASELINE, kind=Kind.PREFERENCE).imported[0]
    assert (record.path, record.authority) == ("baseline/Bom.md", "user_declared")


def test_folders_and_options_that_do_not_fit_are_refused(
    desk: Desk, memory: Memory, person: Actor, notes: Path
) -> None:
    for folder, state, kind, code in (
        (notes / "none", State.OBSERVATION, None, "no-such-folder"),
        (desk.repo, State.OBSERVATION, None, "folder-in-vault"),
        (desk.repo.parent, State.OBSERVATION, None, "folder-in-vault"),
        (notes, State.RETIRED, None, "bad-import-state"),
        (notes, State.PROMOTED, Kind.BOUNDARY, "kind-misfit"),
        (notes, State.BASELINE, Kind.FACT, "kind-misfit"),
    ):
        with pytest.raises(InputError) as refused:
            memory.import_notes(str(folder), person, state=state, kind=kind)
        assert refused.value.code == code
    assert len(desk.commits()) == 1


@pytest.mark.parametrize("name", ["kepano-obsidian", "obsidian-tasks-samples"])
def test_a_real_vault_comes_in(desk: Desk, memory: Memory, person: Actor, name: str) -> None:
    folder = SHARED / "vaults" / name
    if not folder.is_dir():
        pytest.skip("the real vaults are not here")
    report = memory.import_notes(str(folder), person)
    found = [path for path in folder.rglob("*.md") if not path.relative_to(folder).parts[0].startswith(".")]
    assert len(report.imported) + len(report.left_out) == len(found)
    assert len(report.left_out) <= 28
    for record in report.imported:
        source = (folder / record.path.partition("/")[2]).read_bytes()
        assert without_added((desk.repo / record.path).read_bytes(), source) == source, record.path
    assert [row for row in memory.check().rows if row["severity"] == "error"] == []
    first = report.imported[0]
    assert [row["op"] for row in memory.log(first.id).rows] == ["import"]
    desk.judge()


def test_adopt_commits_a_persons_edits_as_theirs(desk: Desk, memory: Memory, person: Actor, agent: Actor) -> None:
    one = memory.observe(draft("One"), agent).records[0]
    two = memory.observe(draft("Two"), agent).records[0]
    with (desk.repo / one.path).open("a") as file:
        file.write("By hand.\n")
    (desk.repo / two.path).rename(desk.repo / "promoted" / "Two by hand.md")
    (desk.repo / "promoted" / "New.md").write_text("A new note.\n")
    desk.git("add", one.path)
    receipt = memory.adopt((), person)
    assert sorted(ref.path for ref in receipt.records) == [one.path, "promoted/New.md", "promoted/Two by hand.md"]
    assert memory.show(two.id).hits[0].record.path == "promoted/Two by hand.md"
    assert desk.git("log", "-1", "--format=%an %s").strip() == "Pat Person adopt: 3 edited notes"
    assert memory.search("by hand", Filters()).hits[0].uncommitted is False
    assert memory.check().rows == ()
    desk.judge()
    assert memory.adopt((), person).changed is False


def test_a_record_whose_file_a_person_deleted_is_retired(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    (desk.repo / "promoted" / "plain.md").write_text("plain")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a plain note")
    (desk.repo / one.path).unlink()
    (desk.repo / "promoted" / "plain.md").unlink()
    receipt = memory.adopt((), person)
    month = memory.vault.clock.now().strftime("%Y-%m")
    assert [ref.path for ref in receipt.records] == [f"retired/{month}/{one.path.rpartition('/')[2]}"]
    assert desk.git("log", "-1", "--format=%s").strip() == "adopt: One (observation to retired)"
    assert memory.restore(one.id, person).records[0].path == one.path
    assert memory.check().rows == ()
    desk.judge()


def test_a_copy_of_a_record_becomes_a_record_of_its_own(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(replace(draft("One"), key="the-key"), person).records[0]
    for name in ("observations/A copy.md", "promoted/zz copy.md"):
        (desk.repo / name).write_bytes((desk.repo / one.path).read_bytes())
    receipt = memory.adopt((), person)
    assert len({ref.id for ref in receipt.records} | {one.id}) == 3
    assert memory.show("the-key").hits[0].record.path == one.path
    assert memory.check().rows == ()
    desk.judge()


def test_names_that_clash_elsewhere_and_keys_that_are_taken_are_not_adopted(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    memory.observe(replace(draft("One"), key="the-key"), person)
    (desk.repo / "promoted" / "Keyed.md").write_text("---\nkey: The-Key\n---\n")
    with pytest.raises(StateError) as taken:
        memory.adopt(["promoted/Keyed.md"], person)
    assert [one["code"] for one in taken.value.fields["problems"]] == ["key-taken"]
    for name in ("A.md", "a.md"):
        (desk.repo / "promoted" / name).write_text(name)
    with pytest.raises(StateError) as clash:
        memory.adopt([], person)
    assert [(one["path"], one["code"]) for one in clash.value.fields["problems"]] == [
        ("promoted/A.md", "path-clash"),
        ("promoted/Keyed.md", "key-taken"),
        ("promoted/a.md", "path-clash"),
    ]
    assert len(desk.commits()) == 2


def test_what_a_person_sees_of_an_edit_is_its_difference_without_secrets(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    one = memory.observe(draft("One", "A line.\n\nAnother."), person).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text().replace("Another.", "token ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"))
    (note,) = memory.find_edited()
    assert note.shown == "@@ -15,3 +15,3 @@\n A line.\n \n-Another.\n+token [secret]"


def test_a_note_on_another_records_key_or_verified_by_itself_is_left_out(
    memory: Memory, agent: Actor, notes: Path
) -> None:
    memory.observe(replace(draft("One"), key="the-key"), agent)
    (notes / "Keyed.md").write_text("---\ngitmem_id: 0123456789ab\nkey: the-key\n---\n")
    (notes / "Verified.md").write_text("---\nverified: 2026-11-30\n---\n")
    left_out = {problem.path: problem.code for problem in memory.import_notes(str(notes), agent).left_out}
    assert left_out["Keyed.md"] == "key-taken"
    assert left_out["Verified.md"] == "claims-verified"


def test_an_empty_authority_or_kind_is_none_and_is_filled_in(
    desk: Desk, memory: Memory, agent: Actor, notes: Path
) -> None:
    data = b"---\nauthority:\nkind:   # what?\nmine: 1\n---\nbody\n"
    (notes / "Empty.md").write_bytes(data)
    records = {one.path: one for one in memory.import_notes(str(notes), agent, kind=Kind.FACT).imported}
    record = records["observations/Empty.md"]
    assert (record.authority, record.kind, record.problems) == ("workspace_evidence", "fact", ())
    lines = (desk.repo / record.path).read_bytes().splitlines()
    assert lines[1] == b"authority: workspace_evidence"
    assert lines[3:] == [b"mine: 1", b"gitmem_id: " + record.id.encode(), b"---", b"body"]


def test_a_folder_inside_the_vault_is_told_what_to_do(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "Notes").mkdir()
    adopt = "Notes that are in the vault already are committed with `gitmem adopt`."
    move = (
        "Move the notes into observations/, promoted/ or baseline/, with Obsidian if links lead to them, "
        "then commit them with `gitmem adopt`."
    )
    for folder, hint in (
        (desk.repo, adopt),
        (desk.repo / "promoted", adopt),
        (desk.repo / "Notes", move),
        (desk.repo.parent, "Name the folder of the notes alone."),
    ):
        with pytest.raises(InputError) as refused:
            memory.import_notes(str(folder), person)
        assert (refused.value.code, refused.value.hint) == ("folder-in-vault", hint)


def test_adopt_takes_only_the_paths_it_is_given(desk: Desk, memory: Memory, person: Actor) -> None:
    for name in ("a", "b"):
        (desk.repo / "promoted" / f"{name}.md").write_text(name)
    assert [ref.path for ref in memory.adopt(["promoted/a.md"], person).records] == ["promoted/a.md"]
    assert desk.git("status", "--porcelain") == "?? promoted/b.md\n"
    with pytest.raises(InputError) as refused:
        memory.adopt(["promoted/a.md"], person)
    assert refused.value.code == "nothing-to-adopt"


def test_adopt_lists_what_is_in_the_way_and_half_does_nothing(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft("One"), person).records[0]
    two = memory.observe(draft("Two"), person).records[0]
    three = memory.observe(draft("Three"), person).records[0]
    file = desk.repo / two.path
    file.write_text(file.read_text().replace("workspace_evidence", "user_declared"))
    file = desk.repo / three.path
    file.write_text(file.read_text().replace(three.id, "a" * 12))
    (desk.repo / "promoted" / "bad.md").write_text("---\na: [\n---\n")
    (desk.repo / "retired" / "new.md").write_text("new")
    (desk.repo / "promoted" / "good.md").write_text("good")
    with pytest.raises(StateError) as refused:
        memory.adopt((), person)
    assert {problem["path"]: problem["code"] for problem in refused.value.fields["problems"]} == {
        two.path: "authority-changed",
        three.path: "id-changed",
        "promoted/bad.md": "yaml-syntax",
        "retired/new.md": "new-in-retired",
    }
    assert len(desk.commits()) == 4
    assert one.id in desk.git("show", f"HEAD:{one.path}")
    assert [ref.path for ref in memory.adopt(["promoted/good.md"], person).records] == ["promoted/good.md"]


def test_an_adopted_edit_that_changes_meanwhile_is_left_to_the_person(desk: Desk, person: Actor) -> None:
    file = desk.repo / "promoted" / "New.md"
    file.write_text("First.\n")

    def meddle(step: str) -> None:
        if step == "write":
            file.write_text(file.read_text() + "Second.\n")

    with desk.open(probe=meddle) as memory, pytest.raises(GitmemError) as refused:
        memory.adopt((), person)
    assert refused.value.code == "edited-meanwhile"
    assert file.read_text() == "First.\nSecond.\n"
    assert desk.leftovers() == []


def test_notes_that_were_shown_are_committed_as_they_were_or_not_at_all(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    file = desk.repo / "promoted" / "New.md"
    file.write_text("Shown.\n")
    shown = memory.find_edited()
    assert [(note.path, note.change, note.data) for note in shown] == [("promoted/New.md", "new", b"Shown.\n")]
    file.write_text("Not shown.\n")
    with pytest.raises(StateError) as refused:
        memory.adopt((), person, notes=shown)
    assert refused.value.code == "stale"
    (desk.repo / "promoted" / "Later.md").write_text("Came later.\n")
    assert memory.adopt((), person, notes=[]).changed is False
    receipt = memory.adopt((), person, notes=memory.find_edited(["promoted/New.md"]))
    assert [ref.path for ref in receipt.records] == ["promoted/New.md"]
    assert desk.git("status", "--porcelain") == "?? promoted/Later.md\n"


def test_adopt_lists_secrets_links_and_misfits_before_anybody_is_asked(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    one = memory.observe(draft("One"), agent).records[0]
    (desk.repo / one.path).unlink()
    (desk.repo / one.path).symlink_to("/etc/hostname")
    (desk.repo / "promoted" / "secret.md").write_text("see\nghp_abcdefghijklmnopqrstuvwxyzABCDEF0123\n")
    (desk.repo / "promoted" / "goal.md").write_text("---\nkind: goal\n---\n")
    with pytest.raises(StateError) as refused:
        memory.adopt((), agent)
    assert {problem["path"]: problem["code"] for problem in refused.value.fields["problems"]} == {
        one.path: "unreadable",
        "promoted/secret.md": "secret-found",
        "promoted/goal.md": "kind-misfit",
    }


def test_a_plain_note_that_a_person_deleted_is_in_nobodys_way(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "promoted" / "plain.md").write_text("plain")
    desk.git("add", ".")
    desk.git("commit", "-qm", "by hand")
    (desk.repo / "promoted" / "plain.md").unlink()
    (desk.repo / "promoted" / "new.md").write_text("new")
    assert [ref.path for ref in memory.adopt((), person).records] == ["promoted/new.md"]
