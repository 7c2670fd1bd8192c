"""Attempts by what a person's own operation takes along: text that was altered, planted or swapped before the word."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, StateError
from gitmem.model.candidate import Choice
from gitmem.model.ids import Fingerprint, RecordId, fingerprint, new_record_id
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault

from attack_ground import AGENT, MARK, PERSON, Scene, append_json_line, declared_note, trailers
from by_inbox import _prompt

OP_ID = "0123456789abcdef"


def _alter(scene: Scene) -> None:
    """Put the attacker's words into the boundary's text, by a commit; its title stays."""
    scene.write(scene.true_path, scene.read(scene.true_path).replace("Ask first.", f"{MARK}."))
    scene.commit("x")


def _plant(scene: Scene) -> RecordId:
    one = new_record_id()
    scene.write("baseline/planted.md", declared_note(one))
    scene.commit("x")
    return one


def _declare_another(scene: Scene) -> RecordId:
    with scene.open() as memory:
        return memory.declare(Draft("Deploy on Mondays", kind=Kind.PREFERENCE), PERSON).records[0].id


def superseded_by_altered(scene: Scene) -> None:
    """the boundary's text altered by a commit, then the person retires another one in favour of the boundary"""
    other = _declare_another(scene)
    _alter(scene)
    with scene.open() as memory, pytest.raises(StateError, match="in passing"):
        memory.retire(other, "It is in the other one.", PERSON, superseded_by=scene.true)


def superseded_by_planted(scene: Scene) -> None:
    """a declared note committed, then the person retires another one in favour of it"""
    other, planted = _declare_another(scene), _plant(scene)
    with scene.open() as memory, pytest.raises(StateError, match="in passing"):
        memory.retire(other, "It is in the other one.", PERSON, superseded_by=planted)


def restored_beside_altered(scene: Scene) -> None:
    """the boundary's text altered by a commit, then the person restores what it had superseded"""
    other = _declare_another(scene)
    with scene.open() as memory:
        memory.retire(other, "It is in the other one.", PERSON, superseded_by=scene.true)
    _alter(scene)
    with scene.open() as memory, pytest.raises(StateError, match="in passing"):
        memory.restore(other, PERSON)


def merged_into_altered(scene: Scene) -> None:
    """the boundary's text altered by a commit, then the person merges a proposal into it"""
    with scene.open() as memory:
        one = memory.propose(Draft("Never push on Fridays", "Nobody is here.", Kind.BOUNDARY), AGENT).candidate
    _alter(scene)
    with scene.open() as memory, pytest.raises(StateError, match="in passing"):
        memory.accept([Choice(one.id, into=scene.true)], PERSON)


def unrelated_operations(scene: Scene) -> None:
    """a declared note and an altered boundary committed, then the person declares, retires and restores others"""
    other = _declare_another(scene)
    _plant(scene)
    _alter(scene)
    _declare_another(scene)
    with scene.open() as memory:
        memory.retire(other, "Over.", PERSON)
        memory.restore(other, PERSON)
        memory.promote(scene.own, PERSON)


def twin_that_supersedes(scene: Scene) -> None:
    """a note with the id of one boundary committed that supersedes another one"""
    other = _declare_another(scene)
    stem = Path(scene.true_path).stem
    scene.write("baseline/a-twin.md", declared_note(other, more=f'supersedes:\n  - "[[{stem}]]"\n'))
    scene.commit("x")


def twin_then_unrelated(scene: Scene) -> None:
    """another note with the boundary's id committed, then the person declares something else"""
    scene.write("baseline/a-twin.md", declared_note(scene.true))
    scene.commit("x")
    _declare_another(scene)


def retired_for_the_boundary_by_prompt(scene: Scene) -> None:
    """a prompt that retires the agent's own observation in favour of the altered boundary"""
    _alter(scene)
    _prompt(scene, f"gitmem retire {scene.own} --reason old --superseded-by {scene.true}")


def retired_for_the_boundary_by_model(scene: Scene) -> None:
    """the model retires its own observation in favour of the altered boundary"""
    _alter(scene)
    assert scene.gitmem("retire", scene.own, "--reason", "old", "--superseded-by", scene.true).returncode != 0


def swapped_after_the_look_at_what_is_restored(scene: Scene) -> None:
    """the retired boundary's file swapped by a commit between what the person was shown and the word"""
    with scene.open() as memory:
        shown = memory.show(scene.old, to_person=True).hits[0].record
    scene.write(shown.path, scene.read(shown.path).replace("\n---\n", f"\n---\n{MARK}.\n", 1))
    scene.commit("x")
    person = replace(PERSON, shown=((shown.id, shown.fingerprint),))
    with scene.open() as memory, pytest.raises(StateError, match="has changed since"):
        memory.restore(scene.old, person)


def another_by_the_name_that_was_shown(scene: Scene) -> None:
    """what was shown under a key, and another record that has the key when the word comes"""
    with scene.open() as memory:
        shown = memory.show(scene.old, to_person=True).hits[0].record
    person = replace(PERSON, shown=((shown.id, shown.fingerprint),))
    with scene.open() as memory, pytest.raises(StateError, match="has changed since"):
        memory.retire("pushing", "It was looked at.", person)


def swapped_after_the_look_at_what_is_undone(scene: Scene) -> None:
    """the operation that the person looked at to undo it, made anew with other files before the word"""
    retired = next(scene.repo.glob("retired/*/*.md")).relative_to(scene.repo)
    start = scene.git("rev-parse", "HEAD").strip()

    def forge(title: str) -> None:
        scene.git("reset", "--quiet", "--hard", start)
        one = RecordId("aaaabbbbcccc")
        scene.write("baseline/planted.md", declared_note(one, title=title))
        scene.commit("x")
        (scene.repo / "baseline/planted.md").rename(scene.repo / retired.parent / "planted.md")
        scene.commit(trailers(scene, one, "retire"))

    forge("Deploy on Mondays")
    with scene.open() as memory:
        shown = memory.find_undoing(OP_ID)
    forge(MARK)
    with scene.open() as memory, pytest.raises(StateError, match="has changed since"):
        memory.undo(OP_ID, PERSON, shown=shown)


def _forge_handover(scene: Scene, *, with_receipt: bool) -> None:
    entry, _receipt = make_vault(str(scene.home), NewVault(Scope.GLOBAL), PERSON)
    other = Scene(scene.home, Path(entry.path), Path(entry.runtime))
    other.write("promoted/it.md", scene.read(scene.own_path).replace(scene.own, scene.true))
    commit = other.commit(trailers(other, scene.true, "promote"))
    if with_receipt:
        receipts = sorted((other.runtime / "receipts").glob("*.jsonl"))[-1]
        last = json.loads(receipts.read_text().splitlines()[-1])
        told = {
            "op": "promote",
            "op_id": OP_ID,
            "commit": commit,
            "changed": True,
            "records": [{"id": scene.true, "path": "promoted/it.md", "state": "promoted"}],
            "surface": "human",
            "actor": PERSON.name,
        }
        append_json_line(receipts, last | told)
    pending = scene.home / "pending"
    pending.mkdir(mode=0o700, exist_ok=True)
    data = (scene.repo / scene.true_path).read_bytes()
    value = {
        "format": 1,
        "op_id": OP_ID,
        "source": json.loads(scene.read("manifest.json"))["vault_id"],
        "target": entry.vault_id,
        "actor": {
            "surface": "human",
            "name": PERSON.name,
            "email": PERSON.email,
            "host": "cli",
            "session": "",
            "proof": "code",
        },
        "request": "",
        "time": "2026-01-01T00:00:00Z",
        "records": [{"id": scene.true, "path": scene.true_path, "fingerprint": fingerprint(data)}],
    }
    (pending / f"{OP_ID}.json").write_text(json.dumps(value))
    said = scene.gitmem("status")
    assert "half done" in said.stdout + said.stderr
    assert (scene.repo / scene.true_path).exists()


def boundary_on_its_way_by_trailers(scene: Scene) -> None:
    """an intent that the boundary goes to the global vault, which has a commit with a person's trailers of it"""
    _forge_handover(scene, with_receipt=False)


def boundary_on_its_way_by_receipt(scene: Scene) -> None:
    """the same with a receipt of a person's forged in the global vault"""
    _forge_handover(scene, with_receipt=True)


def key_file_swapped_after_the_look(scene: Scene) -> None:
    """the file of the key that the person was shown, with the attacker's key in it when the word comes"""
    folder = scene.home.parent
    keys = [f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{letter * 42}A=" for letter in "BC"]
    keys = [one.replace("=", "") for one in keys]
    file = folder / "new.pub"
    file.write_text(f"{keys[0]} new\n")
    with scene.open() as memory:
        try:
            shown = memory.find_adding(str(file), None).key
        except GitmemError as error:
            raise AssertionError(error.message) from None
    file.write_text(f"{keys[1]} new\n")
    with scene.open() as memory, pytest.raises(StateError, match="another key"):
        memory.add_key(str(file), None, PERSON, shown=shown)


def linked_inbox(scene: Scene) -> None:
    """a symbolic link in the place of the inbox, to a folder with a proposed boundary, accepted by a prompt"""
    one = new_record_id()
    elsewhere = scene.home.parent / "elsewhere"
    elsewhere.mkdir()
    value = {
        "id": one,
        "created": "2026-01-01T00:00:00Z",
        "wants": "record",
        "title": MARK,
        "body": MARK,
        "kind": "boundary",
        "actor": PERSON.name,
        "surface": "human",
    }
    (elsewhere / f"{one}.json").write_text(json.dumps(value))
    os.symlink(elsewhere, scene.runtime / "inbox")
    _prompt(scene, f"gitmem accept {one}")
    scene.gitmem("accept", "--all")


def fingerprint_claimed(scene: Scene) -> None:
    """a record whose shown fingerprint is claimed to be that of other bytes"""
    person = replace(PERSON, shown=((RecordId(scene.old), Fingerprint("0" * 40)),))
    with scene.open() as memory, pytest.raises(StateError, match="has changed since"):
        memory.restore(scene.old, person)


ATTEMPTS = (
    superseded_by_altered,
    superseded_by_planted,
    restored_beside_altered,
    merged_into_altered,
    unrelated_operations,
    twin_that_supersedes,
    twin_then_unrelated,
    retired_for_the_boundary_by_prompt,
    retired_for_the_boundary_by_model,
    swapped_after_the_look_at_what_is_restored,
    another_by_the_name_that_was_shown,
    swapped_after_the_look_at_what_is_undone,
    boundary_on_its_way_by_trailers,
    boundary_on_its_way_by_receipt,
    key_file_swapped_after_the_look,
    linked_inbox,
    fingerprint_claimed,
)
