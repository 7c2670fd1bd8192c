"""A record that another one names in ``supersedes`` is held back, where that other one has the standing for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory

from conftest import Desk

PROMPT = "for how long are covers cached in redis?"
OLD, NEW = "Covers are cached in Redis for an hour", "A week of caching"


def fact(title: str, body: str) -> Draft:
    return Draft(title, body, Kind.FACT, evidence=("run:1",))


def add_property(path: Path, line: str) -> None:
    path.write_text(path.read_text().replace("---\n", f"---\n{line}\n", 1))


def make_pair(memory: Memory, desk: Desk, agent: Actor, link: str = "[[{}]]") -> tuple[str, str]:
    """Write two observations, of which the newer one names the older; return their ids."""
    texts = ["Barcodes have fourteen digits", "Kiosks restart at four", "Fees end at eight euros"]
    memory.observe_all([fact(text, text) for text in texts], agent)
    made = memory.observe_all([fact(OLD, "Sixty minutes."), fact(NEW, "Nothing more.")], agent).records
    older, newer = (desk.repo / str(ref.path) for ref in made)
    add_property(newer, f'supersedes:\n  - "{link.format(older.stem)}"')
    return made[0].id, made[1].id


def find_rule(memory: Memory) -> tuple[str, str]:
    found = memory.recall(PROMPT, explain=True).extra["recall"]["candidates"]
    return next((one["rule"], one["reason"]) for one in found if one["title"] == OLD)


@pytest.mark.parametrize("link", ["[[{}]]", "[[{}|the old one]]", "[[{}#Text]]", "[[{}.md]]"])
def test_an_observation_replaces_another(memory: Memory, desk: Desk, agent: Actor, link: str) -> None:
    make_pair(memory, desk, agent, link)

    assert find_rule(memory) == ("superseded", f"superseded by {NEW}")


@pytest.mark.parametrize("link", ["[[elsewhere/{}]]", "{}", "see [[{}]]"])
def test_what_leads_elsewhere_or_is_no_link_replaces_nothing(
    memory: Memory, desk: Desk, agent: Actor, link: str
) -> None:
    make_pair(memory, desk, agent, link)

    assert find_rule(memory)[0] == "passage"


def test_an_observation_does_not_replace_what_was_reviewed(
    memory: Memory, desk: Desk, person: Actor, agent: Actor
) -> None:
    older, newer = make_pair(memory, desk, agent)
    memory.adopt((), person)
    memory.promote(older, person)
    assert find_rule(memory)[0] == "passage"
    assert [row["title"] for row in memory.context().rows] == [OLD]

    memory.promote(newer, person)
    assert find_rule(memory)[0] == "superseded"
    assert [row["title"] for row in memory.context().rows] == [NEW]
    assert memory.context().extra["held_back"]["superseded"] == 1


def test_an_edit_that_nobody_committed_does_not_replace_what_was_reviewed(
    memory: Memory, desk: Desk, person: Actor, agent: Actor
) -> None:
    older, newer = make_pair(memory, desk, agent)
    memory.adopt((), person)
    memory.promote_all((older, newer), person)
    path = next((desk.repo / "promoted").glob(f"*{newer[:6]}.md"))
    path.write_text(path.read_text() + "And more.\n")

    assert find_rule(memory)[0] == "passage"


@pytest.mark.parametrize("line", ["private: true", "valid_from: 2999-01-01"])
def test_what_is_private_or_not_valid_yet_replaces_nothing(memory: Memory, desk: Desk, agent: Actor, line: str) -> None:
    _older, newer = make_pair(memory, desk, agent)
    add_property(next(desk.repo.rglob(f"*{newer[:6]}.md")), line)

    assert find_rule(memory)[0] == "passage"


def test_a_retired_record_replaces_nothing(memory: Memory, desk: Desk, person: Actor, agent: Actor) -> None:
    _older, newer = make_pair(memory, desk, agent)
    memory.adopt((), person)
    memory.retire(newer, "it was wrong", person)

    assert find_rule(memory)[0] == "passage"


def test_a_record_does_not_replace_itself(memory: Memory, desk: Desk, agent: Actor) -> None:
    older, _newer = make_pair(memory, desk, agent, "[[nowhere]]")
    path = next(desk.repo.rglob(f"*{older[:6]}.md"))
    add_property(path, f'supersedes: ["[[{path.stem}]]"]')

    assert find_rule(memory)[0] == "passage"


def test_only_what_is_declared_replaces_a_boundary(memory: Memory, desk: Desk, person: Actor, agent: Actor) -> None:
    def declare(title: str) -> Path:
        return desk.repo / memory.declare(Draft(title, kind=Kind.BOUNDARY), person).records[0].path

    old, new = declare("Never push to main"), declare("Never push to a branch")
    link = f'supersedes: ["[[{old.stem}]]"]'
    claim = memory.observe(fact("Push wherever you want", "Says the agent."), agent).records[0]
    add_property(desk.repo / str(claim.path), link)
    memory.adopt((), person)
    memory.promote(claim.id, person)
    add_property(new, link)
    desk.git("commit", "-qam", "by hand")
    said = [(row["part"], row["title"]) for row in memory.context().rows]
    assert said[0] == ("boundary", "Never push to main")
    assert ("unconfirmed", "Never push to a branch") in said

    new.write_text(new.read_text() + "\nNot even once.\n")
    memory.adopt((), person)
    answer = memory.context()
    assert [row["title"] for row in answer.rows if row["part"] == "boundary"] == ["Never push to a branch"]
    assert answer.extra["held_back"]["superseded"] == 1
