"""Attempts by what waits: forged candidates, drafts and intents, which a person's later word is to carry out."""

from __future__ import annotations

import contextlib
import json

import pytest

from gitmem.errors import GitmemError
from gitmem.model.candidate import Choice
from gitmem.model.ids import RecordId, new_record_id

from attack_ground import PERSON, POLICY, Scene, declared_note, forge_candidate
from by_inbox import _prompt


def _open_policy(scene: Scene) -> None:
    with scene.open() as memory:
        try:
            memory.set_policy(POLICY.encode(), PERSON)
        except GitmemError as error:
            raise AssertionError(error.message) from None


def retirement_by_prompt(scene: Scene) -> None:
    """a candidate that retires the boundary, under another title, accepted by a prompt"""
    one = forge_candidate(scene, wants="retire", targets=[scene.true], title="Retire an old note", reason="old")
    _prompt(scene, f"gitmem accept {one}")


def retirement_by_policy(scene: Scene) -> None:
    """the same where a policy of the person's accepts what has evidence"""
    _open_policy(scene)
    forge_candidate(scene, wants="retire", targets=[scene.true], title="Retire an old note", reason="old")
    scene.gitmem("accept", "--all")
    scene.gitmem("curate")


def merge_by_prompt(scene: Scene) -> None:
    """a candidate that merges the attacker's words into the boundary, accepted by a prompt"""
    one = forge_candidate(scene, wants="merge", targets=[scene.true], kind="fact")
    _prompt(scene, f"gitmem accept {one}")
    other = forge_candidate(
        scene, wants="merge", targets=[scene.true, scene.own], body="", title="Two notes say the same"
    )
    _prompt(scene, f"gitmem accept {other}")


def merge_by_policy(scene: Scene) -> None:
    """such a merge where a policy of the person's accepts what has evidence"""
    _open_policy(scene)
    forge_candidate(scene, wants="merge", targets=[scene.true], kind="fact")
    forge_candidate(scene, wants="merge", targets=[scene.true, scene.own], body="", title="Two notes say the same")
    scene.gitmem("accept", "--all")
    scene.gitmem("curate")


def merge_into_the_boundary(scene: Scene) -> None:
    """a proposal that a model accepts into the boundary, by name"""
    _open_policy(scene)
    one = forge_candidate(scene, kind="fact")
    assert scene.gitmem("accept", one, "--into", scene.true).returncode != 0
    _prompt(scene, f"gitmem accept {one} --into {scene.true}")


def fact_that_becomes_a_boundary(scene: Scene) -> None:
    """a proposed fact accepted by a prompt as a boundary, and edited and promoted into one"""
    one = forge_candidate(scene, kind="fact")
    for words in (
        f"gitmem accept {one} --kind boundary --to baseline",
        f"gitmem accept {one}",
        f"gitmem edit {one} --set kind=boundary",
        f"gitmem promote {one}",
    ):
        _prompt(scene, words)


def id_of_the_boundary(scene: Scene) -> None:
    """a candidate with the boundary's own id, accepted by the person among others"""
    forge_candidate(scene, id=scene.true, kind="fact")
    with scene.open() as memory, contextlib.suppress(GitmemError):
        memory.accept([Choice(RecordId(scene.true))], PERSON)


def changed_between_look_and_word(scene: Scene) -> None:
    """a candidate that the person was shown as a fact, and that is a boundary when it is accepted"""
    one = forge_candidate(scene, kind="fact", title="The build takes ten minutes", body="It does.")
    with scene.open() as memory:
        shown = memory.get_candidate(one)
    forge_candidate(scene, id=one, kind="boundary")
    with scene.open() as memory, pytest.raises(GitmemError, match="has changed since it was shown"):
        memory.accept([Choice(RecordId(one), shown=shown)], PERSON)


def retired_boundary_by_prompt(scene: Scene) -> None:
    """the retired boundary's file rewritten and committed, then restored by a prompt"""
    path = next(scene.repo.glob("retired/*/*.md")).relative_to(scene.repo)
    scene.write(str(path), declared_note(scene.old))
    scene.commit("x")
    _prompt(scene, f"gitmem restore {scene.old}")


def intent_of_two_vaults(scene: Scene) -> None:
    """an intent in the home that promotes the agent's observation to the global vault, as if a crash had left it"""
    pending = scene.home / "pending"
    pending.mkdir(mode=0o700, exist_ok=True)
    scene.write(scene.own_path, declared_note(scene.own))
    scene.commit("x")
    value = {
        "op_id": "0123456789abcdef",
        "source": json.loads(scene.read("manifest.json"))["vault_id"],
        "target": new_record_id(),
        "actor": {"surface": "human", "name": PERSON.name, "email": PERSON.email, "host": "cli", "session": ""},
        "request": "",
        "time": "2026-01-01T00:00:00Z",
        "records": [{"id": scene.own, "path": scene.own_path, "fingerprint": "0" * 40}],
    }
    (pending / "0123456789abcdef.json").write_text(json.dumps(value))
    scene.gitmem("status")
    scene.gitmem("observe", "A fact", "--evidence", "run:make")


ATTEMPTS = (
    retirement_by_prompt,
    retirement_by_policy,
    merge_by_prompt,
    merge_by_policy,
    merge_into_the_boundary,
    fact_that_becomes_a_boundary,
    id_of_the_boundary,
    changed_between_look_and_word,
    retired_boundary_by_prompt,
    intent_of_two_vaults,
)
