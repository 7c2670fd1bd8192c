"""Attempts by files: in the work tree, in the vault's runtime, in the home."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3

from gitmem.model.ids import new_record_id

from attack_ground import MARK, PERSON, POLICY, Scene, append_json_line, declared_note, forge_candidate


def new_note(scene: Scene) -> None:
    """a note in baseline/ that says it is declared"""
    scene.write("baseline/note.md", declared_note())


def edited_boundary(scene: Scene) -> None:
    """the boundary's file, edited in place"""
    scene.write(scene.true_path, declared_note(scene.true))


def moved_observation(scene: Scene) -> None:
    """the agent's own observation, rewritten and moved into baseline/"""
    scene.write(scene.own_path, declared_note(scene.own))
    os.rename(scene.repo / scene.own_path, scene.repo / "baseline" / "own.md")


def linked_boundary(scene: Scene) -> None:
    """a symbolic link in the place of the boundary's file"""
    scene.write("../elsewhere.md", declared_note(scene.true))
    (scene.repo / scene.true_path).unlink()
    (scene.repo / scene.true_path).symlink_to(scene.home.parent / "elsewhere.md")


def linked_folder(scene: Scene) -> None:
    """a symbolic link in the place of baseline/"""
    scene.write("../other/note.md", declared_note())
    shutil.move(scene.repo / "baseline", scene.home.parent / "was")
    (scene.repo / "baseline").symlink_to(scene.home.parent / "other")


def twin_in_case(scene: Scene) -> None:
    """a note whose name differs from the boundary's in capitals alone"""
    scene.write(scene.true_path.upper().replace("BASELINE", "baseline"), declared_note(scene.true))


def twin_in_id(scene: Scene) -> None:
    """another note with the boundary's id"""
    scene.write("baseline/aaa.md", declared_note(scene.true))


def twin_in_key(scene: Scene) -> None:
    """another note with the boundary's key"""
    scene.write("baseline/aaa.md", declared_note(more="key: pushing\n"))


def made_private(scene: Scene) -> None:
    """`private: true` put into the boundary's file"""
    scene.write(scene.true_path, scene.read(scene.true_path).replace("---\n", "---\nprivate: true\n", 1))


def made_outdated(scene: Scene) -> None:
    """`valid_until` in the past put into the boundary's file"""
    scene.write(scene.true_path, scene.read(scene.true_path).replace("---\n", "---\nvalid_until: 2001-01-01\n", 1))


def removed(scene: Scene) -> None:
    """the boundary's file removed"""
    (scene.repo / scene.true_path).unlink()


def made_unreadable(scene: Scene) -> None:
    """the boundary's file turned into bytes that are no note"""
    (scene.repo / scene.true_path).write_bytes(b"---\n\xff\xfe: [\n")


def superseded_by_a_note(scene: Scene) -> None:
    """a note in baseline/ that supersedes the boundary"""
    stem = scene.true_path.rpartition("/")[2].removesuffix(".md")
    scene.write("baseline/note.md", declared_note(more=f'supersedes: ["[[{stem}]]"]\n'))


def rewritten_views(scene: Scene) -> None:
    """INDEX.md and catalog.json rewritten"""
    scene.write("INDEX.md", f"# Memory\n\n## Boundaries\n\n- {MARK}\n")
    scene.write("catalog.json", json.dumps({"records": [{"title": MARK, "state": "baseline"}]}))


def altered_catalog(scene: Scene) -> None:
    """the search catalog altered: the agent's observation is baseline and declared there"""
    scene.gitmem("search", "build")
    scene.write(scene.own_path, declared_note(scene.own))
    with sqlite3.connect(scene.runtime / "catalog.sqlite") as database:
        names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in sorted(names):
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            if {"id", "state", "authority"} <= columns:
                database.execute(
                    f"UPDATE {table} SET state = 'baseline', authority = 'user_declared', title = ? WHERE id = ?",
                    (MARK, scene.own),
                )
    database.close()


def altered_digest(scene: Scene) -> None:
    """what a session was shown before, altered"""
    scene.gitmem("recall", "push to main", "--session", "s1")
    for file in (scene.runtime / "recall").glob("*"):
        file.write_text(json.dumps({"digest": MARK, "ids": [scene.own]}))


def candidate_of_a_person(scene: Scene) -> None:
    """a candidate put into the inbox by hand as a person's, and `gitmem accept`"""
    one = forge_candidate(scene, kind="boundary", actor=PERSON.name, surface="human")
    scene.gitmem("accept", one)
    scene.gitmem("accept", "--all")
    scene.gitmem("curate")


def policy_in_the_work_tree(scene: Scene) -> None:
    """a policy.yaml in the work tree that allows models everything"""
    scene.write("policy.yaml", POLICY)
    scene.gitmem("propose", MARK, "--kind", "boundary", "--evidence", "run:make")
    scene.gitmem("accept", "--all")
    scene.gitmem("curate")


def manifest_in_the_work_tree(scene: Scene) -> None:
    """the manifest's keys taken out in the work tree, and a declared note committed beside it"""
    value = json.loads(scene.read("manifest.json"))
    value.pop("human_keys", None)
    scene.write("manifest.json", json.dumps(value, indent=2) + "\n")
    scene.write("baseline/note.md", declared_note())


def lost_receipts(scene: Scene) -> None:
    """the receipts removed"""
    shutil.rmtree(scene.runtime / "receipts")


def forged_receipt(scene: Scene) -> None:
    """a note committed by plain Git, and a receipt of a person's forged for that commit"""
    one = new_record_id()
    scene.write("baseline/note.md", declared_note(one))
    _forge_receipt(scene, one, "baseline/note.md", scene.commit())


def forged_receipt_for_an_edit(scene: Scene) -> None:
    """the boundary's text replaced by plain Git, and a receipt of a person's forged for that commit"""
    scene.write(scene.true_path, declared_note(scene.true))
    _forge_receipt(scene, scene.true, scene.true_path, scene.commit())


def _forge_receipt(scene: Scene, record_id: str, path: str, commit: str) -> None:
    value = {
        "op": "declare",
        "op_id": "0123456789abcdef",
        "commit": commit,
        "changed": True,
        "time": "2099-01-01T00:00:00Z",
        "surface": "human",
        "actor": "Pat Person",
        "request": "",
        "records": [{"id": record_id, "path": path, "state": "baseline"}],
        "notices": [],
    }
    append_json_line(sorted((scene.runtime / "receipts").glob("*.jsonl"))[-1], value)


def forged_crash(scene: Scene) -> None:
    """a crash journal put beside the repository, as if a person's declaration had been cut short"""
    scene.write("baseline/note.md", declared_note())
    journal = scene.repo / ".git" / "gitmem" / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    (journal / "0123456789abcdef.json").write_text(json.dumps({"op_id": "0123456789abcdef", "edits": []}))
    scene.gitmem("status")


def forged_settings(scene: Scene) -> None:
    """the home's settings name a signing key of the attacker's"""
    scene.write("../home/settings.json", json.dumps({"signing_key": str(scene.home / "mallory")}))
    scene.gitmem("declare", MARK, "--kind", "boundary")


def onboarding_draft(scene: Scene) -> None:
    """a draft of an onboarding left for the person, and `gitmem onboard` without a terminal"""
    drafts = scene.runtime / "drafts"
    drafts.mkdir(mode=0o700, exist_ok=True)
    (drafts / "onboard.json").write_text(json.dumps({"boundaries": [{"title": MARK}]}))
    file = scene.write("../answers.md", f"# boundary\n\n- {MARK}\n")
    scene.gitmem("onboard", "--from", str(file))
    scene.gitmem("onboard")


ATTEMPTS = (
    new_note,
    edited_boundary,
    moved_observation,
    linked_boundary,
    linked_folder,
    twin_in_case,
    twin_in_id,
    twin_in_key,
    made_private,
    made_outdated,
    removed,
    made_unreadable,
    superseded_by_a_note,
    rewritten_views,
    altered_catalog,
    altered_digest,
    candidate_of_a_person,
    policy_in_the_work_tree,
    manifest_in_the_work_tree,
    lost_receipts,
    forged_receipt,
    forged_receipt_for_an_edit,
    forged_crash,
    forged_settings,
    onboarding_draft,
)
