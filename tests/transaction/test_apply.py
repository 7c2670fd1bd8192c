"""One change, one commit, one receipt; a person's edits and staging are never swept in, overwritten or lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, InputError, IntegrityError, PolicyError, StateError, UnavailableError
from gitmem.git.lockfile import take_lock
from gitmem.git.stage import lock_index
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import parse_op_id
from gitmem.model.record import Draft
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.transaction.receipts import iter_receipts
from gitmem.vault.layout import VaultLayout
from gitmem.vault.work_folder import WorkFolder

from conftest import Desk, draft, git
from crash import run_killed


def test_inv_one_commit_an_operation_and_a_receipt_that_names_it(desk: Desk, memory: Memory, agent: Actor) -> None:
    receipt = memory.observe(draft(), agent)
    assert desk.commits() == ["observe: Run tests with two workers", "init: workspace vault vault"]
    assert receipt.commit == desk.git("rev-parse", "HEAD").strip()
    kept = list(iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime))))
    assert [one.op for one in kept] == ["init", "observe"]
    assert kept[1].commit == receipt.commit
    assert kept[1].records == receipt.records
    desk.judge()


def test_the_message_says_who_did_what_on_whose_authority(desk: Desk, memory: Memory, agent: Actor) -> None:
    receipt = memory.observe(draft(), agent)
    assert desk.git("log", "-1", "--format=%an <%ae>%n%B").rstrip() == (
        "agent <agent@agents.gitmem.invalid>\n"
        "observe: Run tests with two workers\n\n"
        "More workers starve the database.\n\n"
        "Gitmem-Op: observe\n"
        f"Gitmem-Op-Id: {receipt.op_id}\n"
        f"Gitmem-Record: {receipt.records[0].id}\n"
        "Gitmem-Surface: model\n"
        "Gitmem-Actor: agent\n"
        "Gitmem-Authority: workspace_evidence\n"
        "Gitmem-Host: cli\n"
        "Gitmem-Session: s1\n"
        "Gitmem-Rule: observe-evidence\n"
        f"Gitmem-Request: {receipt.request}\n"
        "Gitmem-Format: 1"
    )


def test_inv_allowlist_each_commit_holds_its_files_and_views_alone(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "promoted" / "mine.md").write_text("a note of mine\n")
    one = memory.observe(draft(), person).records[0]
    two = memory.observe(draft("Another"), person).records[0]
    moved = memory.promote(one.id, person).records[0]
    gone = memory.retire(moved.id, "outdated", person, two.id).records[0]

    def changed() -> list[set[str]]:
        text = desk.git("log", "--format=%x00", "--name-only", "--no-renames")
        return [set(block.split("\n")) - {""} for block in text.split("\0")[1:]]

    assert changed()[:4] == [
        {moved.path, gone.path, two.path, "catalog.json", "INDEX.md"},
        {one.path, moved.path, "catalog.json", "INDEX.md"},
        {two.path, "catalog.json"},
        {one.path, "catalog.json"},
    ]
    assert desk.git("status", "--porcelain") == "?? promoted/\n"


def test_the_same_operation_id_gives_the_same_answer(desk: Desk, memory: Memory, person: Actor) -> None:
    op_id = parse_op_id("retry-1")
    first = memory.observe(draft(), person, op_id)
    assert memory.observe(draft(), person, op_id) == first
    assert len(desk.commits()) == 2
    with pytest.raises(InputError) as refused:
        memory.promote(first.records[0].id, person, op_id)
    assert refused.value.code == "op-id-reused"


def test_an_edit_that_changes_nothing_makes_no_commit(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    receipt = memory.edit(one.id, RecordEdit(title="Run tests with two workers"), person)
    assert (receipt.changed, receipt.commit, receipt.records) == (False, None, ())
    assert len(desk.commits()) == 2
    desk.judge()


def _edit(desk: Desk, path: str) -> None:
    with (desk.repo / path).open("a") as file:
        file.write("A person's line.\n")


def _edit_and_stage(desk: Desk, path: str) -> None:
    _edit(desk, path)
    desk.git("add", path)


def _stage_and_put_back(desk: Desk, path: str) -> None:
    _edit_and_stage(desk, path)
    (desk.repo / path).write_text(desk.git("show", f"HEAD:{path}"))


PEOPLE: dict[str, Callable[[Desk, str], object]] = {
    "edited": _edit,
    "edited and staged": _edit_and_stage,
    "staged, then put back": _stage_and_put_back,
    "deleted": lambda desk, path: (desk.repo / path).unlink(),
    "deletion staged": lambda desk, path: desk.git("rm", "-q", "--cached", path),
    "moved away": lambda desk, path: desk.git("mv", path, "promoted/elsewhere.md"),
}


@pytest.mark.parametrize("what", PEOPLE)
def test_inv_people_first_an_operation_on_an_edited_record_is_refused(
    desk: Desk, memory: Memory, person: Actor, what: str
) -> None:
    one = memory.observe(draft(), person).records[0]
    PEOPLE[what](desk, one.path)
    seen = (desk.git("status", "--porcelain"), desk.git("diff"), desk.git("diff", "--cached"))
    with pytest.raises(GitmemError) as refused:
        memory.retire(one.path if what not in ("deleted", "moved away") else one.id, "outdated", person)
    assert refused.value.code in ("dirty-path", "no-such-record")
    assert (desk.git("status", "--porcelain"), desk.git("diff"), desk.git("diff", "--cached")) == seen
    assert len(desk.commits()) == 2
    assert desk.leftovers() == []


def test_inv_people_first_what_is_staged_elsewhere_stays_staged(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    _edit(desk, one.path)
    (desk.repo / "new.txt").write_text("mine\n")
    desk.git("add", one.path, "new.txt")
    _edit(desk, one.path)
    (desk.repo / "later.txt").write_text("later\n")
    desk.git("add", "--intent-to-add", "later.txt")
    before = (desk.git("status", "--porcelain"), desk.git("diff"), desk.git("diff", "--cached"))
    memory.observe(draft("Another"), person)
    assert (desk.git("status", "--porcelain"), desk.git("diff"), desk.git("diff", "--cached")) == before
    assert desk.git("show", "--stat", "--format=", "--name-only").split()[0] == "catalog.json"


def test_the_whole_vault_must_be_clean_where_the_manifest_says_so(desk: Desk, memory: Memory, person: Actor) -> None:
    manifest = desk.repo / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"clean": "paths"', '"clean": "vault"'))
    desk.git("commit", "-qam", "a stricter vault")
    memory.observe(draft(), person)
    (desk.repo / "new.txt").write_text("mine\n")
    with pytest.raises(StateError) as refused:
        memory.observe(draft("Another"), person)
    assert refused.value.code == "vault-not-clean"
    assert "new.txt" in refused.value.message


GIT_STATES: dict[str, tuple[tuple[tuple[str, ...], ...], str]] = {
    "detached": ((("checkout", "-q", "--detach"),), "not-on-managed-branch"),
    "other branch": ((("switch", "-q", "-c", "side"),), "not-on-managed-branch"),
    "bisect": ((("bisect", "start", "HEAD", "HEAD~1"),), "git-operation-in-progress"),
}


@pytest.mark.parametrize("what", GIT_STATES)
def test_a_git_state_that_is_not_ours_to_write_in_is_refused(
    desk: Desk, memory: Memory, person: Actor, what: str
) -> None:
    memory.observe(draft(), person)
    commands, code = GIT_STATES[what]
    for command in commands:
        desk.git(*command)
    with pytest.raises(StateError) as refused:
        memory.observe(draft("Another"), person)
    assert refused.value.code == code
    assert desk.leftovers() == []


def test_a_conflicted_merge_is_refused_and_left_as_it_is(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    desk.git("switch", "-q", "-c", "side")
    (desk.repo / one.path).write_text("theirs\n")
    desk.git("commit", "-qam", "side")
    desk.git("switch", "-q", "main")
    (desk.repo / one.path).write_text("ours\n")
    desk.git("commit", "-qam", "main")
    desk.git("merge", "side", check=False)
    before = desk.git("status", "--porcelain")
    with pytest.raises(StateError) as refused:
        memory.observe(draft("Another"), person)
    assert refused.value.code == "git-operation-in-progress"
    assert desk.git("status", "--porcelain") == before


def test_a_persons_commit_makes_the_next_operation_repair_the_views(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text().replace("title: Run tests", "title: Always run tests"))
    desk.git("commit", "-qam", "vault backup")
    assert [row["code"] for row in memory.check().rows] == ["view-differs"]
    receipt = memory.observe(draft("Another"), person)
    assert receipt.notices == ("the views did not match the records (an edit was committed outside gitmem); repaired",)
    assert desk.commits()[:3] == [
        "observe: Another",
        "repair: bring the views in step with the records",
        "vault backup",
    ]
    assert memory.check().rows == ()
    desk.judge()


def test_a_plain_revert_by_a_person_is_clean(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    memory.observe(draft("Another"), person)
    promoted = memory.promote(one.id, person)
    memory.observe(draft("A third"), person)
    desk.git("revert", "--no-edit", str(promoted.commit))
    memory.observe(draft("A fourth"), person)
    assert memory.show(one.id).hits[0].record.state == "observation"
    assert memory.check().rows == ()
    desk.judge()


def test_a_busy_vault_names_its_holder(desk: Desk, person: Actor) -> None:
    started, done = threading.Event(), threading.Event()

    def hold(step: str) -> None:
        if step == "clean":
            started.set()
            done.wait(10)

    def work() -> None:
        with desk.open(probe=hold) as memory:
            memory.observe(draft(), person)

    holder = threading.Thread(target=work)
    holder.start()
    assert started.wait(10)
    try:
        with desk.open(lock_wait_s=0.05) as memory, pytest.raises(UnavailableError) as refused:
            memory.observe(draft("Another"), person)
    finally:
        done.set()
        holder.join()
    assert refused.value.code == "vault-busy"
    assert "observe" in refused.value.message
    assert len(desk.commits()) == 2
    desk.judge()


def test_a_persons_open_commit_editor_is_waited_for_and_then_named(desk: Desk, person: Actor) -> None:
    lock = desk.repo / ".git" / "index.lock"
    lock.write_bytes(b"")
    with desk.open(index_wait_s=0.05) as memory, pytest.raises(UnavailableError) as refused:
        memory.observe(draft(), person)
    assert refused.value.code == "index-locked"
    assert lock.exists()
    lock.unlink()
    with desk.open() as memory:
        memory.observe(draft(), person)
    desk.judge()


def test_inv_people_first_an_edit_at_the_moment_of_writing_wins(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    file = desk.repo / one.path

    def meddle(step: str) -> None:
        if step == "write":
            file.write_text("A person was quicker.\n")

    with desk.open(probe=meddle) as memory, pytest.raises(StateError) as refused:
        memory.edit(one.id, RecordEdit(body="New text."), person)
    assert refused.value.code == "edited-meanwhile"
    assert file.read_text() == "A person was quicker.\n"
    assert len(desk.commits()) == 2
    assert desk.leftovers() == []
    assert desk.git("status", "--porcelain") == f" M {one.path}\n"


def test_inv_people_first_an_edit_after_the_writing_is_kept_uncommitted(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    file = desk.repo / one.path

    def meddle(step: str) -> None:
        if step == "commit":
            file.write_text(file.read_text() + "And a person's line.\n")

    with desk.open(probe=meddle) as memory:
        memory.edit(one.id, RecordEdit(body="New text."), person)
    assert file.read_text().endswith("New text.\nAnd a person's line.\n")
    assert desk.git("show", f"HEAD:{one.path}").endswith("New text.\n")
    assert desk.git("status", "--porcelain") == f" M {one.path}\n"
    assert desk.leftovers() == []


def test_inv_people_first_a_late_write_into_the_replaced_file_is_kept(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
    editor = (desk.repo / one.path).open("r+")  # an editor that keeps its file open
    editor.read()

    def meddle(step: str) -> None:
        if step == "commit":
            editor.write("Typed into the old file.\n")
            editor.flush()

    with desk.open(probe=meddle) as memory:
        receipt = memory.edit(one.id, RecordEdit(body="New text."), person)
    editor.close()
    kept = [path for path in (desk.runtime / "displaced").rglob("*") if path.is_file()]
    assert [path.read_text().endswith("Typed into the old file.\n") for path in kept] == [True]
    assert "displaced" in receipt.notices[0]
    desk.judge()


def test_a_failure_of_the_disk_undoes_everything(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]

    def fail(step: str) -> None:
        if step == "inspect":
            raise OSError(28, "No space left on device", "x")

    with desk.open(probe=fail) as memory, pytest.raises(UnavailableError) as refused:
        memory.promote(one.id, person)
    assert refused.value.code == "disk"
    assert refused.value.hint.startswith("Nothing was committed.")
    assert len(desk.commits()) == 2
    desk.judge()


def _object_file(desk: Desk, name: str) -> Path:
    blob = desk.git("rev-parse", name).strip()
    return desk.repo / ".git" / "objects" / blob[:2] / blob[2:]


def test_inv_proved_a_commit_that_does_not_read_back_is_mended_or_not_acknowledged(desk: Desk, person: Actor) -> None:
    paths: list[Path] = []

    def tear(step: str) -> None:
        if step == "prove":
            paths.append(_object_file(desk, "HEAD:catalog.json"))
            paths[0].chmod(0o644)
            paths[0].write_bytes(b"")

    with desk.open(probe=tear) as memory:
        receipt = memory.observe(draft(), person)
    assert receipt.commit == desk.git("rev-parse", "HEAD").strip()
    assert receipt.notices[0].startswith("committed, after this was overcome: ")
    assert paths[0].stat().st_size > 0
    desk.judge()


def test_inv_proved_what_cannot_be_mended_is_never_acknowledged(desk: Desk, person: Actor) -> None:
    def tear(step: str) -> None:
        if step == "prove":
            _object_file(desk, "HEAD:catalog.json").unlink()
            (desk.repo / "catalog.json").write_text("something else by now")

    with desk.open(probe=tear) as memory, pytest.raises(IntegrityError) as refused:
        memory.observe(draft(), person)
    assert refused.value.code == "publish-not-proved"
    kept = iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime)))
    assert [receipt.op for receipt in kept] == ["init"]
    with desk.open() as memory, pytest.raises(IntegrityError) as again:
        memory.observe(draft("Another"), person)
    assert again.value.code == "object-unreadable"


@pytest.mark.parametrize("step", ["receipt", "index", "finish"])
def test_a_failure_behind_the_commit_is_completed_by_the_next_command(desk: Desk, person: Actor, step: str) -> None:
    def fail(passed: str) -> None:
        if passed == step:
            raise OSError(28, "No space left on device")

    with desk.open(probe=fail) as memory:
        receipt = memory.observe(draft(), person, parse_op_id("op-1"))
    assert receipt.commit == desk.git("rev-parse", "HEAD").strip()
    assert receipt.notices == ("committed; the next command completes it: [Errno 28] No space left on device",)
    with desk.open() as memory:
        assert memory.observe(draft(), person, parse_op_id("op-1")).commit == receipt.commit
    kept = [one.op_id for one in iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime)))]
    assert kept.count(parse_op_id("op-1")) == 1
    desk.judge()


def test_lost_receipts_are_made_up_for_by_history(desk: Desk, memory: Memory, person: Actor) -> None:
    first = memory.observe(draft(), person, parse_op_id("op-1"))
    for file in (desk.runtime / "receipts").iterdir():
        file.unlink()
    second = memory.observe(draft("Another", "Of another kind."), person)  # the receipts begin anew
    assert memory.observe(draft(), person, parse_op_id("op-1")).commit == first.commit
    assert desk.git("rev-parse", "HEAD").strip() == second.commit
    desk.judge()


def test_trailers_that_someone_else_wrote_answer_no_operation(desk: Desk, memory: Memory, person: Actor) -> None:
    desk.git("commit", "-q", "--allow-empty", "-m", "by hand\n\nGitmem-Op-Id: op-1\nGitmem-Op: sing")
    receipt = memory.observe(draft(), person, parse_op_id("op-1"))
    assert receipt.changed
    assert desk.git("rev-parse", "HEAD").strip() == receipt.commit
    desk.judge()


def test_an_amended_commit_is_not_taken_for_gitmems(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text().replace("title: Run tests", "title: Always run tests"))
    desk.git("commit", "-qa", "--amend", "--no-edit")
    memory.observe(draft("Another"), person)
    assert memory.check().rows == ()
    assert "Always run tests" in desk.git("show", "HEAD:catalog.json")


def test_a_persons_own_file_beside_the_catalog_stays(desk: Desk, memory: Memory, person: Actor) -> None:
    (desk.repo / "catalog").mkdir()
    (desk.repo / "catalog" / "mine.json").write_text("{}")
    desk.git("add", "catalog")
    desk.git("commit", "-qm", "mine")
    memory.observe(draft(), person)
    memory.repair_views(person)
    assert desk.git("show", "HEAD:catalog/mine.json") == "{}"
    desk.judge()


def test_a_backup_plugins_commit_of_edits_costs_no_rebuild(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = memory.observe(draft(), person).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text().replace("title: Run tests", "title: Always run tests"))
    desk.git("commit", "-qam", "vault backup")

    def fail(*_args: object) -> None:
        raise AssertionError("every record was read")

    monkeypatch.setattr("gitmem.service.views.RecordViews.rebuild", fail)
    memory.observe(draft("Another"), person)
    monkeypatch.undo()
    assert memory.check().rows == ()
    assert desk.commits()[1].startswith("repair: ")


def test_a_view_edited_by_hand_gives_way_and_is_kept(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    with (desk.repo / "INDEX.md").open("a") as file:
        file.write("My own line.\n")
    (desk.repo / "catalog.json").unlink()
    receipt = memory.promote(one.id, person)
    kept = desk.runtime / "displaced" / receipt.op_id / "INDEX.md"
    assert kept.read_text().endswith("My own line.\n")
    assert [notice.split(" was")[0] for notice in receipt.notices] == ["INDEX.md"]
    assert memory.check().rows == ()
    desk.judge()
    (desk.repo / "INDEX.md").write_text("staged")
    desk.git("add", "INDEX.md")
    with pytest.raises(StateError) as refused:
        memory.retire(one.id, "outdated", person)
    assert refused.value.code == "dirty-path"
    assert desk.git("show", ":INDEX.md") == "staged"


def test_files_that_cannot_be_exchanged_are_put_in_place_all_the_same(
    desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.vault.atomic.exchange", lambda _a, _b, _fd: False)
    with desk.open() as memory:
        one = memory.observe(draft(), person).records[0]
        memory.edit(one.id, RecordEdit(body="New text."), person)
        memory.promote(one.id, person)
    desk.judge()


def test_inv_people_first_a_write_long_after_the_replacement_is_kept(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = memory.observe(draft(), person).records[0]
    with (desk.repo / one.path).open("a") as editor:
        memory.edit(one.id, RecordEdit(body="New text."), person)
        editor.write("Typed into the old file.\n")
    monkeypatch.setattr("gitmem.transaction.displaced.WAIT_NS", 0)
    receipt = memory.observe(draft("Another"), person)
    kept = [path.read_text() for path in (desk.runtime / "displaced").rglob("*") if path.is_file()]
    assert [text.endswith("Typed into the old file.\n") for text in kept] == [True]
    assert "after it was replaced" in receipt.notices[0]
    memory.observe(draft("A third"), person)
    waiting = [path.name.split(".", 3)[3] for path in (desk.repo / ".git" / "gitmem" / "displaced").iterdir()]
    assert waiting == ["catalog.json"]  # what the last operation replaced


def test_inv_people_first_a_file_waits_where_nobody_can_tell_whether_it_is_open(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.transaction.displaced.is_being_written", lambda _path: None)
    monkeypatch.setattr("gitmem.transaction.displaced.SHORT_WAIT_NS", 0)
    one = memory.observe(draft(), person).records[0]
    with (desk.repo / one.path).open("a") as editor:
        memory.edit(one.id, RecordEdit(body="New text."), person)
        memory.observe(draft("Another"), person)
        editor.write("Typed into the old file.\n")
    monkeypatch.setattr("gitmem.transaction.displaced.WAIT_NS", 0)
    memory.observe(draft("A third"), person)
    kept = [path.read_text() for path in (desk.runtime / "displaced").rglob("*") if path.is_file()]
    assert [text.endswith("Typed into the old file.\n") for text in kept] == [True]


def test_inv_people_first_replaced_files_wait_in_runtime_where_they_cannot_in_the_repository(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_out = WorkFolder.move_out

    def refuse(folder: WorkFolder, name: str, path: str) -> None:
        if path.startswith(str(desk.repo / ".git")):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        move_out(folder, name, path)

    monkeypatch.setattr(WorkFolder, "move_out", refuse)  # a repository whose .git is mounted from elsewhere
    one = memory.observe(draft(), person).records[0]
    with (desk.repo / one.path).open("a") as editor:
        memory.edit(one.id, RecordEdit(body="New text."), person)
        editor.write("Typed into the old file.\n")
    monkeypatch.setattr("gitmem.transaction.displaced.WAIT_NS", 0)
    memory.observe(draft("Another"), person)
    kept = [path.read_text() for path in (desk.runtime / "displaced").rglob("*") if path.is_file()]
    assert [text.endswith("Typed into the old file.\n") for text in kept] == [True]
    waiting = [path.name.split(".", 3)[3] for path in (desk.runtime / "displaced-waiting").iterdir()]
    assert waiting == ["catalog.json"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a file is open; elsewhere it waits 10 s")
def test_inv_people_first_a_file_waits_as_long_as_somebody_has_it_open(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.transaction.displaced.WAIT_NS", 0)
    one = memory.observe(draft(), person).records[0]
    with (desk.repo / one.path).open("a") as note, (desk.repo / "catalog.json").open("a") as view:
        memory.edit(one.id, RecordEdit(title="Another title"), person)
        for title in ("One", "Two", "Three"):  # they come by, and find the two still open
            assert memory.observe(draft(title), person).notices == ()
        note.write("Typed into the note.\n")
        view.write("Typed into the view.\n")
    assert sorted(one.message.split()[4] for one in memory.status().diagnostics) == [
        "catalog.json",
        Path(one.path).name,
    ]
    told = memory.observe(draft("Four"), person).notices
    kept = {path.name: path.read_text() for path in (desk.runtime / "displaced").rglob("*") if path.is_file()}
    assert sorted(kept) == ["late-catalog.json", f"late-{Path(one.path).name}"]
    assert kept["late-catalog.json"].endswith("\nTyped into the view.\n")
    assert kept[f"late-{Path(one.path).name}"].endswith("Typed into the note.\n")
    assert ["after it was replaced" in one for one in told] == [True, True]


def test_inv_people_first_what_a_person_committed_after_a_crash_stays_theirs(desk: Desk, person: Actor) -> None:
    assert run_killed(desk.open, "commit", lambda memory: memory.observe(draft(), person))
    (desk.repo / ".git" / "index.lock").unlink()
    desk.git("add", "-A")
    desk.git("commit", "-qm", "swept up")
    with desk.open() as memory:
        assert len(memory.list(Filters()).hits) == 1
        desk.judge()
        memory.observe(draft("Another"), person)
        assert memory.check().rows == ()
    desk.judge()


REWRITES: dict[str, tuple[tuple[str, ...], ...]] = {
    "amended": (("commit", "-qa", "--amend", "--no-edit"),),
    "squashed": (
        ("commit", "-qam", "words"),
        ("reset", "-q", "--soft", "HEAD~2"),
        ("commit", "-q", "-C", "ORIG_HEAD~1"),
    ),
}


@pytest.mark.parametrize("how", REWRITES)
def test_a_rewritten_commit_ends_ownership(desk: Desk, memory: Memory, agent: Actor, how: str) -> None:
    one = memory.observe(draft(), agent).records[0]
    with (desk.repo / one.path).open("a") as file:
        file.write("A person's words.\n")
    for command in REWRITES[how]:
        desk.git(*command)
    assert desk.git("log", "-1", "--format=%B").count("Gitmem-Actor: agent") == 1
    with pytest.raises(PolicyError) as refused:
        memory.retire(one.id, "mine", agent)
    assert refused.value.code == "needs-human"


def test_a_merge_that_brings_a_persons_words_ends_ownership(desk: Desk, memory: Memory, agent: Actor) -> None:
    one = memory.observe(draft(), agent).records[0]
    desk.git("switch", "-q", "-c", "side")
    (desk.repo / "other.txt").write_text("x")
    desk.git("add", "other.txt")
    desk.git("commit", "-qm", "side")
    desk.git("switch", "-q", "main")
    desk.git("merge", "-q", "--no-ff", "--no-commit", "side")
    with (desk.repo / one.path).open("a") as file:
        file.write("A person's words.\n")
    desk.git("commit", "-qam", "merge with words")
    with pytest.raises(PolicyError) as refused:
        memory.edit(one.id, RecordEdit(body="Mine."), agent)
    assert refused.value.code == "needs-human"


def test_a_symbolic_link_on_the_way_is_refused(desk: Desk, memory: Memory, person: Actor, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (desk.repo / "baseline").rmdir()
    (desk.repo / "baseline").symlink_to(tmp_path / "outside")
    from gitmem.model.record import Kind

    with pytest.raises(StateError) as refused:
        memory.declare(Draft("Ask first", kind=Kind.BOUNDARY), person)
    assert refused.value.code == "symlink-in-path"
    assert list((tmp_path / "outside").iterdir()) == []


_WRITER = """
import sys
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft
from gitmem.wiring import open_memory
home, vault, name = sys.argv[1:]
actor = Actor(Surface.MODEL, name, f"{name}@agents.gitmem.invalid")
with open_memory(home, home, vault) as memory:
    for number in range(25):
        memory.observe(Draft(f"{name} {number}", evidence=("run:x",)), actor)
"""


def test_two_writers_make_fifty_commits_and_fifty_receipts(desk: Desk) -> None:
    command = [sys.executable, "-c", _WRITER, desk.home, str(desk.repo)]
    writers = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    receipts = list(iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime))))
    commits = desk.git("log", "--format=%H", "--reverse").split()
    assert [receipt.commit for receipt in receipts] == commits
    assert len(commits) == 51
    files = [set(desk.git("show", "--format=", "--name-only", one).split()) for one in commits[1:]]
    assert all(len(names) == 2 and "catalog.json" in names for names in files)
    with desk.open() as memory:
        assert memory.check().rows == ()
    desk.judge()


def test_a_linked_worktree_is_refused_by_its_branch(desk: Desk, person: Actor, tmp_path: Path) -> None:
    desk.git("worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    from gitmem.wiring import open_memory

    with open_memory(desk.home, str(tmp_path / "side")) as memory, pytest.raises(StateError) as refused:
        memory.observe(draft(), person)
    assert refused.value.code == "not-on-managed-branch"
    assert git(tmp_path / "side", "status", "--porcelain") == ""


def test_the_lock_of_git_is_ours_while_we_write_and_gone_after(desk: Desk, memory: Memory, person: Actor) -> None:
    with lock_index(memory.vault.repo, "a test"):
        assert desk.git("add", "--all", check=False) == ""
        assert (desk.repo / ".git" / "index.lock").read_bytes().startswith(b"gitmem a test ")
    memory.observe(draft(), person)
    assert not (desk.repo / ".git" / "index.lock").exists()


def test_a_branch_lock_that_a_crash_left_goes_with_the_next_command_and_a_persons_stays(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    lock = desk.repo / ".git/refs/heads/main.lock"
    assert take_lock(str(lock), "observe", str(desk.repo / ".git")) is not None
    assert memory.status().status == "ok"
    assert not lock.exists()
    lock.write_bytes(b"a person's")
    assert memory.status().status == "ok"
    assert lock.read_bytes() == b"a person's"


def test_a_branch_that_could_not_be_unlocked_at_once_is_unlocked_before_the_operation_ends(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = os.unlink
    refused = []

    def once(path: str, **options: object) -> None:
        if path.endswith("main.lock") and not refused:
            refused.append(path)
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        unlink(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "unlink", once)
    receipt = memory.observe(draft(), person)
    assert refused
    assert receipt.notices == (
        "committed, after this was overcome: the branch main can't be written to the repository: Input/output error",
    )
    monkeypatch.undo()
    desk.judge()


@pytest.mark.parametrize("failures", [1, 1000])
def test_a_flush_of_the_branch_that_fails_is_made_good_or_not_acknowledged(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    """After a failed flush the commit reads well, and may be gone after a power cut."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this platform does not tell which file a handle means")
    fsync = os.fsync
    failed = []

    def fail(fd: int) -> None:
        if os.readlink(f"/proc/self/fd/{fd}").endswith("refs/heads") and len(failed) < failures:
            failed.append(fd)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(fd)

    op_id = parse_op_id("flushed")
    monkeypatch.setattr(os, "fsync", fail)
    if failures == 1:
        (notice,) = memory.observe(draft(), person, op_id).notices
        assert notice.startswith("committed, after this was overcome: the branch main can't be written")
    else:
        with pytest.raises(UnavailableError) as caught:
            memory.observe(draft(), person, op_id)
        assert caught.value.code == "git-write-failed"
        assert caught.value.hint.endswith(" What became of the operation is decided by the next command.")
        assert [path.name for path in (desk.repo / ".git/gitmem/journal").iterdir()] == ["flushed.json"]
    monkeypatch.undo()
    assert failed
    assert memory.observe(draft(), person, op_id).commit == desk.git("rev-parse", "HEAD").strip()
    desk.judge()


def test_folders_that_lose_their_last_file_go_with_it(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0].id
    month = next((desk.repo / "observations").iterdir())
    memory.promote(one, person)
    assert not month.exists()


def test_folders_that_an_undone_operation_made_go_too(desk: Desk, person: Actor, tmp_path: Path) -> None:
    deep = tmp_path / "notes/a/b"
    deep.mkdir(parents=True)
    (deep / "One.md").write_text("# One\n\nText.\n")
    assert run_killed(desk.open, "stage", lambda memory: memory.import_notes(str(tmp_path / "notes"), person))
    with desk.open() as memory:
        memory.status()
    assert list((desk.repo / "observations").iterdir()) == []
    desk.judge()


def test_a_view_that_cannot_be_put_back_does_not_make_a_commit_undone(
    desk: Desk, memory: Memory, person: Actor
) -> None:
    (desk.repo / "INDEX.md").write_text("mine\n")
    desk.git("commit", "--quiet", "--all", "--message", "by hand")
    (desk.repo / "catalog.json").write_text("{}\n")
    (desk.runtime / "displaced").write_text("a file in the way")
    receipt = memory.repair_views(person)
    assert receipt.commit == desk.git("rev-parse", "HEAD").strip()
    assert receipt.notices[-1].startswith("committed, but not every view was put back: ")
    assert (desk.repo / "catalog.json").read_text() == "{}\n"
    with pytest.raises(UnavailableError) as caught:
        memory.repair_views(person)
    assert caught.value.code == "disk"
    (desk.runtime / "displaced").unlink()
    assert memory.repair_views(person).changed is False
    desk.judge()


def test_a_repair_whose_receipt_failed_is_completed_although_views_were_put_back_after_it(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Putting the views back has a journal too, which must not take the place of the one that waits."""
    (desk.repo / "INDEX.md").write_text("mine\n")
    desk.git("commit", "--quiet", "--all", "--message", "by hand")
    (desk.repo / "catalog.json").write_text("{}\n")

    def fail(_layout: VaultLayout, _receipt: Receipt) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("gitmem.transaction.apply.append_receipt", fail)
    receipt = memory.repair_views(person)
    monkeypatch.undo()
    assert receipt.notices[0] == "committed; the next command completes it: [Errno 5] Input/output error"
    assert receipt.notices[1].startswith("catalog.json was put back; what stood there is kept in ")
    assert [path.name for path in (desk.repo / ".git/gitmem/journal").iterdir()] == [f"{receipt.op_id}.json"]
    assert [one.code for one in memory.status().diagnostics] == ["recovered"]
    assert list(iter_receipts(VaultLayout(str(desk.repo), str(desk.runtime))))[-1].op_id == receipt.op_id
    assert desk.git("status", "--porcelain") == ""
    assert list((desk.repo / ".git").glob("index.*")) == []
    desk.judge()


def test_nothing_is_planned_on_an_abandoned_operation_that_cannot_be_settled(
    desk: Desk, person: Actor, tmp_path: Path
) -> None:
    """An import that found its own half-done files would have said that there is nothing to do."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "One.md").write_text("# One\n\nText.\n")
    op_id = parse_op_id("import-once")

    def bring_in(memory: Memory) -> object:
        return memory.import_notes(str(notes), person, op_id=op_id)

    def fail(step: str) -> None:
        if step == "settle-temp":
            raise OSError(errno.EIO, "failing disk")

    assert run_killed(desk.open, "stage", bring_in)
    with desk.open(probe=fail) as memory, pytest.raises(UnavailableError) as caught:
        bring_in(memory)
    assert caught.value.code == "disk"
    with desk.open() as memory:
        bring_in(memory)
        assert memory.check().rows == ()
    assert desk.commits()[0].startswith("import: ")
    desk.judge()


@pytest.mark.parametrize("moves", [("promote", "promote"), ("restore", "restore")], ids=lambda moves: moves[0])
def test_a_record_that_another_operation_moved_meanwhile_is_stale_and_its_place_not_taken(
    desk: Desk, person: Actor, moves: tuple[str, str]
) -> None:
    with desk.open() as first:
        one = first.observe(draft(), person).records[0].id
        if moves[0] == "restore":
            first.retire(one, "outdated", person)

    def let_another_in(step: str) -> None:
        if step == "lock":
            with desk.open() as other:
                getattr(other, moves[1])(one, person)

    waiting = [let_another_in]
    slow = desk.open(probe=lambda step: waiting.pop()(step) if waiting and step == "lock" else None)
    with slow, pytest.raises(StateError) as refused:
        getattr(slow, moves[0])(one, person)
    assert refused.value.code == "stale"
    desk.judge()
