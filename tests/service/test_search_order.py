"""The order of what a search finds by some of its words: the best passage counts beside the words."""

from __future__ import annotations

import pytest

from gitmem.model.answer import Strength
from gitmem.model.authority import Actor
from gitmem.model.record import Draft
from gitmem.service.memory import Memory
from gitmem.service.query import Filters, SearchOptions

from conftest import Desk

FILLER = " ".join(["On another day something else was noted, and nobody came back to it."] * 12)


def test_words_that_stand_together_come_before_words_that_are_scattered(memory: Memory, person: Actor) -> None:
    scattered = f"Redis, Redis. {FILLER} The proxy. {FILLER} A timeout, a timeout. {FILLER}"
    together = f"{FILLER} Behind the proxy, Redis gave up after its timeout. {FILLER} {FILLER}"
    memory.observe_all([Draft("Notes of May", scattered), Draft("Notes of June", together)], person)

    answer = memory.search("redis proxy timeout umbrella", Filters())

    assert [hit.record.title for hit in answer.hits] == ["Notes of June", "Notes of May"]


def test_records_with_every_word_stay_before_all_others(memory: Memory, person: Actor) -> None:
    every = f"Redis. {FILLER} The proxy. {FILLER} A timeout."
    some = "Redis behind the proxy."
    memory.observe_all([Draft("Short", some), Draft("Long", every)], person)

    answer = memory.search("redis proxy timeout", Filters())

    assert [hit.record.title for hit in answer.hits] == ["Long", "Short"]


def test_the_order_is_the_same_whatever_page_is_asked_for(memory: Memory, person: Actor) -> None:
    words = ("redis", "proxy", "timeout")
    drafts = [
        Draft(f"Note {number}", f"{words[number % 3]}. {FILLER if number % 4 else ''} {words[number % 2]} {number}.")
        for number in range(35)
    ]
    memory.observe_all(drafts, person)
    whole = [hit.record.id for hit in memory.search("redis proxy timeout umbrella", Filters(), 100).hits]

    assert len(set(whole)) == 35
    assert [
        hit.record.id
        for hit in memory.search("redis proxy timeout umbrella", Filters(), 1000, options=SearchOptions(offset=7)).hits
    ] == whole[7:]
    for limit in (1, 7, 20, 33):
        pages = [
            hit.record.id
            for offset in range(0, 35, limit)
            for hit in memory.search(
                "redis proxy timeout umbrella", Filters(), limit, options=SearchOptions(offset=offset)
            ).hits
        ]
        assert pages == whole, limit


@pytest.mark.parametrize("typed", ["ＡＰＩ キー", "API キー", "api キー"])
def test_a_title_in_full_width_letters_is_named_whole(desk: Desk, memory: Memory, typed: str) -> None:
    (desk.repo / "promoted" / "a.md").write_text("---\ngitmem_id: m7k2q9x4c0de\ntitle: ＡＰＩ キー\n---\n")
    assert [hit.strength for hit in memory.search(typed, Filters()).hits] == [Strength.EXACT]
