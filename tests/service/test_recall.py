"""What a recall volunteers, what it holds back, and what it says then."""

from __future__ import annotations

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory

from conftest import Desk

CACHE = Draft("Covers are cached for a week", "Redis keeps the covers for seven days.", Kind.FACT, key="cover-ttl")
PROMPT = "for how long are covers cached in redis?"


def titles(answer: Answer) -> list[str]:
    return [hit.record.title for hit in answer.hits]


def rules(memory: Memory, prompt: str, **options: int) -> dict[str, str]:
    found = memory.recall(prompt, explain=True, **options).extra["recall"]
    return {one["title"]: one["rule"] for one in found["candidates"]}


def observe(memory: Memory, agent: Actor, *drafts: Draft) -> list[str]:
    return [ref.id for ref in memory.observe_all(drafts, agent).records]


def fact(title: str, body: str, kind: Kind = Kind.FACT) -> Draft:
    return Draft(title, body, kind, evidence=("run:1",))


@pytest.fixture(autouse=True)
def others(memory: Memory, agent: Actor) -> None:
    """Put some records beside those of a test, so that not every word of it is one that all records hold."""
    texts = ["Barcodes have fourteen digits", "Kiosks restart at four", "Fees end at eight euros", "Loans end at noon"]
    observe(memory, agent, *(fact(text, f"{text}, said the head of the branch.") for text in texts))


def test_a_prompt_gets_what_fits_it_and_nothing_else(memory: Memory, person: Actor) -> None:
    record = memory.observe(CACHE, person).records[0]
    memory.promote(record.id, person)

    answer = memory.recall(PROMPT)

    assert (answer.status, titles(answer)) == (Status.OK, [CACHE.title])
    assert answer.hits[0].matched == ("covers", "cached", "redis")
    assert "Redis keeps the covers for seven days." in answer.extra["text"]
    assert "Verified knowledge" in answer.extra["text"]


@pytest.mark.parametrize(
    "prompt", ["bake a cake with chocolate", "", "\ud800", "please fix it", "什么", "covers", "?" * 30_000]
)
def test_a_prompt_about_something_else_gets_nothing(memory: Memory, prompt: str) -> None:
    answer = memory.recall(prompt)

    assert (answer.status, answer.hits, answer.extra) == (Status.NO_MATCH, (), {"text": ""})


def test_an_empty_vault_has_nothing_to_say(desk: Desk) -> None:
    with desk.open() as memory:
        assert memory.recall("the cake").status is Status.NO_MATCH


def test_a_key_with_parts_decides_wherever_it_stands(memory: Memory, person: Actor) -> None:
    memory.observe(CACHE, person)
    prompt = "Compare the nightly batch jobs of the depot with cover-ttl before the quarterly capacity planning starts."

    assert rules(memory, prompt)[CACHE.title] == "exact-key"


def test_a_plain_key_decides_in_a_short_prompt_only(memory: Memory, agent: Actor) -> None:
    observe(memory, agent, Draft("Where parcels wait", "Shelf nine.", Kind.FACT, key="depot", evidence=("run:1",)))
    prompt = "Compare the nightly batch jobs of the depot with last year before the quarterly capacity planning starts."

    assert rules(memory, "what is our depot?")["Where parcels wait"] == "exact-key"
    assert rules(memory, prompt)["Where parcels wait"] == "below-threshold"


def test_a_title_within_the_prompt_decides(memory: Memory, agent: Actor) -> None:
    observe(memory, agent, fact("Consumer lag playbook", "Pause the importer, let it drain."))
    prompt = (
        "Yesterday the colleagues from Lisbon asked whether the Consumer Lag Playbook covers migrations of tenants."
    )

    assert rules(memory, prompt)["Consumer lag playbook"] == "title-within"


def test_what_is_superseded_or_out_of_date_is_held_back(
    memory: Memory, desk: Desk, person: Actor, agent: Actor
) -> None:
    names = ["Covers cached an hour", "Covers cached a month", "Covers cached a year", "Covers cached a decade"]
    ids = observe(memory, agent, *(fact(name, f"Redis, said survey {number}.") for number, name in enumerate(names)))
    settings = [
        ("superseded_by", "[[Covers cached a decade]]"),
        ("valid_until", "2020-01-01"),
        ("valid_from", "2999-01-01"),
    ]
    for record, (name, value) in zip(ids, settings, strict=False):
        file = next(desk.repo.rglob(f"*{record[:6]}.md"))
        text = file.read_text()
        shown = f'{name}:\n  - "{value}"' if name == "superseded_by" else f"{name}: {value}"
        file.write_text(text.replace("---\n", f"---\n{shown}\n", 1))

    found = rules(memory, PROMPT)

    assert [found[name] for name in names] == ["superseded", "stale", "not-yet", "passage"]


def test_retired_records_are_never_told(memory: Memory, person: Actor) -> None:
    record = memory.observe(CACHE, person).records[0]
    memory.retire(record.id, "wrong", person)

    assert memory.recall("cover-ttl").status is Status.NO_MATCH


def test_private_records_are_never_told(memory: Memory, desk: Desk, agent: Actor) -> None:
    (record,) = observe(memory, agent, fact(CACHE.title, CACHE.body))
    file = next(desk.repo.rglob(f"*{record[:6]}.md"))
    file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))

    answer = memory.recall(PROMPT, explain=True)

    assert answer.status is Status.NO_MATCH
    assert CACHE.title not in str(answer)


def test_verified_records_stand_before_others_however_well_these_fit(
    memory: Memory, person: Actor, agent: Actor
) -> None:
    better, reviewed = observe(
        memory,
        agent,
        fact("For how long covers are cached in Redis", "Covers are cached in Redis for long."),
        fact("Covers are cached", "The shelf life in Redis is a week, as the national library asks."),
    )
    memory.promote(reviewed, person)

    assert [hit.record.id for hit in memory.recall(PROMPT).hits] == [reviewed, better]


def test_a_promoted_record_with_an_uncommitted_edit_counts_as_unverified(
    memory: Memory, desk: Desk, person: Actor
) -> None:
    record = memory.observe(CACHE, person).records[0]
    place = memory.promote(record.id, person).records[0].path
    file = desk.repo / str(place)
    file.write_text(file.read_text() + "\nOr forever.\n")

    answer = memory.recall(PROMPT)

    assert answer.hits[0].uncommitted
    assert "Verified knowledge" not in answer.extra["text"]


def test_records_that_say_the_same_are_told_once(memory: Memory, agent: Actor) -> None:
    observe(memory, agent, *(fact(CACHE.title + end, CACHE.body) for end in ("", "!", " (new)")))

    found = rules(memory, PROMPT)

    assert sorted(rule for title, rule in found.items() if title.startswith(CACHE.title)) == [
        "duplicate",
        "duplicate",
        "passage",
    ]


def test_one_open_task_is_enough(memory: Memory, agent: Actor) -> None:
    observe(
        memory,
        agent,
        fact("Cache covers in Redis", "First try, with the old client.", Kind.TASK),
        fact("Cached covers in Redis, again", "Second try failed on the proxy of the city.", Kind.TASK),
    )

    assert sorted(rules(memory, "covers cached in redis").values()).count("second-task") == 1


def test_a_linked_record_comes_along_when_it_earns_it(memory: Memory, desk: Desk, person: Actor, agent: Actor) -> None:
    observe(memory, agent, *(fact(f"Redis note {number}", "Redis, redis, redis.") for number in range(12)))
    ids = observe(
        memory, agent, fact("Limits of the library", "Covers: 1,000 a day, for as long as the contract runs.")
    )
    stem = next(desk.repo.rglob(f"*{ids[0][:6]}.md")).stem
    observe(memory, agent, fact("How long covers are cached in Redis", f"A week. See [[{stem}]]."))

    found = rules(memory, "how long are covers cached in redis")

    assert found["How long covers are cached in Redis"] == "passage"
    assert found["Limits of the library"] == "linked"


def test_a_record_that_is_due_for_review_says_so(memory: Memory, desk: Desk, agent: Actor) -> None:
    (record,) = observe(memory, agent, fact(CACHE.title, CACHE.body))
    file = next(desk.repo.rglob(f"*{record[:6]}.md"))
    file.write_text(file.read_text().replace("---\n", "---\nreview_after: 2020-05-01\n", 1))

    assert "to be reviewed since 2020-05-01" in memory.recall(PROMPT).extra["text"]


def test_a_word_that_many_records_hold_is_not_enough(memory: Memory, agent: Actor) -> None:
    observe(memory, agent, *(fact(f"Lantern note {number}", f"Lantern, part {number}.") for number in range(9)))

    assert memory.recall("fix Lantern").status is Status.NO_MATCH


def test_a_limit_is_kept(memory: Memory, agent: Actor) -> None:
    words = ["amber", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel"]
    observe(memory, agent, *(fact(f"Covers cached in Redis for {word}", f"Only the {word} {word}.") for word in words))

    assert len(memory.recall("covers cached in redis", limit=3).hits) == 3
    with pytest.raises(InputError, match="1 to 8"):
        memory.recall("covers", limit=9)


def test_a_session_is_told_once(memory: Memory, person: Actor) -> None:
    memory.observe(CACHE, person)

    first, second = (memory.recall(PROMPT, session="s1").extra["text"] for _ in range(2))
    other = memory.recall(PROMPT, session="s2").extra["text"]
    superseded = memory.recall("bake a cake", session="s1").extra["text"]
    silent = memory.recall("bake a cake", session="s1").extra["text"]

    assert first == other
    assert "the same as shown last" in second
    assert len(second.splitlines()) == 1
    assert "superseded" in superseded
    assert silent == ""


def test_an_unreadable_memory_is_no_empty_one(memory: Memory, desk: Desk) -> None:
    (desk.repo / ".git").rename(desk.repo / ".gone")
    memory.close()

    with desk.open() as again:
        answer = again.recall(PROMPT)

    assert answer.status is Status.UNAVAILABLE
    assert answer.extra["text"].startswith("gitmem: memory is unavailable")
