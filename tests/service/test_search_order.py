"""The order of what a search finds by some of its words: the best passage counts beside the words."""

from __future__ import annotations

from gitmem.model.authority import Actor
from gitmem.model.record import Draft
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

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
