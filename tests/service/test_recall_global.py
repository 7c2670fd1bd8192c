"""A recall in a workspace asks the global vault, too: one gate, one text, and a broken one never harms the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.render.recall import render_unchanged
from gitmem.service.memory import Memory

from conftest import Desk

COVERS = Draft("Covers are cached for a week", "Redis keeps the covers for seven days.", Kind.FACT, evidence=("run:1",))
LOANS = Draft("Loans are cached for an hour", "Redis keeps a loan for sixty minutes.", Kind.FACT, evidence=("run:1",))
PROMPT = "for how long are covers cached in redis?"
BOTH = "for how long does redis keep covers and loans?"
UNREADABLE = (
    "gitmem: memory is degraded (global-unreadable): the global vault can't be read, and what it remembers is missing"
    " here."
)


def add(memory: Memory, agent: Actor, *drafts: Draft) -> list[str]:
    return [ref.id for ref in memory.observe_all(drafts, agent).records]


def told(answer: Answer) -> list[tuple[str, str]]:
    return [(hit.vault.scope if hit.vault else "", hit.record.title) for hit in answer.hits]


def rules(answer: Answer) -> list[tuple[str, str, str]]:
    return [(one["scope"], one["title"], one["rule"]) for one in answer.extra["recall"]["candidates"]]


@pytest.fixture(autouse=True)
def others(memory: Memory, agent: Actor) -> None:
    texts = ["Barcodes have fourteen digits", "Kiosks restart at four", "Fees end at eight euros"]
    add(memory, agent, *(Draft(text, f"{text}, all of them.", Kind.FACT, evidence=("run:1",)) for text in texts))


def test_what_only_the_global_vault_knows_is_told_and_labelled(
    memory: Memory, shared: Memory, desk: Desk, person: Actor, agent: Actor
) -> None:
    (record,) = add(shared, agent, COVERS)
    shared.promote(record, person)

    answer = memory.recall(PROMPT, explain=True)

    assert (answer.status, told(answer)) == (Status.OK, [("global", COVERS.title)])
    assert f"- {record} (global promoted fact, workspace_evidence, " in answer.extra["text"]
    assert ("global", COVERS.title, "passage") in rules(answer)
    assert answer.revision == desk.git("rev-parse", "HEAD").strip()
    assert shared.recall("how many digits does a barcode have?").status is Status.NO_MATCH


def test_both_vaults_pass_one_gate_and_the_verified_stand_first(
    memory: Memory, shared: Memory, person: Actor, agent: Actor
) -> None:
    add(memory, agent, COVERS)
    shared.promote(add(shared, agent, LOANS)[0], person)

    assert told(memory.recall(BOTH)) == [("global", LOANS.title), ("workspace", COVERS.title)]
    assert told(memory.recall(BOTH, limit=1)) == [("workspace", COVERS.title)]
    assert memory.recall("bake a cake with walnuts").status is Status.NO_MATCH


def test_the_best_of_both_is_the_measure_for_both(memory: Memory, shared: Memory, agent: Actor) -> None:
    add(memory, agent, Draft("Redis has a password", "It lies in the safe.", Kind.FACT, evidence=("run:1",)))
    add(shared, agent, COVERS)

    found = rules(memory.recall(PROMPT, explain=True))

    assert found == [("global", COVERS.title, "passage"), ("workspace", "Redis has a password", "weak")]


@pytest.mark.parametrize("verified", ["neither", "workspace", "global", "both"])
def test_of_two_that_say_the_same_one_is_told(
    memory: Memory, shared: Memory, person: Actor, agent: Actor, verified: str
) -> None:
    for scope, vault in (("workspace", memory), ("global", shared)):
        (record,) = add(vault, agent, COVERS)
        if verified in (scope, "both"):
            vault.promote(record, person)

    answer = memory.recall(PROMPT, explain=True)

    stays, goes = ("global", "workspace") if verified == "global" else ("workspace", "global")
    assert told(answer) == [(stays, COVERS.title)]
    assert (goes, COVERS.title, "duplicate") in rules(answer)


def test_a_session_is_told_once_of_both(memory: Memory, shared: Memory, agent: Actor) -> None:
    ids = [*add(memory, agent, COVERS), *add(shared, agent, LOANS)]

    texts = [memory.recall(prompt, session="s").extra["text"] for prompt in (BOTH, BOTH, "bake a cake", "bake a cake")]

    assert texts[1] == render_unchanged(ids)
    assert all(record in texts[2] for record in ids)
    assert texts[3] == ""
    assert shared.recall(BOTH, session="s").extra["text"] != texts[1]


def test_a_global_vault_that_was_never_made_is_silence(memory: Memory, agent: Actor) -> None:
    add(memory, agent, COVERS)

    assert memory.recall(PROMPT).status is Status.OK
    assert memory.recall(PROMPT).diagnostics == ()


def test_a_global_vault_that_is_gone_is_said_in_one_line(
    memory: Memory, shared: Memory, desk: Desk, agent: Actor
) -> None:
    add(memory, agent, COVERS)
    shared.close()
    shutil.rmtree(Path(desk.home, "global", "repo"))

    answer, silent = memory.recall(PROMPT), memory.recall("bake a cake with walnuts")

    assert (answer.status, told(answer)) == (Status.DEGRADED, [("workspace", COVERS.title)])
    assert answer.extra["text"].splitlines()[0] == UNREADABLE
    assert [problem.code for problem in answer.diagnostics] == ["global-unreadable"]
    assert (silent.status, silent.hits, silent.extra) == (Status.DEGRADED, (), {"text": UNREADABLE})


def test_a_person_s_declarations_are_proved_by_their_own_vault(
    memory: Memory, shared: Memory, desk: Desk, person: Actor
) -> None:
    path = (
        shared.declare(Draft("Covers", "Covers stay cached in Redis for long.", Kind.BOUNDARY), person).records[0].path
    )
    copy = desk.repo / path
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(Path(desk.home, "global", "repo", path).read_bytes())
    desk.git("add", ".")
    desk.git("commit", "-q", "-m", "by hand")

    text = memory.recall(PROMPT).extra["text"]

    assert "user_declared by its own account" in text
    assert "(workspace baseline boundary" in text


def test_private_records_of_the_global_vault_are_never_told(
    memory: Memory, shared: Memory, desk: Desk, agent: Actor
) -> None:
    (record,) = add(shared, agent, COVERS)
    file = next(Path(desk.home, "global", "repo").rglob(f"*{record[:6]}.md"))
    file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))

    answer = memory.recall(PROMPT, explain=True)

    assert answer.status is Status.NO_MATCH
    assert COVERS.title not in str(answer)


def test_what_a_recall_names_by_id_can_be_shown(memory: Memory, shared: Memory, agent: Actor) -> None:
    (record,) = add(shared, agent, COVERS)

    shown = memory.show(record, all_vaults=True)

    assert (told(shown), shown.extra["body"].strip()) == ([("global", COVERS.title)], COVERS.body)
    for ref, options in ((record, {}), ("m7k2q9x4c0de", {"all_vaults": True})):
        with pytest.raises(InputError, match="no record"):
            memory.show(ref, **options)
